"""Streamable HTTP as a client speaks it: headers, credentials, sessions, streams, losses."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
import trustme
from aiohttp import web
from patience import PATIENCE, turn_until

from anyshape import Client
from anyshape.client import Bounds, Http
from anyshape.client.transports.direct_requests import DirectResponse
from anyshape.client.transports.gathering import GatheringRoom
from anyshape.client.transports.routes import Route
from anyshape.errors import ProtocolError, TransportError

if TYPE_CHECKING:
    from .conftest import ServeHttp

Json = dict[str, Any]
Calls = Callable[[web.BaseRequest, Json], Awaitable[web.StreamResponse | Json]]

TOOLS: list[Json] = [
    {"name": "plain", "inputSchema": {"type": "object"}},
    {"name": "safe", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "again", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": True}},
]
TELLING: Json = {"tools": {"listChanged": True}}


class Endpoint:
    """An endpoint that notes what it is sent and answers calls as a test says."""

    def __init__(self, call: Calls | None = None, *, modern: bool = True) -> None:
        self.call = call
        self.modern = modern
        self.requests: list[tuple[str, Json, web.BaseRequest]] = []
        self.tools = TOOLS
        self.capabilities: Json = {"tools": {}}
        self.session: str | None = None

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        text = await request.text()
        message: Json = json.loads(text) if text else {}
        self.requests.append((request.method, message, request))
        if request.method != "POST":
            return web.Response(status=200 if request.method == "DELETE" else 405)
        if "id" not in message:
            return web.Response(status=202)
        method = message["method"]
        if method in ("ping", "server/discover") and not self.modern:
            return web.Response(status=400)
        if method == "ping":
            error = {"code": -32601, "message": "Method not found"}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            return web.json_response(answer, status=404)
        if method == "tools/call" and self.call is not None:
            answered = await self.call(request, message)
            if isinstance(answered, web.StreamResponse):
                return answered
            return self.reply(message, answered)
        return self.reply(message, self.result(method))

    def result(self, method: str) -> Json:
        if method == "server/discover":
            return {"supportedVersions": ["2026-07-28"], "capabilities": self.capabilities}
        if method == "initialize":
            return {"protocolVersion": "2025-11-25", "capabilities": self.capabilities}
        if method == "tools/list":
            return {"tools": self.tools}
        return {"content": [], "structuredContent": 42}

    def reply(self, message: Json, result: Json, **headers: str) -> web.Response:
        if message["method"] == "initialize" and self.session is not None:
            headers["Mcp-Session-Id"] = self.session
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return web.json_response(answer, headers=headers)

    def seen(self, method: str) -> list[web.BaseRequest]:
        return [request for _, message, request in self.requests if message.get("method") == method]


async def stream(request: web.BaseRequest, *events: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for event in events:
        await response.write(event)
    return response


def event(message: Json, id: str | None = None) -> bytes:
    head = f"id: {id}\n" if id is not None else ""
    return f"{head}event: message\ndata: {json.dumps(message)}\n\n".encode()


def answer_to(message: Json, value: Any = 42) -> Json:
    result = {"structuredContent": value}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


async def test_modern_requests_repeat_themselves_in_headers(serve_http: ServeHttp) -> None:
    endpoint = Endpoint()
    endpoint.tools = [{"name": "naïve tool", "inputSchema": {"type": "object"}}]
    http = Http(headers={"X-Mine": "1"})
    async with serve_http(endpoint) as url, Client(url, http=http) as client:
        await client.call_tool("naïve tool")
    (listed,), (called,) = endpoint.seen("tools/list"), endpoint.seen("tools/call")
    for request, method in ((listed, "tools/list"), (called, "tools/call")):
        assert request.headers["MCP-Protocol-Version"] == "2026-07-28"
        assert request.headers["Mcp-Method"] == method
        assert request.headers["Content-Type"] == "application/json"
        assert request.headers["Accept"] == "application/json, text/event-stream"
        assert request.headers["X-Mine"] == "1"
    assert "Mcp-Name" not in listed.headers
    assert called.headers["Mcp-Name"] == "=?base64?bmHDr3ZlIHRvb2w=?="


REPEATING: Json = {
    "name": "plain",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "string", "x-mcp-header": "A"}},
    },
}
"""A tool one of whose arguments is repeated in a header."""


@pytest.mark.parametrize(
    ("revision", "headers"),
    [
        ("2026-07-28", {"Mcp-Method", "Mcp-Name", "Mcp-Param-A"}),
        ("2025-11-25", set[str]()),
    ],
)
async def test_arguments_are_repeated_in_headers_where_the_revision_asks_for_it(
    serve_http: ServeHttp, revision: str, headers: set[str]
) -> None:
    endpoint = Endpoint()
    endpoint.tools = [REPEATING]
    async with serve_http(endpoint) as url, Client(url, revision=revision) as client:
        await client.call_tool("plain", {"a": "value"})
    (called,) = endpoint.seen("tools/call")
    mirrored = {name for name in called.headers if name.startswith("Mcp-")}
    assert mirrored == headers


@pytest.mark.parametrize("arguments", [{"a": 5}, {"a": True}, {"a": "value"}])
async def test_unchecked_arguments_are_repeated_in_headers_all_the_same(
    serve_http: ServeHttp, arguments: Json
) -> None:
    endpoint = Endpoint()
    endpoint.tools = [REPEATING]
    async with serve_http(endpoint) as url, Client(url, check_arguments=False) as client:
        await client.call_tool("plain", arguments)
    (called,) = endpoint.seen("tools/call")
    value = arguments["a"]
    assert called.headers["Mcp-Param-A"] == (value if value == "value" else json.dumps(value))


async def test_an_unchecked_argument_of_a_wrong_type_is_judged_by_our_server(url: str) -> None:
    async with Client(url, check_arguments=False) as client:
        result = await client.call_tool("where", {"region": 5})
    assert result.is_error
    assert "expected a string" in result.text


async def test_a_header_mismatch_lists_again_and_tries_once_more(serve_http: ServeHttp) -> None:
    annotated = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        if request.headers.get("Mcp-Param-A") == "value":
            return {"structuredContent": "accepted"}
        endpoint.tools = [{"name": "plain", "inputSchema": annotated}]
        error = {"code": -32020, "message": "Header mismatch"}
        body = {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return web.json_response(body, status=400)

    endpoint = Endpoint(call)
    async with serve_http(endpoint) as url, Client(url) as client:
        assert await client.call("plain", {"a": "value"}) == "accepted"
        assert len(endpoint.seen("tools/list")) == 2
        with pytest.raises(ProtocolError, match="Header mismatch") as raised:
            await client.call("plain", {})
        assert raised.value.code == -32020
        assert len(endpoint.seen("tools/call")) == 4


async def test_a_token_is_a_bearer_token(serve_http: ServeHttp) -> None:
    endpoint = Endpoint()
    async with serve_http(endpoint) as url, Client(url, auth="secret") as client:
        await client.call_tool("plain")
    assert {r.headers["Authorization"] for _, _, r in endpoint.requests} == {"Bearer secret"}


@pytest.mark.parametrize("kind", ["sync", "async", "headers"])
async def test_credentials_are_asked_for_once_and_again_when_refused(
    serve_http: ServeHttp, kind: str
) -> None:
    asked = 0

    def give() -> Any:
        nonlocal asked
        asked += 1
        return {"X-Key": f"k{asked}"} if kind == "headers" else f"t{asked}"

    async def give_later() -> str:
        return give()

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        sent = request.headers.get("X-Key") or request.headers["Authorization"]
        if sent.endswith("1"):
            return web.Response(status=401)
        return {"structuredContent": sent}

    auth: Any = give_later if kind == "async" else give
    async with serve_http(Endpoint(call)) as url, Client(url, auth=auth) as client:
        expected = "k2" if kind == "headers" else "Bearer t2"
        results = await asyncio.gather(*(client.call("plain") for _ in range(8)))
        assert results == [expected] * 8
        assert asked == 2


async def test_credentials_that_stay_refused_are_an_error(serve_http: ServeHttp) -> None:
    asked = 0

    def give() -> str:
        nonlocal asked
        asked += 1
        return f"t{asked}"

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        return web.Response(status=401, headers={"WWW-Authenticate": "Bearer"})

    async with serve_http(Endpoint(call)) as url, Client(url, auth=give) as client:
        with pytest.raises(TransportError, match="HTTP 401"):
            await client.call("plain")
        assert asked == 2


async def test_credentials_of_another_kind_are_refused(serve_http: ServeHttp) -> None:
    def give() -> Any:
        return 5

    async with serve_http(Endpoint()) as url:
        with pytest.raises(TypeError, match="auth: expected a token"):
            async with Client(url, auth=give):
                pass


async def test_a_redirect_within_the_origin_is_followed_with_credentials(
    serve_http: ServeHttp,
) -> None:
    endpoint = Endpoint()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/mcp":
            return web.Response(status=307, headers={"Location": "/mcp/"})
        return await endpoint(request)

    async with serve_http(handle) as url, Client(url, auth="secret") as client:
        assert await client.call("plain") == 42
    assert {r.headers["Authorization"] for _, _, r in endpoint.requests} == {"Bearer secret"}


async def test_a_redirect_to_another_origin_is_refused(serve_http: ServeHttp) -> None:
    thief = Endpoint()
    async with serve_http(thief) as elsewhere:

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            return web.Response(status=308, headers={"Location": elsewhere})

        async with serve_http(handle) as url:
            with pytest.raises(TransportError, match="another origin"):
                async with Client(url, auth="secret"):
                    pass
    assert thief.requests == []


async def test_a_redirect_to_what_is_no_url_is_refused(serve_http: ServeHttp) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "http://[::1/"})

    async with serve_http(handle) as url:
        with pytest.raises(TransportError, match="a malformed URL"):
            async with Client(url):
                pass


async def test_an_answer_may_come_as_a_stream(serve_http: ServeHttp) -> None:
    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        token = message["params"]["_meta"]["progressToken"]
        report = {"progressToken": token, "progress": 1}
        note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": report}
        return await stream(request, b": hello\n\n", event(note), event(answer_to(message)))

    reports: list[float] = []
    async with serve_http(Endpoint(call)) as url, Client(url) as client:
        for _ in range(3):
            called = client.call("plain", on_progress=lambda p: reports.append(p.progress))
            assert await called == 42
    assert reports == [1, 1, 1]


async def test_a_session_is_kept_and_ended(serve_http: ServeHttp) -> None:
    endpoint = Endpoint(modern=False)
    endpoint.session = "session-1"
    async with serve_http(endpoint) as url, Client(url) as client:
        assert await client.call("plain") == 42
    sent = [
        (verb, message.get("method"), request.headers.get("Mcp-Session-Id"))
        for verb, message, request in endpoint.requests
    ]
    assert sent == [
        ("POST", "ping", None),
        ("POST", "server/discover", None),
        ("POST", "initialize", None),
        ("POST", "notifications/initialized", "session-1"),
        ("POST", "tools/list", "session-1"),
        ("POST", "tools/call", "session-1"),
        ("DELETE", None, "session-1"),
    ]
    for _, message, request in endpoint.requests[3:]:
        assert request.headers["MCP-Protocol-Version"] == "2025-11-25"
        assert "Mcp-Method" not in request.headers
        assert "_meta" not in message.get("params", {})


@pytest.mark.parametrize("session", ["x" * 8193, "a b"])
async def test_a_session_id_that_no_header_can_carry_is_refused(
    session: str, serve_http: ServeHttp
) -> None:
    endpoint = Endpoint(modern=False)
    endpoint.session = session
    async with serve_http(endpoint) as url:
        with pytest.raises(ProtocolError, match="no header can carry"):
            async with Client(url):
                pass


async def test_headers_that_are_long_are_not_remembered() -> None:
    route = Route("http://127.0.0.1/mcp", {})
    tracemalloc.start()
    try:
        for number in range(50):
            assert route.write("POST", {"Mcp-Name": f"{number}{'x' * 100_000}"}, b"{}")
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()


async def test_a_lost_session_is_opened_anew(serve_http: ServeHttp) -> None:
    lost = False

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        if request.headers.get("Mcp-Session-Id") == "session-1" and lost:
            return web.Response(status=404)
        return {"structuredContent": request.headers.get("Mcp-Session-Id")}

    endpoint = Endpoint(call, modern=False)
    endpoint.session = "session-1"
    async with serve_http(endpoint) as url, Client(url) as client:
        assert await client.call("plain") == "session-1"
        lost = True
        endpoint.session = "session-2"
        results = await asyncio.gather(*(client.call("plain") for _ in range(5)))
        assert results == ["session-2"] * 5
        assert len(endpoint.seen("initialize")) == 2


class Forgetting(Endpoint):
    """An older server that forgets its session, and greets again when the test lets it."""

    def __init__(self) -> None:
        super().__init__(self.answer, modern=False)
        self.session = "session-1"
        self.asked, self.may_greet = asyncio.Event(), asyncio.Event()
        self.refusals = 0

    def forget(self) -> None:
        self.session = "session-2"

    async def answer(self, request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        session = request.headers.get("Mcp-Session-Id")
        if session != self.session:
            return web.Response(status=400 if session is None else 404)
        return {"structuredContent": session}

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        if "initialize" in await request.text() and self.session == "session-2":
            self.asked.set()
            await self.may_greet.wait()
            if self.refusals:
                self.refusals -= 1
                return web.Response(status=503)
        return await super().__call__(request)


async def test_a_session_is_opened_anew_though_the_call_that_found_it_lost_is_given_up(
    serve_http: ServeHttp,
) -> None:
    endpoint = Forgetting()
    async with serve_http(endpoint) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        assert await client.call("plain") == "session-1"
        endpoint.forget()
        first = asyncio.create_task(client.call("plain"))
        await endpoint.asked.wait()
        meanwhile = asyncio.create_task(client.call("plain"))
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        with pytest.raises(TransportError, match="no answer"):
            await client.call("plain", timeout=0.05)
        endpoint.may_greet.set()
        assert await meanwhile == "session-2"
        assert await client.call("plain") == "session-2"
        assert len(endpoint.seen("initialize")) == 2


async def test_a_session_that_could_not_be_opened_anew_is_opened_by_the_next_call(
    serve_http: ServeHttp,
) -> None:
    endpoint = Forgetting()
    endpoint.may_greet.set()
    async with serve_http(endpoint) as url, Client(url) as client:
        assert await client.call("plain") == "session-1"
        endpoint.forget()
        endpoint.refusals = 1
        with pytest.raises(TransportError, match="503"):
            await client.call("plain")
        assert await client.call("plain") == "session-2"


async def test_a_loss_that_is_told_late_costs_the_next_session_nothing(
    serve_http: ServeHttp,
) -> None:
    begun, may_tell = asyncio.Event(), asyncio.Event()

    class Slow(Forgetting):
        async def answer(
            self, request: web.BaseRequest, message: Json
        ) -> web.StreamResponse | Json:
            answered = await super().answer(request, message)
            if isinstance(answered, web.Response) and not begun.is_set():
                begun.set()
                await may_tell.wait()
            return answered

    endpoint = Slow()
    endpoint.may_greet.set()
    async with serve_http(endpoint) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        assert await client.call("plain") == "session-1"
        endpoint.forget()
        late = asyncio.create_task(client.call("plain"))
        await begun.wait()
        assert await client.call("plain") == "session-2"
        may_tell.set()
        assert await late == "session-2"
        assert len(endpoint.seen("initialize")) == 2


async def test_who_waits_for_a_session_when_the_client_closes_is_not_cancelled(
    serve_http: ServeHttp,
) -> None:
    endpoint = Forgetting()
    async with serve_http(endpoint) as url, asyncio.timeout(PATIENCE):
        async with Client(url) as client:
            assert await client.call("plain") == "session-1"
            endpoint.forget()
            calls = [asyncio.create_task(client.call("plain")) for _ in range(3)]
            await endpoint.asked.wait()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(each) for each in outcomes] == [TransportError] * 3
        endpoint.may_greet.set()


async def test_a_session_that_is_lost_again_and_again_is_an_error(serve_http: ServeHttp) -> None:
    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        return web.Response(status=404)

    endpoint = Endpoint(call, modern=False)
    endpoint.session = "session"
    async with serve_http(endpoint) as url, Client(url) as client:
        with pytest.raises(TransportError, match="no longer knows the session"):
            await client.call("plain")
        assert len(endpoint.seen("tools/call")) == 2


async def test_an_older_server_is_told_of_a_cancellation(serve_http: ServeHttp) -> None:
    started = asyncio.Event()
    told: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        started.set()
        await asyncio.sleep(3600)
        return {}

    class Cancellable(Endpoint):
        async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
            response = await super().__call__(request)
            message = self.requests[-1][1]
            if message.get("method") == "notifications/cancelled":
                told.set_result(message["params"])
            return response

    endpoint = Cancellable(call, modern=False)
    async with serve_http(endpoint) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        calling = asyncio.create_task(client.call_tool("plain"))
        await started.wait()
        calling.cancel()
        params = await told
        called = next(m for _, m, _ in endpoint.requests if m.get("method") == "tools/call")
        assert params["requestId"] == called["id"]


async def test_every_cancellation_is_told_however_many_there_are(serve_http: ServeHttp) -> None:
    started = 0
    all_started, all_told = asyncio.Event(), asyncio.Event()
    told: set[int] = set()

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        nonlocal started
        started += 1
        if started == 90:
            all_started.set()
        await asyncio.sleep(3600)
        return {}

    endpoint = Endpoint(call, modern=False)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        text = await request.text()
        if "notifications/cancelled" in text:
            told.add(json.loads(text)["params"]["requestId"])
            if len(told) == 90:
                all_told.set()
        return await endpoint(request)

    async with serve_http(handle) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        calls = [asyncio.create_task(client.call_tool("plain")) for _ in range(90)]
        await all_started.wait()
        for each in calls:
            each.cancel()
        await all_told.wait()


async def test_an_older_server_that_pings_is_answered(serve_http: ServeHttp) -> None:
    heard: asyncio.Queue[Json] = asyncio.Queue()

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
        sample: Json = {"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {}}
        response = await stream(request, event(ping), event(sample))
        answers = [await heard.get(), await heard.get()]
        await response.write(event(answer_to(message, answers)))
        return response

    class Listening(Endpoint):
        async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
            message: Json = await request.json() if request.can_read_body else {}
            if "method" not in message and message:
                heard.put_nowait(message)
                return web.Response(status=202)
            return await super().__call__(request)

    async with serve_http(Listening(call, modern=False)) as url, Client(url) as client:
        answers = await client.call("plain", timeout=PATIENCE)
        assert {"jsonrpc": "2.0", "id": "p", "result": {}} in answers
        assert [a["error"]["code"] for a in answers if "error" in a] == [-32601]


async def test_a_stream_of_an_older_server_is_resumed(serve_http: ServeHttp) -> None:
    waiting: list[Json] = []
    resumed: list[str | None] = []

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        waiting.append(message)
        return await stream(request, b"id: e1\nretry: 10\ndata:\n\n")

    endpoint = Endpoint(call, modern=False)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            resumed.append(request.headers.get("Last-Event-ID"))
            if len(resumed) == 1:
                return await stream(request, b"id: e2\nretry: 10\ndata:\n\n")
            return await stream(request, event(answer_to(waiting[0])))
        return await endpoint(request)

    async with serve_http(handle) as url, Client(url) as client:
        assert await client.call("plain", timeout=PATIENCE) == 42
    assert resumed == ["e1", "e2"]


async def test_a_stream_may_be_resumed_for_as_long_as_it_gets_on(serve_http: ServeHttp) -> None:
    waiting: list[Json] = []
    resumed = 0

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        waiting.append(message)
        return await stream(request, b'id: e0\nretry: 1\ndata:\n\ndata: {"cut off')

    endpoint = Endpoint(call, modern=False)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal resumed
        if request.method != "GET":
            return await endpoint(request)
        resumed += 1
        if resumed < 20:
            return await stream(request, b"id: e%d\ndata:\n\ndata: {" % resumed)
        return await stream(request, event(answer_to(waiting[0])))

    async with serve_http(handle) as url, Client(url) as client:
        assert await client.call("plain", timeout=PATIENCE) == 42
    assert resumed == 20


@pytest.mark.parametrize("status", [404, 405])
async def test_a_call_whose_stream_cannot_be_resumed_is_sent_once(
    serve_http: ServeHttp, status: int
) -> None:
    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        return await stream(request, b"id: e1\nretry: 1\ndata:\n\n")

    endpoint = Endpoint(call, modern=False)
    endpoint.session = "s1"

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET":
            return web.Response(status=status)
        return await endpoint(request)

    async with serve_http(handle) as url, Client(url) as client:
        with pytest.raises(TransportError):
            await client.call("plain", timeout=PATIENCE)
    assert len(endpoint.seen("tools/call")) == 1


async def test_an_older_server_tells_of_changes_on_its_own_stream(serve_http: ServeHttp) -> None:
    changed, told = asyncio.Event(), asyncio.Event()

    async def until_refused(client: Client, name: str) -> None:
        while True:
            try:
                await client.call(name)
            except ProtocolError:
                return

    endpoint = Endpoint(modern=False)
    endpoint.capabilities = TELLING

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "GET":
            return await endpoint(request)
        response = await stream(request)
        await changed.wait()
        note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await response.write(event(note))
        told.set()
        await asyncio.sleep(3600)
        return response

    async with serve_http(handle) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        assert len(await client.list_tools()) == 3
        endpoint.tools = TOOLS[:1]
        changed.set()
        await told.wait()
        await until_refused(client, "safe")


@pytest.mark.parametrize("name", ["safe", "again"])
async def test_a_call_that_is_safe_to_repeat_is_sent_again_after_a_loss(
    serve_http: ServeHttp, name: str
) -> None:
    ids: list[int] = []

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        ids.append(message["id"])
        if len(ids) < 3:
            assert request.transport is not None
            request.transport.abort()
        return {"structuredContent": len(ids)}

    async with serve_http(Endpoint(call)) as url, Client(url, trust_annotations=True) as client:
        assert await client.call(name) == 3
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("name", "trust"), [("plain", True), ("plain", False), ("safe", False), ("again", False)]
)
async def test_a_call_is_sent_once_unless_the_server_says_that_it_is_safe_and_is_trusted(
    serve_http: ServeHttp, name: str, trust: bool
) -> None:
    calls = 0

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        nonlocal calls
        calls += 1
        assert request.transport is not None
        request.transport.abort()
        return {}

    async with serve_http(Endpoint(call)) as url, Client(url, trust_annotations=trust) as client:
        with pytest.raises(TransportError, match="broke"):
            await client.call(name)
        assert calls == 1


async def test_a_call_that_never_left_is_sent_when_the_server_is_back(
    serve_http: ServeHttp,
) -> None:
    async with serve_http(Endpoint()) as url:
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        client = Client(url, http=Http(reconnects=8))
        await client.__aenter__()
        await client.list_tools()
    try:
        calling = asyncio.create_task(client.call("plain", timeout=PATIENCE))
        await asyncio.sleep(0.1)
        runner = web.ServerRunner(web.Server(Endpoint()), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        try:
            assert await calling == 42
        finally:
            await runner.cleanup()
    finally:
        await client.__aexit__(None, None, None)


@pytest.mark.parametrize("modern", [True, False])
async def test_a_server_that_hangs_up_after_each_answer_loses_no_call(modern: bool) -> None:
    endpoint = Endpoint(modern=modern)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        message = json.loads(await reader.readexactly(int(re.findall(r"length: (\d+)", head)[0])))
        status, body = "202 Accepted", b""
        if message["method"] == "server/discover" and not modern:
            status = "400 Bad Request"
        elif "id" in message:
            result = endpoint.result(message["method"])
            status, body = "200 OK", json.dumps({**answer_to(message), "result": result}).encode()
        lines = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
        writer.write(f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}/mcp", timeout=PATIENCE) as client:
            for _ in range(10):
                assert await client.call("plain") == 42


async def test_a_server_that_says_that_it_hangs_up_gets_other_connections_that_are_kept(
    serve_http: ServeHttp,
) -> None:
    endpoint = Endpoint()
    peers: set[object] = set()

    async def refuse_probes(request: web.BaseRequest) -> web.StreamResponse:
        if (await request.json())["method"] == "ping":
            return web.Response(status=500, headers={"Connection": "close"})
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return await endpoint(request)

    async with serve_http(refuse_probes) as url, Client(url) as client:
        for _ in range(4):
            assert await client.call("plain") == 42
    assert len(peers) == 1


async def test_a_connection_that_a_server_may_be_about_to_close_is_not_used_again(
    serve_http: ServeHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = Endpoint()
    async with serve_http(endpoint) as url, Client(url) as client:
        for _ in range(2):
            await client.call("plain")

        monkeypatch.setattr("aiohttp.connector.monotonic", lambda: monotonic() + 4.5)
        await client.call("plain")
        first, second, third = [each.transport for _, _, each in endpoint.requests[-3:]]
        assert first is second
        assert second is not third


async def test_a_request_that_found_its_connection_closed_is_sent_on_another(
    serve_http: ServeHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = Endpoint()
    write, closed = DirectResponse.write, 0

    def close_first(response: DirectResponse, request: bytes) -> None:
        nonlocal closed
        if not closed:
            closed += 1
            response._transport.close()
        write(response, request)

    async with serve_http(endpoint) as url, Client(url) as client:
        await client.call("plain")
        before = len(endpoint.requests)
        monkeypatch.setattr(DirectResponse, "write", close_first)
        assert await client.call("plain") == 42
    assert closed == 1
    assert len(endpoint.requests) == before + 1


async def test_a_certificate_is_verified() -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)  # pyright: ignore[reportUnknownMemberType]
    runner = web.ServerRunner(web.Server(Endpoint()), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    url = f"https://127.0.0.1:{runner.addresses[0][1]}/mcp"
    try:
        with pytest.raises(TransportError, match="cannot trust"):
            async with Client(url):
                pass
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)  # pyright: ignore[reportUnknownMemberType]
        for tls in (trusting, False):
            async with Client(url, http=Http(tls=tls)) as client:
                assert await client.call("plain") == 42
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("source", ["option", "environment"])
async def test_a_proxy_is_used_where_it_is_asked_for(
    serve_http: ServeHttp,
    proxy: tuple[str, list[bytes]],
    source: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, asked = proxy
    http = Http(proxy=address)
    if source == "environment":
        monkeypatch.setenv("HTTP_PROXY", address)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        http = Http(proxy_from_environment=True)
    async with serve_http(Endpoint()) as url:
        async with Client(url, http=http) as client:
            assert await client.call("plain") == 42
        assert asked[0].startswith(f"POST {url} HTTP/1.1".encode())
        asked.clear()
        async with Client(url) as client:
            assert await client.call("plain") == 42
        assert asked == []


@pytest.mark.parametrize("auth", [None, "secret"])
async def test_what_is_in_netrc_is_not_sent(
    serve_http: ServeHttp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, auth: str | None
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ada password hidden\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    endpoint = Endpoint()
    http = Http(proxy_from_environment=True)
    async with serve_http(endpoint) as url, Client(url, http=http, auth=auth) as client:
        assert await client.call("plain") == 42
    sent = {request.headers.get("Authorization") for _, _, request in endpoint.requests}
    assert sent == {None if auth is None else f"Bearer {auth}"}


async def test_messages_show_nothing_secret_of_a_url(serve_http: ServeHttp) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=308, headers={"Location": "http://u:hunter2@x.invalid/?t=key"})

    async with serve_http(handle) as url:
        secret = url.replace("//", "//user:hunter2@") + "?token=key"
        with pytest.raises(TransportError) as raised:
            async with Client(secret):
                pass
    assert f"the server at {url} redirects" in str(raised.value)
    assert "x.invalid" in str(raised.value)
    assert "hunter2" not in str(raised.value)
    assert "key" not in str(raised.value)


async def test_messages_about_a_broken_connection_show_nothing_secret(
    serve_http: ServeHttp,
) -> None:
    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        assert request.transport is not None
        request.transport.abort()
        return {}

    async with serve_http(Endpoint(call)) as url, Client(url + "?token=hunter2") as client:
        for _ in range(3):
            with pytest.raises(TransportError) as raised:
                await client.call("plain")
            assert "hunter2" not in str(raised.value)


async def test_no_more_connections_are_opened_than_allowed(serve_http: ServeHttp) -> None:
    at_once = most = 0

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.01)
        at_once -= 1
        return {}

    http = Http(max_connections=3)
    async with serve_http(Endpoint(call)) as url, Client(url, http=http) as client:
        await asyncio.gather(*(client.call_tool("plain") for _ in range(12)))
    assert most == 3


async def test_listening_for_changes_takes_no_connection_from_calls(
    serve_http: ServeHttp,
) -> None:
    listening = 0
    for modern in (True, False):
        endpoint = Endpoint(modern=modern)
        endpoint.capabilities = TELLING

        async def handle(
            request: web.BaseRequest, endpoint: Endpoint = endpoint
        ) -> web.StreamResponse:
            nonlocal listening
            if request.method == "GET" or "subscriptions/listen" in await request.text():
                response = await stream(request)
                listening += 1
                await asyncio.sleep(3600)
                return response
            return await endpoint(request)

        http = Http(max_connections=1)
        async with serve_http(handle) as url, Client(url, http=http, timeout=PATIENCE) as client:
            await client.list_tools()
            assert await client.call("plain") == 42
    assert listening == 2


async def test_a_ping_during_the_only_call_is_answered(serve_http: ServeHttp) -> None:
    answered = asyncio.Event()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST" and "result" in await request.json():
            answered.set()
            return web.Response(status=202)
        return await endpoint(request)

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        response = await stream(request, event({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
        await answered.wait()
        await response.write(event(answer_to(message)))
        return response

    endpoint = Endpoint(call, modern=False)
    http = Http(max_connections=1)
    async with serve_http(handle) as url, Client(url, http=http, timeout=PATIENCE) as client:
        assert await client.call("plain") == 42


async def test_a_stream_of_changes_that_ended_is_opened_again(serve_http: ServeHttp) -> None:
    endpoint, opened = Endpoint(modern=False), asyncio.Queue[None]()
    endpoint.capabilities = TELLING

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "GET":
            return await endpoint(request)
        opened.put_nowait(None)
        return await stream(request)

    async with serve_http(handle) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        await client.list_tools()
        await opened.get()
        while opened.empty():
            await client.list_tools()


async def test_a_stream_of_changes_goes_on_behind_what_was_heard_while_that_is_known(
    serve_http: ServeHttp,
) -> None:
    endpoint, named = Endpoint(modern=False), asyncio.Queue[str | None]()
    endpoint.capabilities = TELLING

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method != "GET":
            return await endpoint(request)
        last = request.headers.get("Last-Event-ID")
        named.put_nowait(last)
        if last == "2":
            return web.Response(status=400)
        return await stream(request, b"id: %d\nretry: 10\ndata: \n\n" % (1 if last is None else 2))

    async with serve_http(handle) as url, Client(url) as client, asyncio.timeout(PATIENCE):
        for expected in (None, "1", "2", None, "1"):
            while named.empty():
                await client.list_tools()
            assert await named.get() == expected


async def test_an_answer_is_read_up_to_its_bound(serve_http: ServeHttp) -> None:
    size = 0

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        return {"structuredContent": "x" * size}

    bounds = Bounds(max_answer_bytes=10_000)
    async with serve_http(Endpoint(call)) as url, Client(url, bounds=bounds) as client:
        size = 9_000
        assert await client.call("plain") == "x" * size
        size = 11_000
        with pytest.raises(TransportError, match="longer than 10000 bytes"):
            await client.call("plain")
        size = 5
        assert await client.call("plain") == "xxxxx"


LONG = 20_000_000
"""Bytes that no buffer between two ends of a connection holds."""


@pytest.mark.parametrize("way", ["length", "pieces", "events"])
async def test_long_answers_are_read_in_turn_and_short_ones_pass_by(
    serve_http: ServeHttp, way: str
) -> None:
    begun, wanted = asyncio.Event(), asyncio.Event()

    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        size = message["params"]["arguments"].get("size", 0)
        if not size:
            return {"structuredContent": "short"}
        body = json.dumps(answer_to(message, "x" * size)).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if way == "length":
            response.content_length = len(body)
        elif way == "events":
            response.content_type, body = "text/event-stream", b"data: %b\n\n" % body
        await response.prepare(request)
        await response.write(body[:-1])
        if size == LONG:
            begun.set()
            await wanted.wait()
        await response.write(body[-1:])
        return response

    bounds = Bounds(max_answer_bytes=2 * LONG, max_unfinished_bytes=LONG)
    async with (
        serve_http(Endpoint(call)) as url,
        Client(url, bounds=bounds, timeout=PATIENCE) as client,
        asyncio.TaskGroup() as group,
    ):
        first = group.create_task(client.call("plain", {"size": LONG}))
        await begun.wait()
        second = group.create_task(client.call("plain", {"size": 1_000_000}))
        for _ in range(20):
            assert await client.call("plain") == "short"
        assert not first.done()
        assert not second.done()
        wanted.set()
        assert (await first, await second) == ("x" * LONG, "x" * 1_000_000)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["reading first", "waiting first"])
async def test_long_answers_that_are_given_up_leave_their_room_to_others(
    serve_http: ServeHttp, order: tuple[int, int]
) -> None:
    async def call(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        if message["params"]["arguments"]:
            return {"structuredContent": "x" * 1_000_000}
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = LONG
        await response.prepare(request)
        await response.write(b" " * (LONG - 1))
        begun.set()
        return response

    begun = asyncio.Event()
    bounds = Bounds(max_answer_bytes=2 * LONG, max_unfinished_bytes=LONG)
    async with serve_http(Endpoint(call)) as url, Client(url, bounds=bounds) as client:
        first = asyncio.create_task(client.call("plain", {}))
        await begun.wait()
        second = asyncio.create_task(client.call("plain", {"size": 1}))
        third = asyncio.create_task(client.call("plain", {"size": 2}))
        for _ in range(20):  # so that both of them have come to wait
            assert (await client.list_tools())[0].name == "plain"
        given_up = [(first, second)[place] for place in order]
        for task in given_up:
            task.cancel()
        for task in given_up:
            with pytest.raises(asyncio.CancelledError):
                await task
        assert await third == "x" * 1_000_000


async def test_who_gives_up_waiting_for_room_makes_none() -> None:
    room = GatheringRoom(10)
    assert await room.take(10) == 10
    given_up, waiting = (asyncio.create_task(room.take(10)) for _ in range(2))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    await asyncio.sleep(0)
    assert not waiting.done()
    room.give_back(10)
    assert await waiting == 10


async def test_closing_before_the_second_request_has_left_leaves_no_pool_open(
    serve_http: ServeHttp,
) -> None:
    async with serve_http(Endpoint()) as url:
        async with Client(url, revision="2026-07-28") as client:
            calling = asyncio.create_task(client.call("plain"))
            await asyncio.sleep(0)  # it looks whether the server hung up after its first answer
        with pytest.raises(TransportError):
            await calling


async def test_closing_that_is_given_up_leaves_no_connection_open(serve_http: ServeHttp) -> None:
    connected: set[asyncio.BaseTransport] = set()

    class Deaf(Endpoint):
        async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
            if request.transport is not None:
                connected.add(request.transport)
            if "notifications/cancelled" in await request.text() or request.method == "DELETE":
                await asyncio.sleep(3600)
            return await super().__call__(request)

    async def wait(request: web.BaseRequest, message: Json) -> web.StreamResponse | Json:
        await asyncio.sleep(3600)
        return {}

    endpoint = Deaf(wait, modern=False)
    endpoint.session = "session"
    async with serve_http(endpoint) as url, asyncio.timeout(PATIENCE):
        for turns in range(1, 9):
            client = await Client(url).__aenter__()
            calling = asyncio.create_task(client.call_tool("plain"))
            await turn_until(lambda: endpoint.seen("tools/call"))
            calling.cancel()
            await asyncio.wait([calling])
            closing = asyncio.create_task(client.__aexit__(None, None, None))
            for _ in range(turns):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
            await turn_until(lambda: all(each.is_closing() for each in connected))
            endpoint.requests.clear()
