"""Prompts, resources and completion of a server of ours, as the Python clients see them."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import fastmcp
import mcp
import pytest
from fastmcp.client.transports import StdioTransport
from mcp_types import PromptReference, ResourceTemplateReference
from patience import PATIENCE, turn_until

from anyshape import Client, ProtocolError

SERVER = Path(__file__).parent / "feature_server.py"
Target = Callable[[str], Any]

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Return what gives the command or the URL of the server."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "read me.md").write_text("# Read me")
    commands = {
        kind: [sys.executable, str(SERVER), kind, str(folder)] for kind in ("stdio", "http")
    }
    with subprocess.Popen(commands["http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        yield {"stdio": commands["stdio"], "http": url}.__getitem__
        process.kill()


class Official:
    """The official Python client."""

    error = mcp.MCPError

    def __init__(self, target: Any, mode: str) -> None:
        where: Any = target
        if isinstance(target, list):
            program, *arguments = cast("list[str]", target)
            where = mcp.StdioServerParameters(command=program, args=arguments)
        self.client = mcp.Client(where, mode=cast("Any", mode), read_timeout_seconds=PATIENCE)

    async def uris(self) -> list[str]:
        return [each.uri for each in (await self.client.list_resources()).resources]

    async def templates(self) -> list[str]:
        listed = await self.client.list_resource_templates()
        return [each.uri_template for each in listed.resource_templates]

    async def read(self, uri: str) -> Any:
        [contents] = (await self.client.read_resource(uri)).contents
        return contents

    async def prompts(self) -> Any:
        return (await self.client.list_prompts()).prompts

    async def get(self, name: str, arguments: dict[str, str]) -> Any:
        return (await self.client.get_prompt(name, arguments)).messages

    async def complete(self, ref: Any, name: str, value: str, given: dict[str, str]) -> list[str]:
        result = await self.client.complete(ref, {"name": name, "value": value}, given)
        return result.completion.values


class FastMcp(Official):
    """FastMCP's client."""

    def __init__(self, target: Any, mode: str) -> None:
        where: Any = target
        if isinstance(target, list):
            program, *arguments = cast("list[str]", target)
            where = StdioTransport(program, arguments, keep_alive=False)
        self.client: Any = fastmcp.Client(where, mode=cast("Any", mode), timeout=PATIENCE)

    async def uris(self) -> list[str]:
        return [str(each.uri) for each in await self.client.list_resources()]

    async def templates(self) -> list[str]:
        return [each.uri_template for each in await self.client.list_resource_templates()]

    async def read(self, uri: str) -> Any:
        [contents] = await self.client.read_resource(uri)
        return contents

    async def prompts(self) -> Any:
        return await self.client.list_prompts()

    async def complete(self, ref: Any, name: str, value: str, given: dict[str, str]) -> list[str]:
        return (await self.client.complete(ref, {"name": name, "value": value}, given)).values


@contextlib.asynccontextmanager
async def connected(kind: type[Official], target: Any, mode: str) -> AsyncGenerator[Official]:
    visitor = kind(target, mode)
    async with visitor.client:
        yield visitor


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("kind", [Official, FastMcp])
async def test_python_clients_use_everything(
    target: Target, kind: type[Official], mode: str, transport: str
) -> None:
    async with connected(kind, target(transport), mode) as client:
        assert await client.uris() == [
            "features://notes",
            "features://bytes",
            "features://files/read%20me.md",
        ]
        assert await client.templates() == ["features://users/{id}", "features://files/{+path}"]
        assert (await client.read("features://notes")).text == "first"
        assert (await client.read("features://bytes")).blob == "AAE="
        found = await client.read("features://users/2")
        assert (found.text, found.mime_type) == ('{"id":2,"name":"Grace"}', "application/json")
        assert (await client.read("features://files/read%20me.md")).text == "# Read me"
        for uri in ("features://users/3", "features://users/x", "features://files/%2e%2e/x"):
            with pytest.raises(client.error, match="not found"):
                await client.read(uri)
        [prompt] = await client.prompts()
        assert [(each.name, each.required) for each in prompt.arguments] == [
            ("country", True),
            ("city", True),
            ("days", False),
        ]
        messages = await client.get("trip", {"country": "France", "city": "Pau", "days": "3"})
        assert [(each.role, each.content.type) for each in messages] == [
            ("user", "text"),
            ("user", "image"),
            ("assistant", "text"),
        ]
        assert messages[0].content.text == "4 days in Pau, France"
        with pytest.raises(client.error, match="country"):
            await client.get("trip", {"city": "Pau"})
        by_prompt = PromptReference(type="ref/prompt", name="trip")
        assert await client.complete(by_prompt, "country", "f", {}) == ["France"]
        found = await client.complete(by_prompt, "city", "Pa", {"country": "France"})
        assert found == ["Paris", "Pau"]
        by_uri = ResourceTemplateReference(type="ref/resource", uri="features://files/{+path}")
        assert await client.complete(by_uri, "path", "read", {}) == ["read me.md"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_official_client_is_told_of_changes_in_the_modern_era(
    target: Target, transport: str
) -> None:
    visitor = Official(target(transport), "auto")
    async with (
        asyncio.timeout(PATIENCE),
        visitor.client as client,
        client.listen(resource_subscriptions=["features://notes"]) as subscription,
    ):
        await client.call_tool("take_note", {"text": "second"})
        async for event in subscription:
            assert "features://notes" in str(event)
            break


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_official_client_is_told_of_changes_after_a_handshake(
    target: Target, transport: str
) -> None:
    heard: list[str] = []

    async def hear(message: Any) -> None:
        heard.append(str(message))

    where: Any = target(transport)
    if transport == "stdio":
        program, *arguments = where
        where = mcp.StdioServerParameters(command=program, args=arguments)
    async with mcp.Client(where, mode="legacy", message_handler=hear) as client:
        await client.subscribe_resource("features://notes")  # pyright: ignore[reportDeprecated]
        await client.call_tool("take_note", {"text": "second"})
        await turn_until(lambda: any("features://notes" in message for message in heard))
        await client.unsubscribe_resource("features://notes")  # pyright: ignore[reportDeprecated]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"])
async def test_our_own_client_uses_everything(
    target: Target, revision: str, transport: str
) -> None:
    async with Client(target(transport), revision=revision, timeout=PATIENCE) as client:
        assert len(await client.list_resources()) == 3
        assert len(await client.list_resource_templates()) == 2
        assert (await client.read_resource("features://users/1")).text == '{"id":1,"name":"Ada"}'
        with pytest.raises(ProtocolError, match="not found"):
            await client.read_resource("features://users/3")
        [prompt] = await client.list_prompts()
        got = await client.get_prompt(prompt.name, {"country": "Italy", "city": "Parma"})
        assert got.messages[0].text == "3 days in Parma, Italy"
        found = await client.complete("city", "P", prompt="trip", context={"country": "Italy"})
        assert found.values == ("Parma",)
        assert client.rejected_resources == client.rejected_prompts == {}
        if transport == "stdio" or revision == "2026-07-28":
            changed = asyncio.Event()
            await client.subscribe("features://notes", lambda uri: changed.set())
            await client.call_tool("take_note", {"text": "again"})
            await asyncio.wait_for(changed.wait(), PATIENCE)
