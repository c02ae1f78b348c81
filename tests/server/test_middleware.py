"""Functions around every request: they see it, change it, refuse it or answer it."""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Mapping
from typing import Annotated, Any, cast

import pytest
from patience import turn_until

from anyshape import Ask, Client, Context, ProtocolError, Server, ToolError, ToolResult
from anyshape.protocol.revision import RELEASED
from anyshape.server import MiddlewareAnswer, MiddlewareRequest, Proceed, ServerOptions

from .asking import Asker
from .visiting import META, Visit, call


@pytest.fixture
def server() -> Server:
    """A server with one of each."""
    server = Server("layered", options=ServerOptions(max_concurrent_calls=1))

    @server.tool
    async def double(number: int) -> int:
        return 2 * number

    @server.tool
    async def wait() -> str:
        await asyncio.sleep(0)
        return "waited"

    @server.prompt
    async def greet(name: str) -> str:
        return f"hello {name}"

    @server.resource("layered://notes")
    async def notes() -> str:
        return "notes"

    return server


REVISIONS = [str(revision) for revision in RELEASED]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_request_is_seen_with_what_it_asks_for(server: Server, revision: str) -> None:
    seen: list[tuple[str, str | None]] = []

    @server.middleware
    async def audit(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        seen.append((request.method, request.name))
        assert request.revision == revision or request.method == "initialize"
        return await proceed(request)

    asker = Asker(server, revision)
    if not asker.revision.is_modern:
        await asker.shake_hands()
    await asker.result("tools/list")
    await asker.result("tools/call", name="double", arguments={"number": 2})
    await asker.result("prompts/get", name="greet", arguments={"name": "Ada"})
    await asker.result("resources/read", uri="layered://notes")
    assert seen[-4:] == [
        ("tools/list", None),
        ("tools/call", "double"),
        ("prompts/get", "greet"),
        ("resources/read", "layered://notes"),
    ]
    assert seen[:-4] == ([] if asker.revision.is_modern else [("initialize", None)])


async def test_without_changes_the_answer_is_byte_for_byte_the_same(server: Server) -> None:
    frame = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "double",
                "arguments": {"number": 2},
                "_meta": META,
            },
        }
    ).encode()
    before = await server.connect(lambda _: None).handle(frame)
    server.middleware(pass_on)
    assert await server.connect(lambda _: None).handle(frame) == before


