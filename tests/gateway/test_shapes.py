"""What clients of each age see of upstreams of each age: values, schemas, text."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from anyshape import Client, Server
from anyshape.gateway import Gateway, Upstream

MODERN, LATER, OLDER, OLDEST = "2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"


class User(TypedDict):
    name: str


class Answer(TypedDict):
    result: int


@pytest.fixture
def fleet() -> Server:
    server = Server("fleet")

    @server.tool
    async def numbers() -> list[int]:
        return [1, 2]

    @server.tool
    async def nothing() -> None:
        return None

    @server.tool
    async def word() -> str:
        return "hi"

    @server.tool
    async def user() -> User:
        return {"name": "Kim"}

    @server.tool
    async def either(big: bool = False) -> User | int:
        return {"name": "Kim"} if big else 3

    @server.tool
    async def meant() -> Answer:
        return {"result": 3}

    return server


VALUES: dict[str, Any] = {
    "numbers": [1, 2],
    "nothing": None,
    "word": "hi",
    "user": {"name": "Kim"},
    "either": 3,
}


@pytest.mark.parametrize("upstream", [MODERN, LATER, OLDER])
async def test_a_modern_client_gets_natural_values_and_schemas(
    fleet: Server, upstream: str
) -> None:
    gateway = Gateway({"fleet": Upstream(target=fleet, revision=upstream)})
    async with Client(gateway, revision=MODERN) as client, Client(fleet, revision=MODERN) as direct:
        tools = {tool.name: tool for tool in await client.list_tools()}
        natural = {tool.name: tool for tool in await direct.list_tools()}
        for name, value in VALUES.items():
            result = await client.call_tool(name)
            assert result.raw["structuredContent"] == value
            assert tools[name].output_schema == natural[name].output_schema


@pytest.mark.parametrize("upstream", [MODERN, LATER])
async def test_a_client_of_2025_gets_an_envelope_where_it_needs_one(
    fleet: Server, upstream: str
) -> None:
    gateway = Gateway({"fleet": Upstream(target=fleet, revision=upstream)})
    async with Client(gateway, revision=OLDER, unwrap=False) as client:
        for name, value in VALUES.items():
            wire = (await client.call_tool(name)).raw["structuredContent"]
            assert wire == (value if name == "user" else {"result": value})


@pytest.mark.parametrize("upstream", [MODERN, LATER, OLDEST])
async def test_the_oldest_clients_get_text(fleet: Server, upstream: str) -> None:
    gateway = Gateway({"fleet": Upstream(target=fleet, revision=upstream)})
    async with Client(gateway, revision=OLDEST) as client:
        result = await client.call_tool("numbers")
        assert "structuredContent" not in result.raw
        assert result.text == "[1,2]"
        assert (await client.call_tool("word")).text == "hi"


@pytest.mark.parametrize("front", [MODERN, LATER, OLDEST])
async def test_of_the_oldest_upstreams_there_is_text(fleet: Server, front: str) -> None:
    gateway = Gateway({"fleet": Upstream(target=fleet, revision=OLDEST)})
    async with Client(gateway, revision=front) as client:
        (tool, *_) = await client.list_tools()
        assert tool.output_schema is None
        result = await client.call_tool("numbers")
        assert (result.has_value, result.text) == (False, "[1,2]")


@pytest.mark.parametrize("upstream", [MODERN, LATER])
@pytest.mark.parametrize("front", [MODERN, LATER])
async def test_an_object_that_its_author_meant_is_not_opened(
    fleet: Server, upstream: str, front: str
) -> None:
    gateway = Gateway({"fleet": Upstream(target=fleet, revision=upstream)})
    async with Client(gateway, revision=front, unwrap=False) as client:
        for _ in range(2):
            result = await client.call_tool("meant")
            assert result.raw["structuredContent"] == {"result": 3}


async def test_text_that_repeats_the_value_is_there_once(fleet: Server) -> None:
    gateway = Gateway({"fleet": Upstream(target=fleet, revision=LATER)})
    async with Client(gateway, revision=MODERN) as client:
        result = await client.call_tool("word")
        assert [block.text for block in result.content] == ['"hi"']  # type: ignore[union-attr]


async def test_schemas_keep_what_they_refer_to() -> None:
    server = Server("trees")
    tree = {
        "type": "array",
        "items": {"$ref": "#/$defs/Node"},
        "$defs": {"Node": {"type": "object", "properties": {"below": {"$ref": "#"}}}},
    }

    @server.tool(output_schema=tree)
    async def grow() -> Any:
        return [{"below": []}]

    gateway = Gateway({"trees": Upstream(target=server, revision=LATER)})
    async with Client(gateway, revision=MODERN) as client:
        (tool,) = await client.list_tools()
        assert tool.output_schema == tree
        assert (await client.call_tool("grow")).value == [{"below": []}]
