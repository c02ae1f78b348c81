"""Our client against servers that we did not write: the same calls, the same natural values."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE, is_listening, until

from anyshape import Client, Image, Text
from anyshape.client import Process
from anyshape.errors import OutputMismatch, ProtocolError, ToolError, ValidationError

SERVERS = Path(__file__).parent / "servers"
USERS = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]
Command = Callable[..., list[str]]

# Each server, and the revisions to speak with it; `older` is how it is written for 2025 clients.
PEERS: dict[str, list[tuple[str, str]]] = {
    "mcp_high.py": [("auto", "2026-07-28"), ("2025-06-18", "2025-06-18")],
    "mcp_low.py": [("auto", "2026-07-28")],
    "mcp_low.py older": [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18")],
    "fastmcp_high.py": [("auto", "2026-07-28"), ("2025-11-25", "2025-11-25")],
    "typescript2_high.mjs": [("auto", "2026-07-28"), ("2025-11-25", "2025-11-25")],
    "typescript2_low.mjs": [("auto", "2026-07-28"), ("2025-11-25", "2025-11-25")],
    "typescript1_high.mjs": [("auto", "2025-11-25"), ("2025-06-18", "2025-06-18")],
}
NO_NULL = {"mcp_low.py", "mcp_low.py older"}
REPORTS_PROGRESS = {"mcp_high.py", "fastmcp_high.py"}
EVENTS = ["mcp_high.py", "fastmcp_high.py", "typescript1_high.mjs"]
"""Those that are also served over HTTP+SSE, which begins with a handshake."""
CASES = [
    (peer, *revisions, transport)
    for peer, pairs in PEERS.items()
    for revisions in pairs
    for transport in ("stdio", "http")
] + [
    (peer, *revisions, "sse")
    for peer in EVENTS
    for revisions in [("auto", "2025-11-25"), ("2025-06-18", "2025-06-18")]
]


@pytest.fixture(scope="session")
def command(node: Command) -> Command:
    """Return the command that runs one of the peer servers."""

    def make(peer: str, transport: str) -> list[str]:
        script, *arguments = peer.split()
        path = SERVERS / script
        runner = node(path) if script.endswith(".mjs") else [sys.executable, str(path)]
        return [*runner, transport, *arguments]

    return make


@contextlib.contextmanager
def running(command: list[str], **options: Any) -> Generator[subprocess.Popen[str], None, None]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="session")
def url_of(command: Command) -> Iterator[Callable[[str, str], str]]:
    """Return what gives the URL of a peer server over a transport, started once."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def url_of(peer: str, transport: str) -> str:
            process = stack.enter_context(running(command(peer, transport)))
            assert process.stdout is not None
            path = "/sse" if transport == "sse" else "/mcp"
            return f"http://127.0.0.1:{int(process.stdout.readline())}{path}"

        yield url_of


@pytest.mark.parametrize(("peer", "revision", "agreed", "transport"), CASES)
async def test_the_same_calls_give_the_same_values(
    command: Command,
    url_of: Callable[[str, str], str],
    peer: str,
    revision: str,
    agreed: str,
    transport: str,
) -> None:
    target = command(peer, "stdio") if transport == "stdio" else url_of(peer, transport)
    async with Client(target, revision=revision, timeout=PATIENCE) as client:
        assert client.revision.value == agreed
        assert client.server.name == "peer"
        await client.list_tools()
        assert client.rejected == {}
        values = {
            name: (await client.call_tool(name, arguments)).value
            for name, arguments in {
                "get_count": {},
                "list_users": {},
                "no_users": {},
                "find_user": {"id": 1},
                "greet": {"name": "Bo"},
                "is_even": {"number": 3},
            }.items()
        }
        assert values == {
            "get_count": 42,
            "list_users": USERS,
            "no_users": [],
            "find_user": USERS[0],
            "greet": "Hello, Bo",
            "is_even": False,
        }
        if peer not in NO_NULL:
            null = await client.call_tool("maybe_user", {"id": 9})
            assert (null.has_value, null.value) == (True, None)
            assert await client.call("maybe_user", {"id": 2}) == USERS[1]
        with pytest.raises(ToolError, match="because"):
            await client.call("fail", {"reason": "because"})
        with pytest.raises(ValidationError):
            await client.call("greet", {"name": 5})
        with pytest.raises(OutputMismatch):
            await client.call("get_count", returns=str)
        with pytest.raises(ProtocolError, match="no tool"):
            await client.call("nowhere")
        if peer in REPORTS_PROGRESS:
            reports: list[float] = []
            called = client.call(
                "count_to",
                {"number": 3},
                on_progress=lambda report: reports.append(report.progress),
            )
            assert await called == 3
            assert reports == [1, 2, 3]


async def expect_everything(client: Client) -> None:
    """Call what the reference server of the protocol offers."""
    assert client.revision.value == "2025-11-25"
    assert await client.call("echo", {"message": "hi"}, returns=str) == "Echo: hi"
    assert re.search("3", await client.call("get-sum", {"a": 1, "b": 2}))
    weather = await client.call("get-structured-content", {"location": "New York"})
    assert set(weather) == {"temperature", "conditions", "humidity"}
    picture = await client.call_tool("get-tiny-image")
    assert [type(block) for block in picture.content] == [Text, Image, Text]
    reports: list[float] = []
    await client.call(
        "trigger-long-running-operation",
        {"duration": 0.2, "steps": 2},
        on_progress=lambda report: reports.append(report.progress),
    )
    assert reports == [1, 2]


async def test_server_everything_over_stdio(node: Command) -> None:
    command = node("@modelcontextprotocol/server-everything", "stdio")
    async with Client(command, timeout=PATIENCE) as client:
        await expect_everything(client)
        # It says of this one that it only runs as a task.
        assert list(client.rejected) == ["simulate-research-query"]


@pytest.fixture(params=[("streamableHttp", "/mcp"), ("sse", "/sse")])
def everything(node: Command, request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve the reference server over HTTP; it takes its port from the environment."""
    transport, path = request.param
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = node("@modelcontextprotocol/server-everything", transport)
    environment = {**os.environ, "PORT": str(port)}
    with running(command, env=environment, stderr=subprocess.DEVNULL):
        until(lambda: is_listening(port))
        yield f"http://127.0.0.1:{port}{path}"


async def test_server_everything_over_http(everything: str) -> None:
    async with Client(everything, timeout=PATIENCE) as client:
        await expect_everything(client)


async def test_the_preview_of_any_shape_in_the_reference_server(node: Command) -> None:
    """Natural arrays and numbers at a revision that has none are taken as they come."""
    command = node("@olaservo/mcp-server-everything-sep834", "stdio")
    async with Client(command, timeout=PATIENCE, process=Process()) as client:
        forecast = await client.call("get-weather-forecast", {"hours": 2}, returns=list[Any])
        assert len(forecast) == 2
        assert isinstance(await client.call("get-count", {"collection": "users"}), int)
