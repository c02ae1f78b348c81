"""A call through the gateway: arguments, content, errors, progress, cancellation, trust."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Client, Context, Image, Server, Text, ToolError, ToolResult
from anyshape.client import Progress
from anyshape.decoding import decode_json
from anyshape.errors import ProtocolError, ResourceNotFound
from anyshape.gateway import Gateway, Upstream, tools
from anyshape.server import MiddlewareAnswer, MiddlewareRequest, Proceed


@pytest.fixture
def upstream() -> Server:
    return Server("upstream")


async def test_wrong_arguments_are_refused_before_they_leave(upstream: Server) -> None:
    reached: list[int] = []

    @upstream.tool
    async def double(n: int) -> int:
        reached.append(n)
        return 2 * n

    async with Client(Gateway({"up": upstream}), check_arguments=False) as client:
        result = await client.call_tool("double", {"n": "three"})
        assert result.is_error
        assert "/n" in result.text
        assert (await client.call_tool("double", {"n": 4})).value == 8
    assert reached == [4]


@pytest.mark.parametrize(
    ("check", "is_error"), [("enforce", True), ("warn", False), ("off", False)]
)
async def test_the_operator_says_what_becomes_of_a_value_that_breaks_its_schema(
    check: Any, is_error: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Liar(Server):
        def connect(self, send: Any) -> Any:
            return _Lying(super().connect(send))

    server = Liar("liar")

    @server.tool
    async def count() -> int:
        return 12345

    caplog.set_level(logging.WARNING)
    async with Client(
        Gateway({"up": Upstream(target=server, check=check)}), check_results=False
    ) as (client):
        result = await client.call_tool("count")
        assert result.is_error is is_error
        if not is_error:
            assert result.value == "12345"
        assert ("breaks" in caplog.text) is (check != "off")


async def test_a_value_is_not_judged_on_the_event_loop_if_that_would_have_to_wait(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside: list[Any] = []

    async def note(function: Any, *given: Any) -> Any:
        aside.append(given)
        return await judge_aside(function, *given)

    class Liar(Server):
        def connect(self, send: Any) -> Any:
            return _Lying(super().connect(send))

    server = Liar("liar")

    @server.tool(output_schema={"type": "integer", "pattern": "^(?=no)"})
    async def count() -> int:
        return 12345

    judge_aside = tools.aside
    monkeypatch.setattr(tools, "aside", note)
    caplog.set_level(logging.WARNING)
    gateway = Gateway({"up": Upstream(target=server, check="warn")})
    async with Client(gateway, check_results=False) as client:
        assert (await client.call_tool("count")).value == "12345"
    assert ("12345",) in aside
    assert "breaks its schema" in caplog.text


class _Lying:
    """A connection whose numbers are strings, whatever was listed."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def handle(self, frame: bytes) -> bytes | None:
        answer = await self._connection.handle(frame)
        return answer and answer.replace(
            b'"structuredContent":12345', b'"structuredContent":"12345"'
        )

    async def close(self) -> None:
        await self._connection.close()


async def test_content_errors_and_metadata_pass_through(upstream: Server) -> None:
    @upstream.tool
    async def picture() -> ToolResult[int]:
        return ToolResult(7, [Text("see:"), Image(b"\x89PNG", "image/png")], meta={"a": 1})

    @upstream.tool
    async def fail() -> int:
        raise ToolError("no luck today")

    async with Client(Gateway({"up": upstream})) as client:
        result = await client.call_tool("picture")
        assert result.value == 7
        assert [type(block).__name__ for block in result.content] == ["Text", "Image", "Text"]
        assert result.meta["a"] == 1
        failed = await client.call_tool("fail")
        assert (failed.is_error, failed.text) == (True, "no luck today")


@pytest.mark.parametrize("text", ["[1]", '{"result": 1}'])
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_true_is_not_taken_for_one(upstream: Server, revision: str, text: str) -> None:
    @upstream.tool(output_schema=True)
    async def flag() -> ToolResult[Any]:
        return ToolResult(structured=[True] if text == "[1]" else True, content=[text])

    for server in (upstream, Gateway({"up": upstream})):
        async with Client(server, revision=revision) as client:
            result = await client.call_tool("flag")
            assert repr(result.value) == ("[True]" if text == "[1]" else "True")
            assert text in result.text.splitlines()