async def pass_on(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
    return await proceed(request)


async def test_the_first_one_added_is_outermost(server: Server) -> None:
    order: list[str] = []

    def layer(name: str) -> Any:
        async def around(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
            order.append(f"into {name}")
            answer = await proceed(request)
            order.append(f"out of {name}")
            return answer

        return around

    server.middleware(layer("a"))
    server.middleware(layer("b"))
    await Asker(server).result("tools/list")
    assert order == ["into a", "into b", "out of b", "out of a"]


async def test_parameters_can_be_replaced(server: Server) -> None:
    @server.middleware
    async def add_one(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.name == "double":
            number = request.params["arguments"]["number"]
            params = {**request.params, "arguments": {"number": number + 1}}
            request = request.replacing(params)
            assert request.name == "double"
        return await proceed(request)

    for revision in REVISIONS:
        async with Client(server, revision=revision) as client:
            assert await client.call("double", {"number": 20}, returns=int) == 42
    asker = Asker(server)
    answer = await asker.result("tools/call", name="double", arguments={"number": 2**60 - 1})
    assert answer["structuredContent"] == 2**61


async def test_replaced_parameters_are_checked_as_any_others(server: Server) -> None:
    @server.middleware
    async def spoil(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        return await proceed(request.replacing({"name": request.params["arguments"]["name"]}))

    asker = Asker(server)
    result = await asker.result("tools/call", name="double", arguments={"name": "double"})
    assert result["isError"] is True
    error = await asker.error("tools/call", name="double", arguments={"name": 7})
    assert error["code"] == -32602


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_tool_error_refuses_in_words_for_the_model(server: Server, revision: str) -> None:
    @server.middleware
    async def refuse(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.method in ("tools/call", "prompts/get"):
            raise ToolError("ask your administrator")
        return await proceed(request)

    asker = Asker(server, revision)
    for name in ("double", "nothing"):
        refused = await asker.result("tools/call", name=name, arguments={})
        assert refused["isError"] is True
        assert refused["content"] == [{"type": "text", "text": "ask your administrator"}]
    error = await asker.error("prompts/get", name="greet", arguments={"name": "Ada"})
    assert error == {"code": -32603, "message": "ask your administrator"}


async def test_a_protocol_error_is_told_as_it_is_and_others_are_not(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    @server.middleware
    async def refuse(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.method == "tools/list":
            raise ProtocolError("not for you", code=4711, data={"why": "no"})
        raise ValueError("the password is 1234")

    asker = Asker(server)
    assert await asker.error("tools/list") == {
        "code": 4711,
        "message": "not for you",
        "data": {"why": "no"},
    }
    error = await asker.error("prompts/list")
    assert error == {"code": -32603, "message": "Internal error"}
    assert "the password is 1234" in caplog.text


@pytest.mark.parametrize("code", [404, 406, 429, 503])
async def test_a_code_of_its_own_is_no_word_on_the_connection(server: Server, code: int) -> None:
    @server.middleware
    async def refuse(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        raise ProtocolError("no such user", code=code)

    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for visit in (call("double"), Visit(body)):
        reply = await visit.to(server.asgi())
        assert (reply.status, reply.json["error"]["code"]) == (200, code)


@pytest.mark.parametrize(
    "error", [ProtocolError("no", data=object()), ProtocolError("no \ud800")], ids=["data", "words"]
)
async def test_an_error_that_cannot_be_written_is_an_internal_one(
    server: Server, error: ProtocolError, caplog: pytest.LogCaptureFixture
) -> None:
    @server.middleware
    async def refuse(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        raise error

    told = await Asker(server).error("tools/list")
    assert told == {"code": -32603, "message": "Internal error"}
    assert "cannot be written" in caplog.text


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_result_of_its_own_has_the_shape_of_the_revision(
    server: Server, revision: str
) -> None:
    @server.middleware
    async def answer(
        request: MiddlewareRequest, proceed: Proceed
    ) -> MiddlewareAnswer | ToolResult[Any]:
        if request.method == "tools/call":
            return ToolResult(structured=7)
        return await proceed(request)

    async with Client(server, revision=revision) as client:
        assert await client.call("double", {"number": 1}, returns=int) == 7
    asker = Asker(server, revision)
    unknown = await asker.result("tools/call", name="nowhere")
    assert unknown["content"] == [{"type": "text", "text": "7"}]


async def test_a_result_of_its_own_is_checked_like_the_tools(server: Server) -> None:
    @server.middleware
    async def answer(
        request: MiddlewareRequest, proceed: Proceed
    ) -> MiddlewareAnswer | ToolResult[Any]:
        if request.method == "tools/call":
            return ToolResult(structured="seven")
        return await proceed(request)

    result = await Asker(server).result("tools/call", name="double", arguments={"number": 1})
    assert result["isError"] is True


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_mapping_is_the_result_as_the_wire_has_it(server: Server, revision: str) -> None:
    @server.middleware
    async def answer(
        request: MiddlewareRequest, proceed: Proceed
    ) -> MiddlewareAnswer | Mapping[str, Any]:
        answer = await proceed(request)
        if request.method != "tools/list":
            return answer
        return {**answer.value, "tools": [], "_meta": {"layered.example/empty": True}}

    asker = Asker(server, revision)
    result = await asker.result("tools/list")
    assert result["tools"] == []
    assert result["_meta"]["layered.example/empty"] is True
    assert ("io.modelcontextprotocol/serverInfo" in result["_meta"]) == asker.revision.is_modern


async def test_an_answer_that_is_none_is_an_internal_error(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def forget(request: MiddlewareRequest, proceed: Proceed) -> None:
        await proceed(request)

    server.middleware(cast("Any", forget))
    error = await Asker(server).error("tools/list")
    assert error["code"] == -32603
    assert "middleware has to answer tools/list with what proceed returned" in caplog.text


def test_what_is_not_async_is_refused_when_it_is_added(server: Server) -> None:
    def around(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        raise NotImplementedError

    with pytest.raises(TypeError, match="middleware has to be an async function"):
        server.middleware(cast("Any", around))


async def test_answers_can_be_kept(server: Server) -> None:
    kept: dict[Any, MiddlewareAnswer] = {}
    calls: list[str] = []

    class Cache:
        async def __call__(self, request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
            if request.method != "tools/call":
                return await proceed(request)
            key = (request.revision, request.name, json.dumps(request.params["arguments"]))
            if key not in kept:
                calls.append(json.dumps(request.params["arguments"]))
                kept[key] = await proceed(request)
                assert not kept[key].is_error
            return kept[key]

    server.middleware(Cache())
    asker = Asker(server)
    for number in (1, 2, 1):
        result = await asker.result("tools/call", name="double", arguments={"number": number})
        assert result["structuredContent"] == 2 * number
    assert calls == ['{"number": 1}', '{"number": 2}']


who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


async def test_tools_see_context_variables_that_were_set_and_the_next_call_does_not() -> None:
    server = Server("contextual")

    @server.middleware
    async def set_who(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.name == "inline":
            who.set("somebody")
        return await proceed(request)

    @server.tool
    async def inline(context: Context) -> str:
        return who.get()

    @server.tool
    def threaded() -> str:
        return who.get()

    for name, found in (("inline", "somebody"), ("threaded", "nobody")):
        reply = await asyncio.create_task(call(name).to(server.asgi()))
        assert reply.json["result"]["structuredContent"] == found


async def test_a_layer_that_waits_costs_a_call_neither_its_room_nor_its_time() -> None:
    server = Server("slow", options=ServerOptions(max_concurrent_calls=1, call_timeout=0.01))

    @server.middleware
    async def look_up(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        await asyncio.sleep(0)
        return await proceed(request)

    @server.tool
    async def hang() -> None:
        await asyncio.Event().wait()

    @server.tool
    async def nap() -> str:
        await asyncio.sleep(0)
        return "rested"

    asker = Asker(server)
    assert (await asker.result("tools/call", name="nap"))["structuredContent"] == "rested"
    late = await asker.result("tools/call", name="hang")
    assert late["isError"] is True
    assert "did not finish within 0.01 seconds" in late["content"][0]["text"]
    assert (await asker.result("tools/call", name="nap"))["structuredContent"] == "rested"


async def test_subscriptions_that_passed_a_layer_take_no_room_of_calls(server: Server) -> None:
    @server.middleware
    async def look_up(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        await asyncio.sleep(0)
        return await proceed(request)

    asker = Asker(server)
    listening = asyncio.create_task(
        asker.ask("subscriptions/listen", notifications={"toolsListChanged": True})
    )
    await turn_until(lambda: asker.sent)
    assert (await asker.result("tools/call", name="wait"))["structuredContent"] == "waited"
    await asker.connection.close()
    await listening
    assert (await Asker(server).result("tools/call", name="wait"))["structuredContent"] == "waited"


async def test_who_asks_is_known_on_every_transport(server: Server) -> None:
    seen: list[tuple[Any, Any, Any]] = []

    @server.middleware
    async def look(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        seen.append((request.address, request.connection, request.client))
        assert request.access is None
        assert request.state is None
        return await proceed(request)

    asker = Asker(server)
    info = {"io.modelcontextprotocol/clientInfo": {"name": "me", "version": "1"}}
    await asker.result("tools/list", _meta=info)
    assert seen[-1] == (None, asker.connection, {"name": "me", "version": "1"})
    await call("double", {"number": 1}).to(server.asgi())
    assert seen[-1] == ("10.9.9.9", None, None)


async def test_a_question_to_the_user_is_an_answer_and_then_there_is_another() -> None:
    server = Server("asking")
    seen: list[tuple[bool, bool]] = []

    @server.middleware
    async def look(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        await asyncio.sleep(0)
        answer = await proceed(request)
        if request.method == "tools/call":
            seen.append((answer.is_question, answer.is_error))
        return answer

    @server.tool
    async def erase(sure: Annotated[bool, Ask("Really?")]) -> bool:
        return sure

    for revision, rounds in (("2025-11-25", 1), ("2026-07-28", 2)):
        seen.clear()
        async with Client(server, revision=revision, on_elicit=lambda _: {"value": True}) as client:
            assert await client.call("erase", returns=bool) is True
        assert seen == [(True, False), (False, False)][-rounds:]


async def test_each_request_of_a_batch_passes_and_notifications_do_not(server: Server) -> None:
    seen: list[bytes] = []

    @server.middleware
    async def count(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        seen.append(request.id)
        return await proceed(request)

    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "two", "method": "ping"},
    ]
    reply = await Visit(batch, headers={"mcp-protocol-version": "2025-03-26"}).to(server.asgi())
    assert [each["id"] for each in reply.json] == [1, "two"]
    assert seen == [b"1", b'"two"']
