"""The official Python client at a server that hangs up: it comes back for its answer."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from typing import Any

import mcp
import uvicorn
from patience import turn_until

from anyshape import Context, Server
from anyshape.server import HttpOptions, Streams
from anyshape.server.http_host import settings_of_uvicorn


@contextlib.asynccontextmanager
async def served(application: Any) -> AsyncGenerator[str]:
    """Serve over HTTP on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = settings_of_uvicorn("127.0.0.1", 0, 1, {"log_level": "critical"})
        host = uvicorn.Server(uvicorn.Config(application, **settings))
        task = asyncio.create_task(host.serve([listener]))
        await turn_until(lambda: host.started, pause=0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        host.should_exit = True
        await task


async def test_the_official_client_comes_back_for_the_answer_of_a_call() -> None:
    server = Server("s")
    asked: list[str] = []

    @server.tool
    async def research(context: Context) -> str:
        context.progress(1)
        context.hang_up()
        await turn_until(lambda: "r." in "".join(asked), pause=0.01)
        context.progress(2)
        return "found"

    application = server.asgi(HttpOptions(streams=Streams(retry=0.05)))

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            asked.append(dict(scope["headers"]).get(b"last-event-id", b"").decode())
        await application(scope, receive, send)

    reports: list[float] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(progress)

    async with served(noted) as url, mcp.Client(url, mode="legacy") as client:
        result = await client.call_tool("research", {}, progress_callback=report)
    assert result.structured_content == {"result": "found"}
    assert reports == [1, 2]
