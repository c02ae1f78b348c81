"""Silence ends a connection, but not a request that came while the event loop was held up."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import uvicorn
from patience import PATIENCE, PAUSE, turn_until

from anyshape import Server
from anyshape.server.http_protocol import HttpProtocol

BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
PING = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%b"
    % (len(BODY), BODY)
)


@asynccontextmanager
async def connected() -> AsyncGenerator[tuple[HttpProtocol, socket.socket]]:
    """Give a connection that has been answered once, seen from both ends."""
    config = uvicorn.Config(
        Server("any").asgi(), http=HttpProtocol, port=0, lifespan="on", log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await turn_until(lambda: server.started, PAUSE)
    port = server.servers[0].sockets[0].getsockname()[1]
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as peer:
        peer.sendall(PING)
        assert await answer(peer)
        [connection] = server.server_state.connections
        yield cast("HttpProtocol", connection), peer
    server.should_exit = True
    await serving


async def answer(peer: socket.socket) -> bytes:
    """Return a whole answer, or nothing if the connection was closed."""
    found = b""
    while not found.endswith(b"}"):
        piece = await asyncio.to_thread(peer.recv, 65_536)
        if not piece:
            break
        found += piece
    return found


async def test_a_request_is_read_that_came_when_a_kept_connection_was_about_to_be_closed() -> None:
    async with connected() as (connection, peer):
        await turn_until(lambda: connection.timeout_keep_alive_task)
        peer.sendall(PING)
        # The timer of uvicorn is due, and the loop has not looked at the network since.
        connection.timeout_keep_alive_handler()
        assert b'"result"' in await answer(peer)


async def test_a_kept_connection_that_stays_silent_is_closed() -> None:
    async with connected() as (connection, peer):
        await turn_until(lambda: connection.timeout_keep_alive_task)
        connection.timeout_keep_alive_handler()
        assert await answer(peer) == b""


async def test_a_request_is_read_that_came_when_its_time_was_over() -> None:
    async with connected() as (connection, peer):
        now = asyncio.get_running_loop().time()
        connection.look(now)
        peer.sendall(PING)
        connection.look(now + connection.patience + 1)
        assert b'"result"' in await answer(peer)


async def test_a_connection_on_which_no_request_came_in_time_is_closed() -> None:
    async with connected() as (connection, peer):
        now = asyncio.get_running_loop().time()
        connection.look(now)
        connection.look(now + connection.patience + 1)
        with_nothing: Any = await asyncio.gather(answer(peer), return_exceptions=True)
        assert with_nothing == [b""] or isinstance(with_nothing[0], ConnectionError)
