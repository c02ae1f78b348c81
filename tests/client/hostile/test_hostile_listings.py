"""Listings from a hostile server: every bad tool costs itself and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import ModuleType

import pytest

from anyshape.client import Client
from anyshape.errors import (
    AnyshapeError,
    InvalidSchema,
    LimitExceeded,
    OutputMismatch,
    ProtocolError,
    UnresolvableReference,
    UnsupportedDialect,
)

pytestmark = pytest.mark.usefixtures("unheld")

Open = Callable[..., contextlib.AbstractAsyncContextManager[Client]]

REASONS: dict[str, type[AnyshapeError]] = {
    "deep_300": LimitExceeded,
    "deep_3000": LimitExceeded,
    "external_http": UnresolvableReference,
    "external_https": UnresolvableReference,
    "external_file": UnresolvableReference,
    "external_relative": UnresolvableReference,
    "missing_pointer": UnresolvableReference,
    "unknown_dialect": UnsupportedDialect,
    "many_subschemas": LimitExceeded,
    "huge_document": LimitExceeded,
    "huge_pattern": LimitExceeded,
    "pattern_bomb": LimitExceeded,
    "number_beyond_range": ProtocolError,
    "twice": ProtocolError,
}


async def test_each_bad_tool_is_rejected_with_its_reason(
    request: pytest.FixtureRequest, open_client: Open, attacks: ModuleType
) -> None:
    is_http = "[http" in request.node.name
    async with open_client("entries") as client:
        tools = await client.list_tools()
        named = {name: type(reason) for name, reason in client.rejected.items() if name[0] != "#"}
        # What is wrong about headers matters where there are any.
        harmless = set[str]() if is_http else {name for name in attacks.ENTRIES if "header" in name}
        bad = attacks.ENTRIES.keys() - harmless
        assert named == {name: REASONS.get(name, InvalidSchema) for name in bad}
        nameless = [name for name in client.rejected if name[0] == "#"]
        assert len(nameless) == len(attacks.NAMELESS)
        assert {tool.name for tool in tools} == {"good", *harmless}
        assert await client.call("good", returns=int) == 42


async def test_a_rejected_tool_is_never_called(open_stdio_client: Open) -> None:
    async with open_stdio_client("entries") as client:
        with pytest.raises(ProtocolError, match="cannot be used") as raised:
            await client.call_tool("external_file")
        assert isinstance(raised.value.__cause__, UnresolvableReference)


async def test_an_exponential_output_schema_ends_within_its_budget(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        with pytest.raises(LimitExceeded):
            await client.call_tool("exponential")
        assert await client.call("good", returns=int) == 42


async def test_an_exponential_input_schema_ends_within_its_budget(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        with pytest.raises(AnyshapeError):
            await client.call_tool("exponential_input", {"a": 5})
        assert await client.call("good", returns=int) == 42


@pytest.mark.parametrize("name", ["catastrophic", "backtracking"])
async def test_a_catastrophic_pattern_ends_within_its_budget(
    open_stdio_client: Open, name: str
) -> None:
    async with open_stdio_client() as client:
        with pytest.raises((LimitExceeded, OutputMismatch)):
            await client.call_tool(name)
        assert await client.call("good", returns=int) == 42


async def test_comparing_many_items_ends_within_its_budget(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        with contextlib.suppress(LimitExceeded):
            result = await client.call_tool("unique")
            assert len(result.value) == 20_000
        assert await client.call("good", returns=int) == 42


async def test_two_schemas_with_one_id_do_not_meet(open_stdio_client: Open) -> None:
    async with open_stdio_client() as client:
        assert await client.call("same_id_a", returns=int) == 7
        assert await client.call("same_id_b", returns=str) == "seven"


@pytest.mark.parametrize(
    ("variant", "error"),
    [
        ("cursor_loop", LimitExceeded),
        ("cursor_number", ProtocolError),
        ("endless_pages", LimitExceeded),
        ("many_tools", LimitExceeded),
        ("heavy_pages", LimitExceeded),
    ],
)
async def test_a_list_that_goes_wrong_keeps_the_tools_before(
    open_client: Open, variant: str, error: type[AnyshapeError]
) -> None:
    async with open_client(variant) as client:
        with pytest.raises(error):
            await client.list_tools()
        assert await client.call("good", returns=int) == 42


@pytest.mark.parametrize("variant", ["tools_object", "no_tools"])
async def test_a_list_without_tools_is_an_error(open_client: Open, variant: str) -> None:
    async with open_client(variant) as client:
        with pytest.raises(ProtocolError, match="tools/list"):
            await client.list_tools()


async def test_strange_lifetimes_are_no_lifetimes(open_client: Open) -> None:
    async with open_client("strange_lifetimes") as client:
        assert [tool.name for tool in await client.list_tools()] == ["good"]
        assert await client.call("good", returns=int) == 42