async def test_long_texts_are_not_read_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    server, long = Server("any"), json.dumps([1.5] * 300_000)
    on_loop: list[str] = []

    @server.tool(output_schema={"type": "array"})
    async def numbers(text: str) -> ToolResult[Any]:
        return ToolResult(structured=[1, 2], content=[long if text == "long" else text])

    def read(text: str) -> Any:
        if threading.current_thread() is threading.main_thread():
            on_loop.append(text)
        return decode_json(text)

    monkeypatch.setattr(tools, "decode_json", read)
    async with Client(Gateway({"any": server})) as client:
        for text in ("[3]", "long"):
            assert await client.call("numbers", {"text": text}) == [1, 2]
    assert "[3]" in on_loop
    assert long not in on_loop


async def test_progress_and_the_metadata_of_a_request_travel_both_ways(upstream: Server) -> None:
    seen: list[Any] = []

    @upstream.tool
    async def work(context: Context) -> str:
        seen.append(context.meta.get("traceparent"))
        context.progress(1, 2, "half")
        return "done"

    reports: list[Progress] = []
    async with Client(Gateway({"up": upstream})) as client:
        meta = {"traceparent": "00-1-2-01"}
        await client.call_tool("work", meta=meta, on_progress=reports.append)
    assert seen == ["00-1-2-01"]
    assert reports == [Progress(1, 2, "half")]


async def test_a_call_that_is_given_up_is_given_up_upstream(upstream: Server) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @upstream.tool
    async def wait() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async with Client(Gateway({"up": upstream})) as client:
        call = asyncio.create_task(client.call_tool("wait"))
        await started.wait()
        call.cancel()
        async with asyncio.timeout(PATIENCE):
            await ended.wait()


async def test_prompts_resources_and_suggestions_pass_through(upstream: Server) -> None:
    from typing import Literal

    @upstream.prompt
    async def greet(name: str, tone: Literal["warm", "cool"] = "warm") -> str:
        return f"Say {name}, {tone}"

    @upstream.resource("note://all", mime_type="text/markdown")
    async def notes() -> str:
        return "# all"

    @upstream.resource("note://{id}")
    async def note(id: int) -> bytes:
        if id > 9:
            raise ResourceNotFound
        return bytes([id])

    for revision in ("2026-07-28", "2025-11-25"):
        async with Client(Gateway({"up": upstream}), revision=revision) as client:
            (prompt,) = await client.list_prompts()
            assert [each.name for each in prompt.arguments] == ["name", "tone"]
            found = await client.get_prompt("greet", {"name": "Kim"})
            assert found.text == "Say Kim, warm"
            suggested = await client.complete("tone", "w", prompt="greet")
            assert suggested.values == ("warm",)
            (resource,) = await client.list_resources()
            assert (resource.uri, resource.mime_type) == ("note://all", "text/markdown")
            assert (await client.read_resource("note://all")).text == "# all"
            assert (await client.read_resource("note://3")).data == b"\x03"
            with pytest.raises(ProtocolError):
                await client.read_resource("note://10")
            with pytest.raises(ProtocolError, match="name"):
                await client.get_prompt("greet")


@pytest.mark.parametrize("code", [-32700, -32600, 404, 406, 429, 503])
async def test_an_error_of_an_upstream_says_nothing_of_the_clients_own_connection(
    upstream: Server, code: int
) -> None:
    @upstream.middleware
    async def fail(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.method == "tools/call":
            raise ProtocolError("no such order", code=code, data={"order": 3})
        return await proceed(request)

    @upstream.tool
    async def order() -> int:
        return 3

    async with Client(Gateway({"up": upstream})) as client:
        with pytest.raises(ProtocolError, match="no such order") as caught:
            await client.call_tool("order")
    assert caught.value.code == -32603  # by the others, HTTP would end or put off the connection
    assert caught.value.data == {"order": 3}
