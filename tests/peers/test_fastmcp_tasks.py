"""Tasks with FastMCP on the other side: its client against our server, and ours against its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, cast

import fastmcp
import fastmcp_tasks
import pytest
import uvicorn
from fastmcp.exceptions import ToolError as FastMcpToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from patience import PATIENCE, turn_until

from anyshape import Client, Context, Server, ToolError
from anyshape.client import TaskStatus
from anyshape.errors import ProtocolError

call_tool_task = cast("Any", fastmcp_tasks).call_tool_task
SOON = TaskConfig(poll_interval=timedelta(milliseconds=50))


@asynccontextmanager
async def served(application: Any) -> AsyncGenerator[str]:
    """Serve an ASGI application on this loop, and give the URL of its endpoint."""
    configuration = uvicorn.Config(
        application, port=0, log_level="critical", lifespan="on", timeout_graceful_shutdown=1
    )
    service = uvicorn.Server(configuration)
    service.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(service.serve())
    await turn_until(lambda: service.started or serving.done(), 0.01)
    assert not serving.done(), serving
    yield f"http://127.0.0.1:{service.servers[0].sockets[0].getsockname()[1]}/mcp"
    service.should_exit = True
    async with asyncio.timeout(PATIENCE):
        await serving


@pytest.fixture
async def ours() -> AsyncGenerator[str]:
    """One of our servers, with tasks of every end."""
    server = Server("ours")

    @server.tool(task=True)
    async def count(up_to: int) -> list[int]:
        await asyncio.sleep(0.05)
        return list(range(up_to))

    @server.tool(task=True)
    async def fail() -> int:
        raise ToolError("the disk is full")

    @server.tool(task=True)
    async def wait() -> int:
        await asyncio.Event().wait()
        return 1

    @server.tool(task=True)
    async def ask(ctx: Context) -> str:
        return str(await ctx.elicit("Sure?", bool))

    async with served(server.asgi()) as url:
        yield url


async def elicit(message: str, *_: Any) -> dict[str, Any]:
    return {"value": message == "Sure?"}


async def test_its_client_follows_our_tasks_to_their_end(ours: str) -> None:
    async with fastmcp.Client(ours, elicitation_handler=elicit) as client:
        counted = await client.call_tool("count", {"up_to": 3})
        assert counted.structured_content == [0, 1, 2]
        with pytest.raises(FastMcpToolError, match="the disk is full"):
            await client.call_tool("fail", {})
        assert (await client.call_tool("ask", {})).structured_content == "Accepted(data=True)"


async def test_its_client_holds_and_cancels_our_tasks(ours: str) -> None:
    async with fastmcp.Client(ours) as client:
        task = await call_tool_task(client, "wait", {})
        assert (await task.status()).status == "working"
        await task.cancel()
        assert (await task.status()).status == "cancelled"


@pytest.fixture
async def theirs() -> AsyncGenerator[str]:
    """A FastMCP server with tasks, on an engine in memory."""
    server = fastmcp.FastMCP("theirs")
    server.add_extension(TasksExtension(url="memory://"))

    @server.tool(task=SOON)
    async def count(up_to: int) -> list[int]:
        await asyncio.sleep(0.05)
        return list(range(up_to))

    @server.tool(task=SOON)
    async def fail() -> int:
        raise FastMcpToolError("the disk is full")

    @server.tool(task=SOON)
    async def wait() -> int:
        await asyncio.Event().wait()
        return 1

    async with served(server.http_app()) as url:
        yield url


async def test_our_client_follows_its_tasks_to_their_end(theirs: str) -> None:
    async with Client(theirs, revision="2026-07-28") as client:
        task = await client.begin_call("count", {"up_to": 3})
        assert task.id is not None
        assert (await task.result()).value == [0, 1, 2]
        assert (await client.call_tool("count", {"up_to": 2})).value == [0, 1]
        failed = await client.call_tool("fail")
        assert (failed.is_error, "the disk is full" in failed.text) == (True, True)


async def test_our_client_holds_and_cancels_its_tasks(theirs: str) -> None:
    async with Client(theirs, revision="2026-07-28") as client:
        task = await client.begin_call("wait")
        assert task.id is not None
        assert (await client.resume_task(task.id, "wait")).status is TaskStatus.WORKING
        await task.cancel()
        with pytest.raises(ProtocolError, match="cancelled"):
            await task.result()
