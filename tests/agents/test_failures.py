"""Whatever fails comes back as a result that tells the model what to do; nothing is raised."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from scripted import Scripted
from workshop import make_server

from anyshape import Client, Context, Server
from anyshape.agents.failures import unknown_tool
from anyshape.providers import PROFILES

Json = dict[str, Any]


NUMBER: Json = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def told(answer: Json) -> str:
    """Return the text of a result in the format of Anthropic, which has to be an error."""
    assert answer["is_error"] is True
    return "\n".join(part["text"] for part in answer["content"])


async def of_scripted(call: Any, **entry: Any) -> str:
    tool = {"name": "count", "inputSchema": NUMBER, **entry}
    async with Client(Scripted([tool], call), timeout=60) as client:
        tools = await client.toolbox("anthropic")
        return told(await tools.call("count", {"n": 1}, timeout=entry.get("timeout")))


async def test_an_unknown_tool_is_named_beside_those_that_there_are() -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")
        text = told(await tools.call("drew", {}))
        assert "'drew'" in text
        assert "Did you mean 'draw'" in text
        assert "pay" in text


def test_an_unknown_name_is_compared_with_strangers_names_within_a_bound() -> None:
    names = [f"{number:05}{'a' * 120}" for number in range(20_000)]
    started = time.process_time()
    (text,) = unknown_tool("a" * 190, [*names, "b" + "a" * 127]).parts
    assert "Did you mean 'baaa" in str(text)
    assert time.process_time() - started < 10


@pytest.mark.parametrize("text", ['{"amount": 1', "pay 5", "[1]", "5", '"five"', "NaN", "[" * 5000])
async def test_arguments_that_are_no_object_are_refused_in_words(text: str) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")
        found = told(await tools.call("pay", text))
        assert "pay" in found
        assert "JSON" in found or "nested" in found


@pytest.mark.parametrize(
    "text", ['{"reason": "x"}', b'{"reason": "x"}', '"{\\"reason\\": \\"x\\"}"', {"reason": "x"}]
)
async def test_arguments_come_as_text_or_as_an_object(text: Any) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")
        assert told(await tools.call("fail", text)) == "x"


@pytest.mark.parametrize("nothing", ["", "  ", None, {}])
async def test_no_arguments_are_an_empty_object(nothing: Any) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("openai", format="plain")
        answer = await tools.call({"name": "draw", "arguments": nothing})
        assert answer["is_error"] is False


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_authors_schema_is_enforced_whatever_the_profile_says(profile: str) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox(profile, format="plain")
        lowered = tools.tools["pay"].lowered
        good: Json = {"amount": 5, "labels": {"team": "ops"}}
        answer = await tools.call("pay", lowered.rewrite(good))
        assert answer["content"] == '{"amount":5,"labels":{"team":"ops"}}'
        bad = await tools.call("pay", {"amount": 0, "note": "x"})
        assert bad["is_error"]
        assert "/amount" in bad["content"]
        both = await tools.call("pay", {**lowered.rewrite(good), "note": "x"})
        assert both["is_error"]


async def test_a_refusal_of_the_server_is_told() -> None:
    async def call(params: Json) -> Json:
        return {"error": {"code": -32602, "message": "the moon is full"}}

    assert "the moon is full" in await of_scripted(call)


async def test_an_answer_that_breaks_its_schema_is_told_to_have_been_given() -> None:
    async def call(params: Json) -> Json:
        return {"content": [], "structuredContent": "seven"}

    text = await of_scripted(call, outputSchema={"type": "integer"})
    assert "seven" in text
    assert "may have taken effect" in text


async def test_silence_is_told_with_the_time_that_was_waited() -> None:
    async def call(params: Json) -> Json:
        await asyncio.Event().wait()
        return {}

    text = await of_scripted(call, timeout=0.05)
    assert "0.05 s" in text
    assert "may have taken effect" in text


async def test_a_closed_client_is_told() -> None:
    client = Client(make_server())
    async with client:
        tools = await client.toolbox("anthropic")
    assert "draw" in told(await tools.call("draw", {}))


async def test_a_mistake_of_ours_is_told_without_its_details(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")

        async def broken(*_: Any, **__: Any) -> Any:
            raise KeyError("secret")

        monkeypatch.setattr(client, "call_tool", broken)
        text = told(await tools.call("draw", {}))
    assert "secret" not in text
    assert "secret" in caplog.text


async def test_cancelling_is_no_failure() -> None:
    server = Server("slow")
    started = asyncio.Event()

    @server.tool
    async def wait(context: Context) -> None:
        started.set()
        await asyncio.Event().wait()

    async with Client(server) as client:
        tools = await client.toolbox("anthropic")
        task = asyncio.create_task(tools.call("wait", {}))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("thing", [7, object(), {"type": "text", "text": "hello"}, ["draw"]])
async def test_what_is_no_call_is_a_mistake_of_the_program(thing: Any) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")
        with pytest.raises(TypeError, match="expected a tool call"):
            await tools.call(thing)


async def test_many_problems_are_told_up_to_a_point() -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")
        text = told(await tools.call("pay", {f"x{'y' * 300}{n}": n for n in range(200)}))
        assert len(text) <= 4_000


async def test_arguments_that_are_nested_too_deeply_are_told() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"labels": deep}
    async with Client(make_server()) as client:
        tools = await client.toolbox("anthropic")
        assert "pay" in told(await tools.call("pay", deep))
