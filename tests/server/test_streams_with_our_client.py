"""Our client and our server over HTTP: streams that are closed, lost, and gone on with."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import uvicorn
from patience import turn_until

from anyshape import Client, Context, Server
from anyshape.server import HttpOptions, Streams
from anyshape.server.http_host import settings_of_uvicorn


@contextlib.asynccontextmanager
async def served(
    server: Server, streams: Streams, named: list[str | None] | None = None
) -> AsyncGenerator[str]:
    """Serve over HTTP on a free port of this machine; note which events are `named` in a GET."""
    served = server.asgi(HttpOptions(streams=streams))

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if named is not None and scope.get("method") == "GET":
            last = dict(scope["headers"]).get(b"last-event-id")
            named.append(None if last is None else last.decode())
        await served(scope, receive, send)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        settings = settings_of_uvicorn("127.0.0.1", 0, 1, {"log_level": "critical"})
        host = uvicorn.Server(uvicorn.Config(application, **settings))
        task = asyncio.create_task(host.serve([listener]))
        await turn_until(lambda: host.started, pause=0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        host.should_exit = True
        await task


@pytest.fixture
def server() -> Server:
    server = Server("s")

    @server.resource("note:a")
    def note() -> str:
        return "a"

    @server.tool
    async def research(context: Context, rounds: int) -> list[int]:
        for number in range(rounds):
            context.progress(number + 1)
            context.hang_up()
            await asyncio.sleep(0.05)
        return list(range(rounds))

    return server


async def test_the_client_comes_back_for_answers_as_often_as_it_is_sent_away(
    server: Server,
) -> None:
    reports: list[float] = []
    async with (
        served(server, Streams(retry=0.02)) as url,
        Client(url, revision="2025-11-25") as client,
    ):
        result = await client.call_tool(
            "research", {"rounds": 3}, on_progress=lambda report: reports.append(report.progress)
        )
        assert result.value == [0, 1, 2]
        assert reports == [1, 2, 3]


async def test_the_client_hears_of_changes_on_streams_that_are_closed_now_and_then(
    server: Server,
) -> None:
    heard: list[str] = []
    async with (
        served(server, Streams(hold=0.02, retry=0.01)) as url,
        Client(url, revision="2025-11-25") as client,
    ):
        await client.subscribe("note:a", heard.append)
        for count in range(1, 4):
            server.resource_changed("note:a")
            await turn_until(lambda count=count: len(heard) >= count, pause=0.01)
        assert set(heard) == {"note:a"}


async def test_the_client_says_what_it_has_heard_when_it_comes_back_for_changes(
    server: Server,
) -> None:
    heard: list[str] = []
    named: list[str | None] = []
    streams = Streams(hold=0.02, retry=0.01)
    async with (
        served(server, streams, named) as url,
        Client(url, revision="2025-11-25") as client,
    ):
        await client.subscribe("note:a", heard.append)
        server.resource_changed("note:a")
        await turn_until(lambda: len(named) >= 3, pause=0.01)
        first, *later = named
        assert first is None
        assert all(name is not None and name.startswith("n.") for name in later)
        assert heard
