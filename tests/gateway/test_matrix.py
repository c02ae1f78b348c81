"""Servers that we did not write, in every era, behind the gateway; clients of every era before it.

What each sees is what the table says: natural values at 2026-07-28, envelopes where a client of
2025 needs them, text for the oldest; an object that an author meant stays what it is.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from patience import PATIENCE

from anyshape import Client
from anyshape.gateway import Gateway, Upstream

SERVERS = Path(__file__).parent.parent / "peers" / "servers"
MODERN, LATER, OLDEST = "2026-07-28", "2025-11-25", "2024-11-05"
USERS = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]
UPSTREAMS = [
    ("mcp_high.py", MODERN),
    ("mcp_high.py", LATER),
    ("mcp_low.py", MODERN),
    ("fastmcp_high.py", MODERN),
    ("fastmcp_high.py", LATER),
    ("typescript2_high.mjs", MODERN),
    ("typescript2_low.mjs", MODERN),
]
CALLS: dict[str, dict[str, Any]] = {
    "get_count": {},
    "list_users": {},
    "no_users": {},
    "find_user": {"id": 1},
    "greet": {"name": "Bo"},
    "is_even": {"number": 3},
}
NATURAL: dict[str, Any] = {
    "get_count": 42,
    "list_users": USERS,
    "no_users": [],
    "find_user": USERS[0],
    "greet": "Hello, Bo",
    "is_even": False,
}


@pytest.fixture(scope="module")
def command(node: Callable[..., list[str]]) -> Callable[..., list[str]]:
    def make(peer: str, transport: str = "stdio") -> list[str]:
        path = SERVERS / peer
        return [*(node(path) if peer.endswith(".mjs") else [sys.executable, str(path)]), transport]

    return make


@pytest.mark.parametrize(("peer", "revision"), UPSTREAMS)
async def test_every_client_sees_every_upstream_in_its_own_form(
    command: Callable[..., list[str]], peer: str, revision: str
) -> None:
    await expect_every_form(Upstream(target=command(peer), revision=revision, timeout=PATIENCE))


@pytest.fixture(params=["mcp_high.py", "fastmcp_high.py"])
def events(command: Callable[..., list[str]], request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve a peer over HTTP+SSE, and give its URL."""
    started = command(request.param, "sse")
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/sse"
        process.kill()


@pytest.mark.parametrize("type", ["auto", "sse"])
async def test_every_client_sees_an_upstream_of_http_and_sse(
    events: str, type: Literal["auto", "sse"]
) -> None:
    await expect_every_form(Upstream(target=events, type=type, timeout=PATIENCE))


async def expect_every_form(upstream: Upstream) -> None:
    """Have clients of three eras call everything, and compare what they see with the table."""
    gateway = Gateway({"peer": upstream}, patience=PATIENCE)
    seen: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    async with (
        Client(gateway, revision=MODERN, timeout=PATIENCE) as modern,
        Client(gateway, revision=LATER, timeout=PATIENCE, unwrap=False) as later,
        Client(gateway, revision=OLDEST, timeout=PATIENCE) as oldest,
    ):
        for client, name in ((modern, MODERN), (later, LATER)):
            await client.list_tools()
            assert client.rejected == {}
            seen[name] = {
                tool: (await client.call_tool(tool, arguments)).raw["structuredContent"]
                for tool, arguments in CALLS.items()
            }
        for tool, arguments in CALLS.items():
            result = await oldest.call_tool(tool, arguments)
            assert "structuredContent" not in result.raw
            texts[tool] = result.text
    assert seen[MODERN] == NATURAL
    assert seen[LATER] == {
        tool: value if isinstance(value, dict) else {"result": value}
        for tool, value in NATURAL.items()
    }
    assert texts["get_count"] == "42"
    assert texts["greet"].strip('"') == "Hello, Bo"


@pytest.mark.parametrize("revision", [LATER, "2025-06-18"])
async def test_what_an_author_wrapped_by_hand_stays_wrapped(
    command: Callable[..., list[str]], revision: str
) -> None:
    upstream = Upstream(target=command("typescript1_high.mjs"), revision=revision, timeout=PATIENCE)
    async with Client(Gateway({"peer": upstream}, patience=PATIENCE), unwrap=False) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        for _ in range(2):
            wrapped = (await client.call_tool("get_count")).raw["structuredContent"]
            assert wrapped == {"result": 42}
        schema = tools["get_count"].output_schema or {}
        assert list(schema["properties"]) == ["result"]
        found = await client.call_tool("find_user", {"id": 1})
        assert found.raw["structuredContent"] == USERS[0]
