"""Tools disclosed by search: two definitions, whatever stands behind them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from patience import turn_until
from workshop import make_server

from anyshape import Client, Server
from anyshape.agents import toolbox
from anyshape.agents.ranking import Ranking, terms_of
from anyshape.providers import PROFILES

TOOLS = {
    "createInvoice": "Create an invoice for a customer.",
    "list_customers": "List all customers of the shop.",
    "get_weather": "Get the weather forecast of a city.",
    "send-email": "Send a message to somebody by e-mail.",
    "delete_file": "Delete a file from the disk.",
}


def make_shop() -> Server:
    server = Server("shop")
    for name, description in TOOLS.items():

        @server.tool(name=name, description=description)
        def give(city: str = "here", days: int = 1) -> dict[str, Any]:
            return {"city": city, "days": days}

    return server


def test_words_of_identifiers_are_told_apart() -> None:
    assert terms_of("createHTTPInvoices_v2, getUser-by.id") == [
        *("create", "http", "invoice", "v", "2", "get", "user", "by", "id")
    ]
    assert terms_of("größe 天気") == ["größe", "天気"]
    assert terms_of("address process") == ["address", "process"]


def test_rare_words_count_more_and_long_documents_less() -> None:
    ranking = Ranking([["get", "user"], ["get", "file"], ["get", "file", *["x"] * 30]])
    assert [index for index, _ in ranking.search("get file")] == [1, 2, 0]
    assert ranking.search("nothing of the kind") == []
    assert Ranking([]).search("anything") == []


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("invoice", "createInvoice"),
        ("which customers do we have?", "list_customers"),
        ("forecast", "get_weather"),
        ("write an email", "send-email"),
        ("remove files", "delete_file"),
    ],
)
async def test_a_tool_is_found_by_its_words_and_called(query: str, best: str) -> None:
    async with Client(make_shop()) as client:
        tools = await client.toolbox("openai", format="plain", search=True)
        assert [it["name"] for it in tools.definitions] == ["call_tool", "find_tools"]
        found = await tools.call("find_tools", {"query": query})
        first = json.loads(found["content"].splitlines()[0])
        assert first["name"] == best
        assert first["parameters"]["properties"].keys() == {"city", "days"}
        answer = await tools.call(
            "call_tool", {"name": best, "arguments": {"city": "Paris", "days": 2}}
        )
        assert answer["content"] == '{"city":"Paris","days":2}'


@pytest.mark.parametrize("profile", PROFILES)
async def test_every_profile_can_find_and_call(profile: str) -> None:
    async with Client(make_server()) as client:
        tools = await client.toolbox(profile, format="plain", search=True)
        found = await tools.call("find_tools", {"query": "pay with labels"})
        assert json.loads(found["content"].splitlines()[0])["name"] == "pay"
        arguments = tools.tools["pay"].lowered.rewrite({"amount": 3, "labels": {"a": "b"}})
        for given in (arguments, json.dumps(arguments)):
            answer = await tools.call("call_tool", {"name": "pay", "arguments": given})
            assert answer["content"] == '{"amount":3,"labels":{"a":"b"}}'


async def test_mistakes_are_told() -> None:
    async with Client(make_shop()) as client:
        tools = await client.toolbox("openai", format="plain", search=True)
        mistakes: list[tuple[str, dict[str, Any], str]] = [
            ("find_tools", {}, '"query"'),
            ("find_tools", {"query": "zebra"}, "createInvoice"),
            ("call_tool", {"name": "get_wether", "arguments": {}}, "'get_weather'"),
            ("call_tool", {"name": "get_weather", "arguments": {"days": "x"}}, "/days"),
            ("call_tool", {"name": "get_weather", "arguments": 5}, "/arguments"),
            ("get_weather", {}, "find_tools"),
        ]
        for name, arguments, words in mistakes:
            answer = await tools.call(name, arguments)
            assert words in answer["content"]
            assert answer["is_error"] is (arguments != {"query": "zebra"})


async def test_the_two_definitions_stay_when_tools_change_and_the_new_ones_are_found() -> None:
    server = make_shop()
    async with Client(server) as client:
        tools = await toolbox({"shop": client}, "anthropic", search=True)
        before = tools.definitions
        assert "shop" in json.dumps(before)
        server.tool(name="paint", description="Paint a zebra.")(lambda: "done")
        await turn_until(lambda: tools.is_stale)
        found = await tools.call("find_tools", {"query": "zebra"})
        assert '"paint"' in found["content"][0]["text"]
        assert tools.definitions == before
        answer = await tools.call("call_tool", {"name": "paint", "arguments": {}})
        assert answer["content"] == [{"type": "text", "text": "done"}]


async def test_what_a_search_returns_keeps_to_the_budget() -> None:
    async with Client(make_shop()) as client:
        everything = await client.toolbox("openai", format="plain", search=True)
        little = await client.toolbox("openai", format="plain", search=True, tokens=60)
        query = {"query": "city days"}
        assert len((await everything.call("find_tools", query))["content"].splitlines()) == 5
        assert len((await little.call("find_tools", query))["content"].splitlines()) == 1
        assert little.tokens == everything.tokens
