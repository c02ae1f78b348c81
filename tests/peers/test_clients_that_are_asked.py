"""A server of ours asks clients that we did not write: the user, the model, for roots."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import mcp_types as types
import pytest
import visits
from fastmcp.client.transports import StdioTransport
from patience import PATIENCE, is_listening, until

SERVER = Path(__file__).parents[1] / "server" / "asking_server.py"
Json = dict[str, Any]

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), "http", str(port)])
    until(lambda: is_listening(port) or process.poll() is not None)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait(PATIENCE)


async def elicit(context: Any, params: Any) -> Any:
    assert params.message == "Who comes?"
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context: Any, params: Any) -> Any:
    said = types.TextContent(type="text", text=f"Re: {params.messages[0].content.text}")
    return types.CreateMessageResult(role="assistant", content=said, model="m")


async def list_roots(context: Any) -> Any:
    return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///a"})])


@contextlib.asynccontextmanager
async def official(target: str | None, mode: Any) -> AsyncGenerator[Any]:
    where: Any = target or mcp.StdioServerParameters(
        command=sys.executable, args=[str(SERVER), "stdio"]
    )
    async with mcp.Client(
        where,
        mode=mode,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=list_roots,
        read_timeout_seconds=PATIENCE,
    ) as client:
        yield client


@contextlib.asynccontextmanager
async def fast(target: str | None, mode: Any) -> AsyncGenerator[Any]:
    where: Any = target or StdioTransport(sys.executable, [str(SERVER), "stdio"], keep_alive=False)

    async def on_elicit(message: str, kind: Any, params: Any, context: Any) -> Any:
        return {"name": "Ada"} if kind is None else kind(name="Ada")

    async def on_sample(messages: Any, params: Any, context: Any) -> str:
        return f"Re: {messages[0].content.text}"

    async with fastmcp.Client(
        where,
        mode=mode,
        elicitation_handler=on_elicit,
        sampling_handler=on_sample,
        roots=["file:///a"],
        timeout=PATIENCE,
    ) as client:
        yield client


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("connect", [official, fast])
async def test_python_clients_answer_all_that_is_asked(
    connect: Any, mode: str, transport: str, url: str
) -> None:
    async with connect(url if transport == "http" else None, mode) as client:
        booked = await client.call_tool("book", {})
        assert "Re: Greet Ada 2" in booked.content[0].text
        greeted = await client.call_tool("greet", {"name": "Eve"})
        assert "Re: Greet Eve 1" in greeted.content[0].text


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    ("script", "mode"),
    [("asked2.mjs", "auto"), ("asked2.mjs", "legacy"), ("asked1.mjs", "legacy")],
)
def test_typescript_clients_answer_all_that_is_asked(
    script: str, mode: str, transport: str, url: str
) -> None:
    command = [sys.executable, str(SERVER), "stdio"]
    target: Json = {"url": url} if transport == "http" else {"command": command}
    calls: list[Json] = [
        {"id": "book", "tool": "book", "arguments": {}},
        {"id": "greet", "tool": "greet", "arguments": {"name": "Eve"}},
    ]
    found = visits.run_client(script, target, {"mode": mode, "calls": calls})["calls"]
    assert "Re: Greet Ada 2" in found["book"]["content"][0]["text"], found
    assert "Re: Greet Eve 1" in found["greet"]["content"][0]["text"], found
