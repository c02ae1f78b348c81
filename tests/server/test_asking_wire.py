"""Questions on the wire: over pipes and HTTP, answered late, wrongly, by others, or never."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Client, Context, Server
from anyshape.client import Sampled
from anyshape.server import AccessToken, Authorization, HttpOptions, ServerOptions, Sessions
from anyshape.server.asking.exchange import LocalExchange

if TYPE_CHECKING:
    from .conftest import run_web

Json = dict[str, Any]
SCRIPT = Path(__file__).parent / "asking_server.py"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*HANDSHAKE, "2026-07-28")
ABLE: Json = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
ACCEPT: Json = {"action": "accept", "content": {"value": True}}


async def _book(target: Any, revision: str) -> None:
    """Have our client answer all that the server of `asking_server.py` asks."""
    async with Client(
        target,
        revision=revision,
        on_elicit=lambda asked: {"name": "Ada"},
        on_sample=lambda asked: Sampled(f"Re: {asked.messages[0].text}", model="m"),
        roots=["file:///a"],
    ) as client:
        if revision in ("2024-11-05", "2025-03-26"):
            result = await client.call_tool("greet", {"name": "Ada"})
            assert result.text == "Re: Greet Ada 1"
            assert "a user cannot be asked" in (await client.call_tool("book", {})).text
        else:
            assert (await client.call_tool("book", {})).value == "Re: Greet Ada 2"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_our_client_is_asked_over_stdio(revision: str) -> None:
    await _book([sys.executable, str(SCRIPT), "stdio"], revision)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_our_client_is_asked_over_http(
    revision: str, start_web: Callable[..., run_web]
) -> None:
    web = start_web(str(SCRIPT), "http")
    await _book(f"http://127.0.0.1:{web.port}/mcp", revision)


class Pipe:
    """A connection in memory after a handshake, seen as bytes."""

    def __init__(self, server: Server) -> None:
        self.sent: list[Json] = []
        self.connection = server.connect(lambda message: self.sent.append(json.loads(message)))

    async def greet(self, capabilities: Json = ABLE, revision: str = "2025-11-25") -> None:
        await self.send("initialize", 0, protocolVersion=revision, capabilities=capabilities)

    async def send(self, method: str, id: int | None = None, /, **params: Any) -> Any:
        body: Json = {"jsonrpc": "2.0", "method": method, "params": params}
        return await self.write(body if id is None else {**body, "id": id})

    async def write(self, body: Any) -> Any:
        answer = await self.connection.handle(json.dumps(body).encode())
        return None if answer is None else json.loads(answer)

    def call(self, id: int = 1, name: str = "ask") -> asyncio.Task[Any]:
        return asyncio.create_task(self.send("tools/call", id, name=name, arguments={}))

    async def question(self, number: int = 1) -> Json:
        await turn_until(lambda: len(self.sent) >= number)
        return self.sent[number - 1]


def asking_server(**options: Any) -> Server:
    server = Server("asking", options=ServerOptions(**options))

    @server.tool
    async def ask(context: Context) -> str:
        return str(await context.elicit("Sure?", bool))

    @server.tool
    async def sample(context: Context) -> str:
        return (await context.sample("Hi")).text

    @server.tool
    async def roots(context: Context) -> list[str]:
        return [root.uri for root in await context.roots()]

    return server


def text_of(answer: Json) -> str:
    assert answer["result"].get("isError"), answer
    return answer["result"]["content"][0]["text"]


WRONG: list[Any] = [
    {},
    {"action": "perhaps"},
    {"action": ["accept"]},
    {"action": "accept"},
    {"action": "accept", "content": None},
    {"action": "accept", "content": []},
    {"action": "accept", "content": {}},
    {"action": "accept", "content": {"value": "yes"}},
    {"action": "accept", "content": {"value": None}},
    {"action": "accept", "content": {"value": True, "more": 1}},
    {"action": "accept", "content": {"value": {"deep": [[[[]]]] * 5}}},
    "accept",
    [],
    None,
    7,
]


@pytest.mark.parametrize("wrong", WRONG)
async def test_an_answer_of_the_wrong_shape_fails_the_call_with_one_clear_line(wrong: Any) -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call()
    question = await pipe.question()
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": wrong})
    said = text_of(await call)
    assert said.startswith("the client")
    assert "\n" not in said


@pytest.mark.parametrize("content", [{}, {"value": "yes"}], ids=str)
async def test_what_is_wrong_with_a_form_is_said_of_its_content(content: Json) -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call()
    question = await pipe.question()
    result = {"action": "accept", "content": content}
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": result})
    reason = text_of(await call).partition("is of no use: ")[2]
    assert reason.startswith(("content: ", "content/"))


@pytest.mark.parametrize("tool", ["sample", "roots"])
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"role": "assistant", "content": "text", "model": "m"},
        {"role": "assistant", "content": [1], "model": "m"},
        {"role": "assistant", "content": {"type": "text", "text": "x"}},
        {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": 1},
        {"role": "system", "content": {"type": "text", "text": "x"}, "model": "m"},
        {"roots": "file:///a"},
    ],
)
async def test_what_is_no_sample_and_no_list_of_roots_is_refused(tool: str, wrong: Any) -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call(name=tool)
    question = await pipe.question()
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": wrong})
    assert "of no use" in text_of(await call)


async def test_a_root_that_is_none_costs_itself_and_no_other() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call(name="roots")
    question = await pipe.question()
    listed = [
        *({"uri": "file:///a"}, {"uri": "https://b"}, {"uri": "file:///a/../b"}, 7, {"name": "x"}),
        *({"uri": "file:///" + "x" * 9000}, {"uri": "file:///c", "name": 3}, {"uri": "file:///d"}),
    ]
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": listed}})
    assert (await call)["result"]["structuredContent"] == {"result": ["file:///a", "file:///d"]}


async def test_an_error_of_the_client_is_told_in_one_line() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call(name="sample")
    question = await pipe.question()
    error = {"code": -1, "message": "User\nrejected\x1b[31m " + "x" * 5000}
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "error": error})
    said = text_of(await call)
    assert said.startswith(
        "the client answered sampling/createMessage with an error: User rejected"
    )
    assert len(said) < 400
    assert said.isprintable()


async def test_answers_that_nobody_asked_for_are_dropped() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    assert await pipe.write({"jsonrpc": "2.0", "id": 1, "result": ACCEPT}) is None
    call = pipe.call()
    question = await pipe.question()
    for id in (question["id"] + 1, str(question["id"]), "x", -1, 10**30):
        assert await pipe.write({"jsonrpc": "2.0", "id": id, "result": {}}) is None
    other = Pipe(asking_server())
    await other.greet()
    await other.write({"jsonrpc": "2.0", "id": question["id"], "result": {}})
    assert not call.done()
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
    assert await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": {}}) is None
    assert (await call)["result"]["structuredContent"] == {"result": "Accepted(data=True)"}


async def test_an_answer_that_is_too_deep_is_refused_and_waited_for_no_less() -> None:
    pipe = Pipe(asking_server(answer_timeout=None))
    await pipe.greet()
    call = pipe.call()
    question = await pipe.question()
    deep = b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (question["id"], b"[" * 900 + b"]" * 900)
    answer = await pipe.connection.handle(deep)
    assert answer is not None
    assert json.loads(answer)["error"]["code"] == -32700
    assert not call.done()
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPT})
    await call


async def test_answers_may_come_in_a_batch_where_there_are_batches() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet(revision="2025-03-26")
    call = pipe.call(name="roots")
    question = await pipe.question()
    roots = {"roots": [{"uri": "file:///a"}]}
    await pipe.write([{"jsonrpc": "2.0", "id": question["id"], "result": roots}])
    assert json.loads((await call)["result"]["content"][0]["text"]) == ["file:///a"]


async def test_a_question_that_nobody_answers_is_withdrawn() -> None:
    pipe = Pipe(asking_server(answer_timeout=0.01))
    await pipe.greet()
    assert "within 0.01 seconds" in text_of(await pipe.call())
    question, withdrawn = pipe.sent
    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"] == {"requestId": question["id"]}


@pytest.mark.behaviour("asking.cancellation")
async def test_a_call_that_is_cancelled_withdraws_its_question() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call(id=5)
    question = await pipe.question()
    await pipe.send("notifications/cancelled", requestId=5)
    assert await call is None
    assert pipe.sent[1]["params"] == {"requestId": question["id"]}


async def test_a_client_that_goes_away_is_told_nothing_more() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet()
    call = pipe.call()
    await pipe.question()
    await pipe.connection.close()
    assert await call is None
    assert len(pipe.sent) == 1


@pytest.mark.behaviour("asking.undeclared")
@pytest.mark.parametrize(
    ("declared", "tool", "missing"),
    [
        ({}, "ask", "elicitation"),
        ({"elicitation": {"url": {}}}, "ask", "elicitation.form"),
        ({"elicitation": None}, "ask", "elicitation"),
        ({"elicitation": {}}, "sample", "sampling"),
        ({"sampling": {}}, "roots", "roots"),
    ],
)
async def test_what_was_not_declared_is_not_asked_for(
    declared: Json, tool: str, missing: str
) -> None:
    pipe = Pipe(asking_server())
    await pipe.greet(declared)
    assert missing in text_of(await pipe.call(name=tool))
    assert pipe.sent == []


@pytest.mark.behaviour("asking.empty-elicitation")
async def test_an_empty_elicitation_capability_means_forms() -> None:
    pipe = Pipe(asking_server())
    await pipe.greet({"elicitation": {}})
    call = pipe.call()
    question = await pipe.question()
    await pipe.write({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert (await call)["result"]["structuredContent"] == {"result": "Declined()"}


class Post:
    """One POST to an application, whose events are there as they come."""

    def __init__(self, application: Any, body: Any, headers: Mapping[str, str]) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self._data: bytes | None = json.dumps(body).encode()
        self._gone = asyncio.Event()
        accept = "application/json, text/event-stream"
        sent = {"host": "a.example", "content-type": "application/json", "accept": accept}
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in {**sent, **headers}.items()
            ],
            "server": ("10.1.2.3", 443),
        }
        self.done = asyncio.create_task(application(scope, self._receive, self._take))

    async def _receive(self) -> Json:
        if self._data is not None:
            data, self._data = self._data, None
            return {"type": "http.request", "body": data, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _take(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")

    def hang_up(self) -> None:
        self._gone.set()

    @property
    def events(self) -> list[Json]:
        lines = self.body.splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]

    async def question(self) -> Json:
        await turn_until(lambda: self.events)
        return self.events[0]

    async def end(self) -> Post:
        async with asyncio.timeout(PATIENCE):
            await self.done
        return self


class Web:
    """A client of an HTTP application that has shaken hands with it."""

    def __init__(self, application: Any, **headers: str) -> None:
        self.application = application
        self.headers = headers

    async def greet(self, capabilities: Json = ABLE, revision: str = "2025-11-25") -> Web:
        params: Json = {"protocolVersion": revision, "capabilities": capabilities}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = await self.post(body).end()
        assert answer.status == 200, answer.body
        self.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        self.headers["mcp-protocol-version"] = revision
        return self

    def post(self, body: Any, **headers: str) -> Post:
        return Post(self.application, body, {**self.headers, **headers})

    def call(self, name: str = "ask", **headers: str) -> Post:
        params: Json = {"name": name, "arguments": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.post(body, **headers)

    async def answer(self, id: object, result: Any = ACCEPT) -> Post:
        return await self.post({"jsonrpc": "2.0", "id": id, "result": result}).end()


@pytest.mark.behaviour("asking.stream")
async def test_a_question_comes_on_the_stream_of_the_request_and_its_answer_by_a_post() -> None:
    web = await Web(asking_server().asgi()).greet()
    call = web.call()
    question = await call.question()
    assert question["method"] == "elicitation/create"
    assert call.headers["content-type"] == "text/event-stream"
    answered = await web.answer(question["id"])
    assert (answered.status, answered.body) == (202, b"")
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": "Accepted(data=True)"}


async def test_another_session_cannot_answer() -> None:
    application = asking_server().asgi()
    web = await Web(application).greet()
    call = web.call()
    question = await call.question()
    other = await Web(application).greet()
    nobody = Web(application)
    for stranger in (other, nobody):
        assert (await stranger.answer(question["id"])).status == 202
    for id in (1, "1", question["id"] + "x", None):
        await web.answer(id)
    assert len(call.events) == 1
    assert not call.done.done()
    await web.answer(question["id"], {"action": "cancel"})
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": "Cancelled()"}


class Verifier:
    async def verify(self, token: str) -> AccessToken | None:
        return AccessToken(token, audience=("https://a.example/mcp",))


def guarded(**options: Any) -> HttpOptions:
    verifier = Authorization(
        verifier=Verifier(),
        resource="https://a.example/mcp",
        authorization_servers=("https://login.example",),
    )
    return HttpOptions(authorization=verifier, **options)


@pytest.mark.behaviour("asking.binding")
async def test_another_user_cannot_answer_even_in_the_same_session() -> None:
    application = asking_server().asgi(guarded())
    web = await Web(application, authorization="Bearer ada").greet()
    call = web.call()
    question = await call.question()
    thief = Web(application, **{**web.headers, "authorization": "Bearer eve"})
    await thief.answer(question["id"], {"action": "accept", "content": {"value": False}})
    assert len(call.events) == 1
    await web.answer(question["id"])
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": "Accepted(data=True)"}


async def test_an_answer_that_is_too_long_is_refused_and_waited_for_no_less() -> None:
    server = asking_server(max_message_bytes=2000)
    web = await Web(server.asgi()).greet()
    call = web.call()
    question = await call.question()
    assert (await web.answer(question["id"], {"action": "x" * 3000})).status == 413
    assert not call.done.done()
    await web.answer(question["id"])
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": "Accepted(data=True)"}


async def test_a_client_without_a_session_cannot_be_asked() -> None:
    web = await Web(asking_server().asgi()).greet()
    del web.headers["mcp-session-id"]
    answer = await web.call().end()
    assert "did not declare" in text_of(json.loads(answer.body))


async def test_a_client_that_takes_no_stream_cannot_be_asked() -> None:
    web = await Web(asking_server().asgi()).greet()
    answer = await web.call(accept="application/json").end()
    assert "text/event-stream" in text_of(json.loads(answer.body))


async def test_a_client_that_hangs_up_and_cannot_come_back_has_its_call_ended() -> None:
    server = asking_server()
    ended = asyncio.Event()

    @server.tool
    async def wait(context: Context) -> str:
        try:
            return str(await context.elicit("Sure?", bool))
        finally:
            ended.set()

    web = await Web(server.asgi(HttpOptions(streams=None))).greet()
    call = web.call("wait")
    await call.question()
    call.hang_up()
    async with asyncio.timeout(PATIENCE):
        await ended.wait()
    await call.end()


async def test_replicas_that_share_keys_and_an_exchange_answer_for_each_other() -> None:
    exchange = LocalExchange()
    options = HttpOptions(sessions=Sessions(keys=(b"k" * 32,)), answers=exchange)
    one = await Web(asking_server().asgi(options)).greet()
    other = Web(asking_server().asgi(options), **one.headers)
    call = one.call()
    question = await call.question()
    assert (await other.answer(question["id"])).status == 202
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": "Accepted(data=True)"}


async def test_what_a_client_can_be_asked_for_is_in_its_session_id() -> None:
    application = asking_server().asgi()
    web = await Web(application).greet({"roots": {"listChanged": True}, "elicitation": {}})
    call = web.call("sample")
    assert "did not declare sampling" in text_of(json.loads((await call.end()).body))
    call = web.call("roots")
    question = await call.question()
    assert question == {"jsonrpc": "2.0", "id": question["id"], "method": "roots/list"}
    await web.answer(question["id"], {"roots": []})
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": []}


async def test_answers_may_come_in_a_batch_over_http() -> None:
    web = await Web(asking_server().asgi()).greet(revision="2025-03-26")
    call = web.call("roots")
    question = await call.question()
    reply: Json = {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}
    assert (await web.post([reply]).end()).status == 202
    await call.end()
    assert call.events[1]["result"]["content"][0]["text"] == "[]"


async def test_answers_in_a_batch_that_is_refused_are_not_taken() -> None:
    web = await Web(asking_server().asgi()).greet({"roots": {}})
    call = web.call("roots")
    question = await call.question()
    reply: Json = {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}
    other: Json = {"uri": "file:///taken", "name": "taken"}
    refused = await web.post([{**reply, "result": {"roots": [other]}}]).end()
    assert refused.status == 400
    assert (await web.post(reply).end()).status == 202
    await call.end()
    assert call.events[1]["result"]["structuredContent"] == {"result": []}
