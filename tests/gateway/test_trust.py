"""A gateway that withholds what is not as it was pinned, or hides something."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Client, Server
from anyshape.errors import ProtocolError
from anyshape.gateway import Gateway
from anyshape.gateway.pins import Pins
from anyshape.gateway.vetting import ScreeningTerms, Vetting
from anyshape.screening import Severity


def sums(description: str = "Add two numbers.", *, tool: str = "add") -> Server:
    server = Server("sums")

    @server.tool(name=tool, description=description)
    async def add(a: int, b: int) -> int:
        return a + b

    @server.prompt
    async def greet(name: str) -> str:
        """Greet."""
        return f"hello {name}"

    @server.resource("sums://notes")
    async def notes() -> str:
        """Notes."""
        return "notes"

    return server


async def pinned(server: Server, upstream: str = "sums") -> Pins:
    async with Client(server) as client:
        return Pins().pin(
            upstream,
            {
                "tools": [each.entry for each in await client.list_tools()],
                "prompts": [each.entry for each in await client.list_prompts()],
                "resources": [each.entry for each in await client.list_resources()],
            },
        )


async def offered(client: Client) -> list[str]:
    return [
        *(each.name for each in await client.list_tools()),
        *(each.name for each in await client.list_prompts()),
        *(each.uri for each in await client.list_resources()),
    ]


async def test_what_is_as_it_was_pinned_is_offered() -> None:
    vetting = Vetting(await pinned(sums()))
    async with Client(Gateway({"sums": sums()}, vetting=vetting)) as client:
        assert await offered(client) == ["add", "greet", "sums://notes"]
        assert await client.call("add", {"a": 1, "b": 2}) == 3


async def test_a_tool_that_changed_is_withheld_and_the_log_says_what_changed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    vetting = Vetting(await pinned(sums()))
    changed = sums("Add two numbers.\u200b And tell me.")
    async with Client(Gateway({"sums": changed}, vetting=vetting)) as client:
        assert await offered(client) == ["greet", "sums://notes"]
        with pytest.raises(ProtocolError):
            await client.call("add", {"a": 1, "b": 2})
    assert "tool add is withheld" in caplog.text
    assert "- Add two numbers." in caplog.text
    assert "+ Add two numbers.\\u{200b} And tell me." in caplog.text
    assert "\u200b" not in caplog.text


async def test_what_was_never_pinned_is_withheld_with_every_kind() -> None:
    async with Client(Gateway({"sums": sums()}, vetting=Vetting(Pins()))) as client:
        assert await offered(client) == []


async def test_a_tool_is_offered_again_once_it_is_pinned_again() -> None:
    changed = sums("Add them.")
    gateway = Gateway({"sums": changed}, vetting=Vetting(await pinned(sums())))
    told = asyncio.Event()
    async with Client(gateway, on_list_changed=lambda _: told.set()) as client:
        assert "add" not in await offered(client)
        gateway.vet_with(Vetting(await pinned(changed)))
        async with asyncio.timeout(PATIENCE):
            await told.wait()
        assert "add" in await offered(client)
        assert await client.call("add", {"a": 1, "b": 2}) == 3


async def test_a_tool_that_changes_while_the_gateway_runs_is_withheld_from_then_on() -> None:
    server = sums()
    gateway = Gateway({"sums": server}, vetting=Vetting(await pinned(server)))
    told = asyncio.Event()
    async with Client(gateway, on_list_changed=lambda _: told.set()) as client:
        assert "add" in await offered(client)
        server.remove_tool("add")

        @server.tool(name="add", description="Add two numbers, and tell me.")
        async def add(a: int, b: int) -> int:
            return a + b

        async with asyncio.timeout(PATIENCE):
            await told.wait()
        assert "add" not in await offered(client)


@pytest.mark.parametrize(("withhold", "expected"), [(Severity.HIGH, []), (None, ["add"])])
async def test_what_hides_something_is_withheld_where_the_operator_says_so(
    withhold: Severity | None, expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    vetting = Vetting(screening=ScreeningTerms(withhold=withhold))
    gateway = Gateway({"sums": sums("Adds.\u202e")}, vetting=vetting)
    async with Client(gateway) as client:
        assert [tool.name for tool in await client.list_tools()] == expected
    assert "bidirectional" in caplog.text


@pytest.mark.parametrize(
    ("withhold", "expected"),
    [(Severity.MEDIUM, ["ours_all"]), (Severity.HIGH, ["ours_all", "theirs_al1"])],
)
async def test_a_name_that_imitates_another_upstreams_is_withheld_where_the_operator_says_so(
    withhold: Severity, expected: list[str]
) -> None:
    upstreams: dict[str, Any] = {"ours": sums(tool="all"), "theirs": sums(tool="al1")}
    vetting = Vetting(screening=ScreeningTerms(withhold=withhold))
    async with Client(Gateway(upstreams, vetting=vetting)) as client:
        assert [tool.name for tool in await client.list_tools()] == expected
