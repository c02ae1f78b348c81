"""What things are called, which are offered, and who has a name that two would have."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape import Client, Server
from anyshape.errors import AnyshapeError, ProtocolError
from anyshape.gateway import Gateway, Upstream
from anyshape.protocol.jsonrpc import INVALID_PARAMS


def server(*names: str) -> Server:
    made = Server("some")
    for name in names:

        @made.tool(name=name)
        async def tool() -> str:
            return "called"

    return made


async def names(gateway: Gateway) -> list[str]:
    async with Client(gateway) as client:
        return [tool.name for tool in await client.list_tools()]


async def test_one_upstream_keeps_its_names() -> None:
    assert await names(Gateway({"any": server("nums")})) == ["nums"]


async def test_of_several_each_name_begins_with_the_upstream() -> None:
    gateway = Gateway({"any": server("nums"), "other": server("nums")})
    assert await names(gateway) == ["any_nums", "other_nums"]


async def test_the_operator_names_and_chooses() -> None:
    upstream = Upstream(
        target=server("get_a", "get_b", "drop_all", "get_secret"),
        prefix="x.",
        rename={"get_a": "first"},
        allow=("get_*",),
        deny=("*secret*",),
    )
    assert await names(Gateway({"any": upstream, "b": server("c")})) == ["first", "x.get_b", "b_c"]


async def test_what_is_not_offered_cannot_be_called() -> None:
    gateway = Gateway({"any": Upstream(target=server("a", "b"), deny=("b",))})
    async with Client(gateway, check_arguments=False) as client:
        with pytest.raises(ProtocolError) as refused:
            await client.call_tool("b")
        assert refused.value.code == INVALID_PARAMS


@pytest.fixture
def notes() -> Server:
    made = server("get_a")

    @made.resource("note:index")
    def index() -> str:
        return "all"

    @made.resource("file:///key")
    def key() -> str:
        return "secret"

    @made.resource("note:{name}")
    def note(name: str) -> str:
        return name

    return made


@pytest.mark.parametrize(
    ("patterns", "uris", "templates"),
    [
        ({}, ["note:index", "file:///key"], ["note:{name}"]),
        ({"allow": ("get_*",)}, [], []),
        ({"allow": ("get_*", "note:index")}, ["note:index"], []),
        ({"allow": ("note:*",)}, ["note:index"], ["note:{name}"]),
        ({"deny": ("file:*", "note:{*")}, ["note:index"], []),
    ],
)
async def test_patterns_choose_resources_by_their_uris(
    notes: Server, patterns: dict[str, Any], uris: list[str], templates: list[str]
) -> None:
    async with Client(Gateway({"any": Upstream(target=notes, **patterns)})) as client:
        assert [each.uri for each in await client.list_resources()] == uris
        found = await client.list_resource_templates()
        assert [each.uri_template for each in found] == templates


@pytest.mark.parametrize("uri", ["note:secret", "note:%73ecret", "file:///key"])
async def test_a_resource_that_is_denied_is_neither_read_nor_watched(
    notes: Server, uri: str
) -> None:
    upstream = Upstream(target=notes, deny=("note:sec*", "file:*"))
    async with Client(Gateway({"any": upstream})) as client:
        assert (await client.read_resource("note:other")).text == "other"
        with pytest.raises(ProtocolError, match="Resource not found"):
            await client.read_resource(uri)
        with pytest.raises(AnyshapeError):
            await client.subscribe(uri, lambda _: None)


async def test_of_two_with_one_name_the_first_is_offered_and_the_other_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gateway = Gateway(
        {
            "one": Upstream(target=server("same"), prefix=""),
            "two": Upstream(target=server("same", "own"), prefix=""),
        }
    )
    async with Client(gateway) as client:
        assert [tool.name for tool in await client.list_tools()] == ["same", "own"]
        (collision,) = gateway.collisions
        assert (collision.name, collision.holder, collision.other) == ("same", "one", "two")
    assert "upstream 'one' has one of that name" in caplog.text


async def test_a_name_that_an_upstream_has_twice_by_renaming_is_reported_too() -> None:
    upstream = Upstream(target=server("first", "second"), rename={"second": "first"})
    gateway = Gateway({"one": upstream})
    async with Client(gateway) as client:
        assert [tool.name for tool in await client.list_tools()] == ["first"]
        (collision,) = gateway.collisions
        assert (collision.name, collision.holder, collision.other) == ("first", "one", "one")


def test_a_gateway_without_upstreams_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one upstream"):
        Gateway({})


@pytest.mark.parametrize("target", [5, None, "weather", "ftp://example.com", [], [1], object()])
def test_what_cannot_be_connected_to_is_refused_when_the_gateway_is_made(target: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^Upstream\(.*expected"):
        Gateway({"weather": target})


def test_a_revision_that_there_is_not_is_refused_when_the_upstream_is_described() -> None:
    with pytest.raises(ValueError, match="revision='2099-01-01': expected"):
        Upstream(target="https://example.com/mcp", revision="2099-01-01")
