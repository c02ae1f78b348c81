"""HTTP+SSE of 2024-11-05 as a client speaks it: found, used, lost, opened again, kept in bounds."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from patience import PATIENCE, turn_until

from anyshape import Client
from anyshape.client import Bounds, Http, Sampled, SamplingRequest, eras
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.content import Text

if TYPE_CHECKING:
    from .conftest import ServeHttp

Json = dict[str, Any]
Call = Callable[["EventServer", Json], Awaitable[Any]]
AUTO = Http(connect_timeout=PATIENCE)
SSE = Http(transport="sse", connect_timeout=PATIENCE)
ENDPOINT = b"event: endpoint\ndata: /messages?session=1\n\n"
TOOLS: list[Json] = [
    {"name": "plain", "inputSchema": {"type": "object"}},
    {"name": "other", "inputSchema": {"type": "object"}},
]


PARAMS: Json = {
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say it"}}],
        "maxTokens": 5,
    }
}


def event(message: Json) -> bytes:
    return f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n".encode()


class EventServer:
    """A server that notes what it is sent, and answers calls on the stream as a test says."""

    def __init__(self, call: Call | None = None) -> None:
        self.call = call
        self.called = "tools/call"
        self.opening = [ENDPOINT]
        self.seen: list[tuple[str, str, Json, web.BaseRequest]] = []
        self.opened: list[web.BaseRequest] = []
        self.streams: list[web.StreamResponse] = []
        self.posted: Callable[[Json], web.Response | None] = lambda message: None
        self.capabilities: Json = {"tools": {}}
        self.is_over = asyncio.Event()

    @property
    def lines(self) -> list[str]:
        """What came: the method of HTTP, the path and the method of the message."""
        return [
            f"{method} {path} {message.get('method', '')}".strip()
            for method, path, message, _ in self.seen
        ]

    def said(self, method: str) -> list[Json]:
        return [message for _, _, message, _ in self.seen if message.get("method") == method]

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        text = await request.text()
        message: Json = json.loads(text) if text else {}
        self.seen.append((request.method, request.path, message, request))
        if (request.method, request.path) == ("GET", "/sse"):
            return await self.stream(request)
        if (request.method, request.path) != ("POST", "/messages"):
            return web.Response(status=405)
        refused = self.posted(message)
        if refused is not None and refused.status >= 300:
            return refused
        if "id" in message and "method" in message:
            await self.answer(message)
        return refused or web.Response(status=202, text="Accepted")

    async def stream(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        self.opened.append(request)
        self.streams.append(response)
        for part in self.opening:
            await response.write(part)
        await self.is_over.wait()
        return response

    async def answer(self, message: Json) -> None:
        if message["method"] == self.called and self.call is not None:
            result = await self.call(self, message)
            if result is None:
                return
        else:
            result = self.result(message["method"])
        await self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def result(self, method: str) -> Json:
        if method == "initialize":
            return {"protocolVersion": "2024-11-05", "capabilities": self.capabilities}
        if method == "tools/list":
            return {"tools": TOOLS}
        return text_of("42") if method == "tools/call" else {}

    async def send(self, message: Json) -> None:
        await self.streams[-1].write(event(message))

    def drop(self) -> None:
        """Break the stream off, in the middle of whatever it was."""
        transport = self.opened[-1].transport
        assert transport is not None
        transport.abort()


def text_of(text: str) -> Json:
    return {"content": [{"type": "text", "text": text}]}


def at(url: str) -> str:
    return url.replace("/mcp", "/sse")


async def test_it_is_found_after_streamable_http_was_refused(serve_http: ServeHttp) -> None:
    server = EventServer()
    async with serve_http(server) as url:
        async with Client(at(url), http=AUTO) as client:
            assert client.revision.value == "2024-11-05"
            assert (await client.call_tool("plain")).text == "42"
        assert server.lines == [
            *(f"POST /sse {method}" for method in ("ping", "server/discover", "initialize")),
            "GET /sse",
            *(f"POST /messages {method}" for method in ("initialize", "notifications/initialized")),
            *(f"POST /messages {method}" for method in ("tools/list", "tools/call")),
        ]
        assert server.seen[3][3].headers["Accept"] == "text/event-stream"
        assert {r.query_string for _, path, _, r in server.seen if path == "/messages"} == {
            "session=1"
        }
        assert eras.recall(at(url)) == "older"
        server.seen.clear()
        async with Client(at(url), http=AUTO):
            assert server.lines[:2] == ["POST /sse initialize", "GET /sse"]


async def test_who_asks_for_it_is_not_kept_waiting_for_another_transport(
    serve_http: ServeHttp,
) -> None:
    server = EventServer()
    async with serve_http(server) as url, Client(at(url), http=SSE) as client:
        assert (await client.call_tool("plain")).text == "42"
    assert server.lines[:2] == ["GET /sse", "POST /messages initialize"]
    assert not server.said("server/discover")


async def test_a_revision_without_a_handshake_is_not_spoken_there(serve_http: ServeHttp) -> None:
    server = EventServer()
    async with serve_http(server) as url:
        for http in (SSE, AUTO):
            with pytest.raises(ProtocolError, match="does not speak 2026-07-28"):
                await Client(at(url), http=http, revision="2026-07-28").__aenter__()
        async with Client(at(url), http=SSE, revision="2026-07-28", or_older=True) as client:
            assert client.revision.value == "2024-11-05"
    assert not server.said("server/discover")[1:]


def test_there_is_no_third_transport() -> None:
    with pytest.raises(ValueError, match=r"Http\(transport='ws'\): expected 'auto' or 'sse'"):
        Http(transport="ws")  # type: ignore[arg-type]


@pytest.mark.parametrize("revision", ["auto", "2025-11-25"])
async def test_a_server_of_streamable_http_is_never_asked_for_such_a_stream(
    serve_http: ServeHttp, revision: str
) -> None:
    asked: list[str] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        asked.append(request.method)
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        if message["method"] in ("ping", "server/discover"):  # as servers with sessions do
            return web.Response(status=400, text="Missing session ID")
        result: Json = {"protocolVersion": "2025-11-25", "capabilities": {}}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async with serve_http(handle) as url, Client(at(url), http=AUTO, revision=revision) as client:
        assert client.revision.value == "2025-11-25"
    assert set(asked) == {"POST"}


@pytest.mark.parametrize("first", ["message", "silence", "nothing"])
async def test_a_stream_without_an_endpoint_makes_no_server_an_older_one(
    serve_http: ServeHttp, first: str
) -> None:
    posted: list[str] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST":
            posted.append((await request.json())["method"])
            return web.Response(status=400, text="no such tenant")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": hello\n\nevent: tick\ndata: 1\n\n")
        if first == "message":
            await response.write(event({"jsonrpc": "2.0", "method": "notifications/message"}))
        if first != "nothing":
            await turn_until(lambda: request.transport is None or request.transport.is_closing())
        return response

    http = Http(connect_timeout=2.0) if first == "silence" else AUTO
    reason = {
        "message": "sent a message before an endpoint event",
        "silence": "sent no (endpoint event|stream of events) within 2 s",
        "nothing": "ended the stream",
    }[first]
    async with serve_http(handle) as url:
        with pytest.raises(TransportError, match=f"HTTP 400 .*no such tenant.*; .*{reason}"):
            await Client(url, http=http).__aenter__()
    assert posted == ["ping", "server/discover", "initialize"]


@pytest.mark.parametrize(
    ("get", "reason"),
    [
        (
            web.Response(text="<html>", content_type="text/html"),
            "answered initialize with HTTP 405",
        ),
        (web.Response(status=404), "answered initialize with HTTP 405"),
        (web.Response(status=500), "answered initialize with HTTP 405"),
        (web.Response(status=401), r"wants other credentials \(HTTP 401\); pass Client\(auth"),
        (
            web.Response(status=403, text="not you"),
            "answered GET with HTTP 403 Forbidden: 'not you",
        ),
    ],
    ids=["html", "404", "500", "401", "403"],
)
async def test_the_refusal_that_says_most_is_told(
    serve_http: ServeHttp, get: web.Response, reason: str
) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        status, text = get.status, get.text
        kind = get.content_type
        if request.method == "POST":
            return web.Response(status=405)
        return web.Response(status=status, text=text, content_type=kind)

    async with serve_http(handle) as url:
        with pytest.raises(TransportError, match=reason):
            await Client(url, http=AUTO).__aenter__()


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (200, "text/html", "answered GET with text/html, expected text/event-stream"),
        (200, "application/json", "answered GET with application/json, expected text/event-str"),
        (405, "text/plain", "answered GET with HTTP 405 Method Not Allowed: 'hello'"),
    ],
)
async def test_who_asks_for_it_is_told_that_it_is_not_there(
    serve_http: ServeHttp, status: int, kind: str, reason: str
) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, text="hello", content_type=kind)

    async with serve_http(handle) as url:
        with pytest.raises(TransportError, match=reason):
            await Client(url, http=SSE).__aenter__()


@pytest.mark.parametrize(
    "written", ["{thief}", "//{host}/messages", "{tls}", "http://[::1/", "ftp:x"]
)
async def test_an_endpoint_elsewhere_gets_nothing(serve_http: ServeHttp, written: str) -> None:
    server, thief = EventServer(), EventServer()
    async with serve_http(thief) as elsewhere, serve_http(server) as url:
        host = elsewhere.removeprefix("http://").removesuffix("/mcp")
        target = written.format(thief=elsewhere, host=host, tls=url.replace("http", "https"))
        server.opening = [f"event: endpoint\ndata: {target}\n\n".encode()]
        for http in (SSE, AUTO):
            with pytest.raises(TransportError, match="names an endpoint of another origin"):
                await Client(at(url), http=http, auth="secret").__aenter__()
    assert thief.seen == []
    assert not [path for _, path, _, _ in server.seen if path == "/messages"]


@pytest.mark.parametrize(
    "written", ["messages?session=1", "{origin}/messages?session=1", "/x/../messages#part"]
)
async def test_an_endpoint_within_the_origin_may_be_written_in_any_way(
    serve_http: ServeHttp, written: str
) -> None:
    server = EventServer()
    async with serve_http(server) as url:
        target = written.format(origin=url.removesuffix("/mcp").replace("127.", "user:word@127."))
        server.opening = [f"event: endpoint\ndata: {target}\n\n".encode()]
        ours = at(url).replace("//", "//ada:secret@")
        async with Client(ours, http=SSE) as client:
            assert (await client.call_tool("plain")).text == "42"
    sent = {request.headers["Authorization"] for _, _, _, request in server.seen}
    assert sent == {"Basic YWRhOnNlY3JldA=="}


async def test_of_two_endpoints_the_first_counts(serve_http: ServeHttp) -> None:
    server = EventServer()
    server.opening = [ENDPOINT, ENDPOINT.replace(b"/messages", b"/others")]
    async with serve_http(server) as url, Client(at(url), http=SSE) as client:
        assert (await client.call_tool("plain")).text == "42"
    assert "/others" not in {path for _, path, _, _ in server.seen}


async def test_redirects_are_followed_within_the_origin(serve_http: ServeHttp) -> None:
    server, thief = EventServer(), EventServer()
    moved = {"/sse/": "/sse", "/old": "/messages?session=1"}

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path in moved:
            return web.Response(status=307, headers={"Location": moved[request.path]})
        return await server(request)

    server.opening = [ENDPOINT.replace(b"/messages", b"/old")]
    async with serve_http(thief) as elsewhere, serve_http(handle) as url:
        async with Client(at(url) + "/", http=AUTO, auth="secret") as client:
            assert (await client.call_tool("plain")).text == "42"
        moved["/old"] = elsewhere
        with pytest.raises(TransportError, match="redirects to another origin"):
            await Client(at(url), http=SSE, auth="secret").__aenter__()
        moved["/old"] = "/old"
        with pytest.raises(TransportError, match="redirects in circles"):
            await Client(at(url), http=SSE, auth="secret").__aenter__()
    assert thief.seen == []


async def test_answers_find_their_calls_in_any_order(serve_http: ServeHttp) -> None:
    held: list[Json] = []

    async def call(server: EventServer, message: Json) -> Any:
        held.append(message)
        if len(held) == 2:
            await server.send({"jsonrpc": "2.0", "id": 999, "result": text_of("nobody's")})
            await server.streams[-1].write(b"data: no message\n\n")
            for each in reversed(held):
                name = each["params"]["name"]
                await server.send({"jsonrpc": "2.0", "id": each["id"], "result": text_of(name)})

    async with serve_http(EventServer(call)) as url, Client(at(url), http=SSE) as client:
        await client.list_tools()
        results = await asyncio.gather(client.call_tool("plain"), client.call_tool("other"))
    assert [result.text for result in results] == ["plain", "other"]


async def test_a_server_is_answered_and_tells_of_changes(serve_http: ServeHttp) -> None:
    answers: dict[str, asyncio.Future[Json]] = {}
    changed: list[str] = []

    async def ask(server: EventServer, method: str, params: Json) -> Json:
        answers[method] = asyncio.get_running_loop().create_future()
        await server.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        return await answers[method]

    async def call(server: EventServer, message: Json) -> Any:
        async def work() -> None:
            said = [
                (await ask(server, "sampling/createMessage", PARAMS["params"]))["content"]["text"],
                (await ask(server, "roots/list", {}))["roots"][0]["uri"],
                await ask(server, "ping", {}),
            ]
            await server.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            result = text_of(json.dumps(said))
            await server.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

        working.append(asyncio.create_task(work()))

    working: list[asyncio.Task[None]] = []
    server = EventServer(call)
    server.capabilities = {"tools": {"listChanged": True}}

    def posted(message: Json) -> None:
        if "method" not in message:
            answers[message["id"]].set_result(message["result"])

    server.posted = posted
    async with (
        serve_http(server) as url,
        Client(
            at(url),
            http=AUTO,
            on_sample=lambda asked: Sampled(Text("said"), model="m"),
            roots=["file:///here"],
            on_list_changed=changed.append,
        ) as client,
    ):
        text = (await client.call_tool("plain")).text
        assert json.loads(text) == ["said", "file:///here", {}]
        await turn_until(lambda: changed)
        assert client.listed is None
    assert server.said("initialize")[-1]["params"]["capabilities"].keys() >= {"sampling", "roots"}


async def test_who_opens_a_stream_again_is_not_asked_for_everybody(serve_http: ServeHttp) -> None:
    caller: ContextVar[str] = ContextVar("caller", default="nobody")
    asked: list[str] = []

    def sample(question: SamplingRequest) -> Sampled:
        asked.append(caller.get())
        return Sampled("said", model="m")

    async def call(server: EventServer, message: Json) -> Any:
        await server.send({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage"} | PARAMS)
        await turn_until(lambda: [each for _, _, each, _ in server.seen if "result" in each])
        return text_of("42")

    server, lost = EventServer(call), asyncio.Event()
    async with (
        serve_http(server) as url,
        Client(at(url), http=SSE, on_sample=sample, on_lost=lost.set) as client,
    ):
        server.drop()
        await lost.wait()
        caller.set("the first")
        await client.list_tools()
        assert len(server.streams) == 2
        caller.set("the second")
        await client.call_tool("plain")
    assert asked == ["nobody"]


async def test_a_call_that_is_given_up_is_told(serve_http: ServeHttp) -> None:
    async def call(server: EventServer, message: Json) -> Any:
        if message["params"]["name"] == "other":
            return text_of("there")
        return None

    server = EventServer(call)
    async with serve_http(server) as url, Client(at(url), http=SSE) as client:
        given_up = asyncio.create_task(client.call_tool("plain"))
        await turn_until(lambda: server.said("tools/call"))
        given_up.cancel()
        await turn_until(lambda: server.said("notifications/cancelled"))
        id = server.said("tools/call")[0]["id"]
        assert server.said("notifications/cancelled")[0]["params"]["requestId"] == id
        assert (await client.call_tool("other")).text == "there"


async def test_a_call_that_is_given_up_before_it_left_never_leaves(serve_http: ServeHttp) -> None:
    held = asyncio.Event()
    server = EventServer()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if b"other" in await request.read():
            await held.wait()
        return await server(request)

    http = Http(transport="sse", connect_timeout=PATIENCE, max_connections=1)
    async with serve_http(handle) as url, Client(at(url), http=http) as client:
        await client.list_tools()
        first = asyncio.create_task(client.call_tool("other"))
        await asyncio.sleep(0)
        second = asyncio.create_task(client.call_tool("plain"))
        for _ in range(10):
            await asyncio.sleep(0)
        second.cancel()
        held.set()
        assert (await first).text == "42"
        assert (await client.call_tool("other")).text == "42"
    assert [call["params"]["name"] for call in server.said("tools/call")] == ["other", "other"]


@pytest.mark.parametrize("part", [b"", b'data: {"jsonrpc": "2.0", "id": 4, "res'])
async def test_a_stream_that_breaks_costs_the_call_and_the_next_opens_another(
    serve_http: ServeHttp, part: bytes
) -> None:
    lost: list[int] = []

    async def call(server: EventServer, message: Json) -> Any:
        if len(server.streams) > 1:
            return text_of("42")
        await server.streams[-1].write(part)
        server.drop()
        return None

    server = EventServer(call)
    async with (
        serve_http(server) as url,
        Client(at(url), http=AUTO, on_lost=lambda: lost.append(1)) as client,
    ):
        with pytest.raises(TransportError, match=r"the (connection|server) .*(broke|ended)"):
            await client.call_tool("plain")
        assert lost == [1]
        assert (await client.call_tool("plain")).text == "42"
        assert len(server.streams) == 2
        await client.list_tools()
        server.drop()  # while nobody waits
        await turn_until(lambda: len(lost) == 2)
        assert len(await client.list_tools()) == 2
    assert len(server.said("initialize")) == 3 + 3  # each was posted to /sse first
    assert lost == [1, 1]


async def test_a_stream_that_is_no_http_any_more_costs_the_call_and_the_next_opens_another(
    serve_http: ServeHttp,
) -> None:
    async def call(server: EventServer, message: Json) -> Any:
        if len(server.streams) > 1:
            return text_of("42")
        transport = server.opened[-1].transport
        assert transport is not None
        transport.write(b"no chunk\r\n")
        return None

    server = EventServer(call)
    async with (
        serve_http(server) as url,
        Client(at(url), http=Http(transport="sse"), timeout=PATIENCE) as client,
    ):
        with pytest.raises(TransportError, match="does not speak HTTP"):
            await client.call_tool("plain")
        assert (await client.call_tool("plain")).text == "42"


async def test_a_subscription_outlives_its_stream(serve_http: ServeHttp) -> None:
    changed: list[str] = []
    lost: list[int] = []
    server = EventServer()
    server.capabilities = {"resources": {"subscribe": True}}
    async with (
        serve_http(server) as url,
        Client(at(url), http=SSE, on_lost=lambda: lost.append(1)) as client,
    ):
        await client.subscribe("notes://1", changed.append)
        server.drop()  # and nobody calls
        await turn_until(lambda: changed)
        assert (len(server.streams), lost) == (2, [1])
        assert len(server.said("resources/subscribe")) == 2
        params = {"uri": "notes://1"}
        update = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}
        await server.send(update)
        await turn_until(lambda: len(changed) == 2)


async def test_a_listing_is_asked_for_again_on_another_stream(serve_http: ServeHttp) -> None:
    async def answer(server: EventServer, message: Json) -> Any:
        if len(server.streams) > 1:
            return server.result("tools/list")
        server.drop()
        return None

    server = EventServer(answer)
    server.called = "tools/list"
    async with serve_http(server) as url, Client(at(url), http=SSE) as client:
        assert len(await client.list_tools()) == 2
    assert len(server.streams) == 2


async def test_a_session_that_is_not_known_any_more_is_opened_again(serve_http: ServeHttp) -> None:
    server = EventServer()

    def posted(message: Json) -> web.Response | None:
        is_gone = message.get("method") == "tools/call" and len(server.streams) == 1
        return web.Response(status=404, text="Could not find session") if is_gone else None

    server.posted = posted
    async with serve_http(server) as url, Client(at(url), http=SSE) as client:
        assert (await client.call_tool("plain")).text == "42"
    assert len(server.streams) == 2


@pytest.mark.parametrize(
    "response",
    [
        lambda: web.Response(status=200, text="OK"),
        lambda: web.Response(status=204),
        lambda: web.json_response({"jsonrpc": "2.0", "id": 1, "result": {}}),
        lambda: web.Response(status=202, body=b"x" * 300_000),
    ],
    ids=["200", "204", "json", "long"],
)
async def test_what_a_post_is_answered_with_is_no_answer(
    serve_http: ServeHttp, response: Callable[[], web.Response]
) -> None:
    server = EventServer()
    server.posted = lambda message: response()
    async with serve_http(server) as url, Client(at(url), http=SSE) as client:
        for _ in range(3):
            assert (await client.call_tool("plain")).text == "42"


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_a_post_that_is_refused_says_where(serve_http: ServeHttp, status: int) -> None:
    server = EventServer()
    server.posted = lambda message: web.Response(status=status, text="not here")
    async with serve_http(server) as url:
        where = re.escape(url.replace("/mcp", "/messages"))
        expected = f"answered initialize at {where} with HTTP {status} .*: 'not here'"
        with pytest.raises(TransportError, match=expected):
            await Client(at(url), http=SSE).__aenter__()


async def test_a_call_does_not_wait_for_its_post(serve_http: ServeHttp) -> None:
    never = asyncio.Event()
    server = EventServer()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = await server(request)
        if request.method == "POST" and server.said("tools/call"):
            await never.wait()
        return response

    async with serve_http(handle) as url, Client(at(url), http=SSE) as client:
        assert (await client.call_tool("plain")).text == "42"
        never.set()


async def test_credentials_go_with_the_stream_and_with_every_post(serve_http: ServeHttp) -> None:
    server = EventServer()
    tokens = iter(["old", "new"])

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "GET" and request.headers["Authorization"] == "Bearer old":
            return web.Response(status=401)
        return await server(request)

    http = Http(transport="sse", connect_timeout=PATIENCE, headers={"X-Mine": "1"})
    async with (
        serve_http(handle) as url,
        Client(at(url), http=http, auth=lambda: next(tokens)) as client,
    ):
        await client.call_tool("plain")
    assert {
        (request.headers["Authorization"], request.headers["X-Mine"])
        for _, _, _, request in server.seen
    } == {("Bearer new", "1")}


async def test_stream_and_posts_go_by_the_proxy(
    serve_http: ServeHttp, proxy: tuple[str, list[bytes]]
) -> None:
    address, asked = proxy
    http = Http(transport="sse", connect_timeout=PATIENCE, proxy=address)
    async with serve_http(EventServer()) as url:
        async with Client(at(url), http=http) as client:
            assert (await client.call_tool("plain")).text == "42"
        wanted = {f"GET {at(url)}", f"POST {url.replace('/mcp', '/messages?session=1')}"}
    assert {line.removesuffix(b" HTTP/1.1\r\n").decode() for line in asked} == wanted


@pytest.mark.parametrize("http", [AUTO, SSE])
async def test_a_client_can_be_opened_again(serve_http: ServeHttp, http: Http) -> None:
    server = EventServer()
    async with serve_http(server) as url:
        client = Client(at(url), http=http)
        for opened in (1, 2):
            async with client:
                assert (await client.call_tool("plain")).text == "42"
            assert len(server.streams) == opened


@pytest.mark.parametrize(
    ("flood", "reason"),
    [
        (b"data: " + b"x" * 3_000 + b"\n\n", "sent an event longer than 2000 bytes"),
        (b"data: x\n\n" * 1_000, "sent more than 4000 bytes without an answer"),
        (b": comment\n" * 1_000, "sent more than 4000 bytes without an answer"),
    ],
    ids=["event", "events", "comments"],
)
async def test_what_a_stream_holds_is_bounded(
    serve_http: ServeHttp, flood: bytes, reason: str
) -> None:
    async def call(server: EventServer, message: Json) -> Any:
        if len(server.streams) > 1:
            return text_of("42")
        await server.streams[-1].write(flood)
        return None

    bounds = Bounds(max_answer_bytes=2_000)
    async with (
        serve_http(EventServer(call)) as url,
        Client(at(url), http=SSE, bounds=bounds, timeout=PATIENCE) as client,
    ):
        with pytest.raises(TransportError, match=reason):
            await client.call_tool("plain")
        assert (await client.call_tool("plain")).text == "42"


async def test_the_way_to_an_endpoint_is_bounded(serve_http: ServeHttp) -> None:
    server = EventServer()
    server.opening = [b": comment\n" * 10_000]
    async with serve_http(server) as url:
        with pytest.raises(TransportError, match="more than 65536 bytes without an endpoint"):
            await Client(at(url), http=SSE).__aenter__()


async def test_silence_says_what_came_instead(serve_http: ServeHttp) -> None:
    async def call(server: EventServer, message: Json) -> Any:
        await server.streams[-1].write(b"data: hello?\n\n")
        return text_of("42") if message["params"]["name"] == "plain" else None

    async with serve_http(EventServer(call)) as url, Client(at(url), http=SSE) as client:
        await client.call_tool("plain")
        with pytest.raises(TransportError, match=r"events that are no JSON-RPC message: .*hello"):
            await client.call_tool("other", timeout=0.2)


async def test_closing_ends_the_stream_and_whatever_waits(serve_http: ServeHttp) -> None:
    async def call(server: EventServer, message: Json) -> Any:
        return None

    server, lost = EventServer(call), list[int]()
    before = asyncio.all_tasks()
    async with serve_http(server) as url:
        async with Client(at(url), http=AUTO, on_lost=lambda: lost.append(1)) as client:
            waiting = asyncio.create_task(client.call_tool("plain"))
            await turn_until(lambda: server.said("tools/call"))
        with pytest.raises(TransportError, match="was closed"):
            await waiting
        request = server.opened[0]
        await turn_until(lambda: request.transport is None or request.transport.is_closing())
        ours = {task for task in asyncio.all_tasks() - before if "anyshape" in repr(task)}
        assert ours == set()
        with pytest.raises(TransportError, match="not open"):
            await client.call_tool("plain")
    assert lost == []
