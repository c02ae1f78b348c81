"""A toolbox over one server or several: names, order, changes, and what is left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from patience import turn_until
from workshop import make_server

from anyshape import Client, Server
from anyshape.agents import toolbox
from anyshape.providers import PROFILES

Json = dict[str, Any]


def numbers(name: str, *tools: str) -> Server:
    """Return a server whose tools return their own names."""
    server = Server(name)
    for tool in tools:
        server.tool(name=tool, description=f"Give {tool}.")(_giver(f"{name}:{tool}"))
    return server


def _giver(text: str) -> Callable[[], str]:
    def give() -> str:
        return text

    return give


async def test_calls_run_side_by_side_and_are_answered_in_order() -> None:
    server = Server("order")
    arrived: list[int] = []
    all_there = asyncio.Event()

    @server.tool
    async def wait(n: int) -> int:
        arrived.append(n)
        if len(arrived) == 20:
            all_there.set()
        await all_there.wait()
        return n

    async with Client(server) as client:
        tools = await client.toolbox("anthropic")
        said = [{"type": "text", "text": "let me see"}]
        calls = [
            {"type": "tool_use", "id": f"c{n}", "name": "wait", "input": {"n": n}}
            for n in range(20)
        ]
        answers = await tools.call_all([*said, *calls])
    assert [it["tool_use_id"] for it in answers] == [f"c{n}" for n in range(20)]
    assert [it["content"][0]["text"] for it in answers] == [str(n) for n in range(20)]


@pytest.mark.parametrize("nothing", [None, [], [{"type": "text", "text": "done"}]])
async def test_a_turn_without_calls_has_no_results(nothing: Any) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("openai")
        assert await tools.call_all(nothing) == []


async def test_one_call_is_no_list_of_calls() -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("openai")
        with pytest.raises(TypeError, match="list"):
            await tools.call_all("draw")


async def test_tools_of_several_servers_go_by_their_labels() -> None:
    async with Client(numbers("one", "get")) as one, Client(numbers("two", "get", "put")) as two:
        by_name = await toolbox([one, two], "openai", format="plain")
        assert list(by_name.tools) == ["one_get", "two_get", "two_put"]
        assert (await by_name.call("two_get", {}))["content"] == "two:get"
        labelled = await toolbox({"a": one, "b": two}, "openai", format="plain")
        assert list(labelled.tools) == ["a_get", "b_get", "b_put"]
        assert (await labelled.call("a_get", {}))["content"] == "one:get"
        with pytest.raises(ValueError, match="labels"):
            await toolbox([one, one], "openai")


async def test_labels_and_names_that_run_together_are_told_apart() -> None:
    async with Client(numbers("x", "b_c")) as first, Client(numbers("y", "c")) as second:
        tools = await toolbox({"a": first, "a_b": second}, "openai", format="plain")
        assert len(tools) == 2
        assert all(name.startswith("a_b_c_") for name in tools.tools)
        answers = {(await tools.call(name, {}))["content"] for name in tools.tools}
        assert answers == {"x:b_c", "y:c"}
        assert [note.kind for note in tools.notes] == ["renamed", "renamed"]


async def test_a_server_that_is_gone_costs_its_own_tools() -> None:
    gone = Client(numbers("gone", "get"))
    async with Client(numbers("here", "get")) as here:
        async with gone:
            pass
        tools = await toolbox({"here": here, "gone": gone}, "openai")
        assert list(tools.tools) == ["here_get"]
        assert "could not be listed" in tools.left_out["gone"]
        async with gone:
            assert await tools.refresh()
            assert list(tools.tools) == ["gone_get", "here_get"]
            assert not tools.left_out
    with pytest.raises(Exception, match="open"):
        await gone.toolbox("openai")


async def test_names_are_mapped_both_ways_and_reported() -> None:
    async with Client(numbers("n", "a.b", "a_b", "c.d", "e")) as client:
        tools = await client.toolbox("openai", format="plain")
        by_original = {tool.tool.name: name for name, tool in tools.tools.items()}
        assert by_original["a_b"] == "a_b"
        assert by_original["c.d"] == "c_d"
        assert by_original["a.b"].startswith("a_b_")
        for original, name in by_original.items():
            assert (await tools.call(name, {}))["content"] == f"n:{original}"
        assert {note.tool for note in tools.notes} == {"a.b", "c.d"}
        described = {it["name"]: it["description"] for it in tools.definitions}
        assert described["c_d"] == "Give c.d."
        assert "a_b" in tools
        assert "a.b" not in tools


async def test_definitions_are_the_same_bytes_in_whatever_order_tools_are_listed() -> None:
    texts: set[str] = set()
    for names in (("b", "a.b", "c", "a_b"), ("a_b", "c", "b", "a.b")):
        async with Client(numbers("n", *names)) as client:
            texts.add(json.dumps((await client.toolbox("openai-strict")).definitions))
    assert len(texts) == 1


async def test_definitions_are_a_copy() -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("openai")
        tools.definitions[0]["function"]["parameters"]["properties"]["x"] = 1
        assert "x" not in tools.definitions[0]["function"]["parameters"]["properties"]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_change_of_the_list_is_noticed_and_taken_in_when_asked(revision: str) -> None:
    server = numbers("n", "first")
    async with Client(server, revision=revision) as client:
        tools = await client.toolbox("openai", format="plain")
        before = tools.definitions
        assert not tools.is_stale
        assert not await tools.refresh()
        server.tool(name="second")(lambda: 2)
        await turn_until(lambda: tools.is_stale)
        assert tools.definitions == before
        assert await tools.refresh()
        assert list(tools.tools) == ["first", "second"]
        assert not tools.is_stale
        server.remove_tool("first")
        await turn_until(lambda: tools.is_stale)
        answer = await tools.call("first", {})
        assert answer["is_error"]
        assert "second" in answer["content"]


async def test_a_list_that_somebody_else_fetched_is_noticed() -> None:
    server = numbers("n", "first")
    async with Client(server, listen=False, revision="2025-11-25") as client:
        tools = await client.toolbox("openai")
        server.tool(name="second")(lambda: 2)
        await client.list_tools()
        assert tools.is_stale
        assert await tools.refresh()


async def test_a_server_that_cannot_be_asked_keeps_its_tools() -> None:
    client = Client(numbers("n", "first"))
    async with client:
        tools = await client.toolbox("openai")
        client._tools.invalidate()
    assert tools.is_stale
    assert not await tools.refresh()
    assert list(tools.tools) == ["first"]


async def test_tools_over_the_bound_of_a_request_are_left_out_with_the_reason() -> None:
    async with Client(numbers("n", *(f"t{n:03}" for n in range(130)))) as client:
        tools = await client.toolbox("openai")
        assert len(tools.definitions) == 128
        assert set(tools.left_out) == {"t128", "t129"}
        assert "128" in tools.left_out["t129"]
        assert len((await client.toolbox("anthropic")).definitions) == 130


async def test_strict_tools_over_the_bound_of_a_request_are_offered_without() -> None:
    async with Client(numbers("n", *(f"t{n:03}" for n in range(25)))) as client:
        tools = await client.toolbox("anthropic-strict")
        assert [it.get("strict", False) for it in tools.definitions] == [True] * 20 + [False] * 5
        assert [note.kind for note in tools.notes] == ["not strict"] * 5
        assert (await tools.call("t024", {})).get("is_error", False) is False


async def test_a_tool_that_strict_refuses_is_offered_without() -> None:
    server = Server("wide")
    optional = {f"p{n}": {"type": "string"} for n in range(15)}
    schema: Json = {"type": "object", "properties": optional, "additionalProperties": False}

    @server.tool(input_schema=schema)
    def wide(arguments: dict[str, Any]) -> str:
        return "done"

    async with Client(server) as client:
        tools = await client.toolbox("anthropic-strict")
        assert "strict" not in tools.definitions[0]
        assert [note.kind for note in tools.notes] == ["not strict"]


async def test_where_every_tool_must_be_strict_none_is_offered_without() -> None:
    profile = replace(PROFILES["anthropic-strict"], fallback=None)
    async with Client(numbers("n", *(f"t{n:03}" for n in range(25)))) as client:
        tools = await client.toolbox(profile)
        assert [it["strict"] for it in tools.definitions] == [True] * 20
        assert len(tools.left_out) == 5


async def test_what_is_lost_is_listed_by_tool() -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox("openai-strict")
        assert tools.tools["pay"].losses
        assert not tools.tools["draw"].losses
        assert repr(tools).startswith("<Toolbox for openai-strict: 6 tools, ")


def test_a_client_has_no_list_before_it_is_open() -> None:
    assert Client(numbers("n", "first")).listed is None
