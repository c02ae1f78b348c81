"""Silence ends a connection, but not a request that came while the event loop was held up."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest
import uvicorn
from patience import PATIENCE, PAUSE, turn_until

from anyshape import Server
from anyshape.server.http_protocol import HttpProtocol
from anyshape.server.kept_connections import GLANCE, KeptConnections

BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
PING = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%b"
    % (len(BODY), BODY)
)


class Clock:
    """An event loop that has nothing but timers, and a time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, call: Callable[..., None], *arguments: Any) -> Timer:
        timer = Timer(self, self.now + delay, call, arguments)
        self.timers.append(timer)
        return timer

    def pass_by(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [timer for timer in self.timers if timer.due <= end]:
            timer = min(due, key=lambda each: each.due)
            timer.cancel()
            self.now = timer.due
            timer.call(*timer.arguments)
        self.now = end


@dataclass(eq=False)
class Timer:
    clock: Clock
    due: float
    call: Callable[..., None]
    arguments: tuple[Any, ...]

    def cancel(self) -> None:
        if self in self.clock.timers:
            self.clock.timers.remove(self)


class Kept:
    """A connection that knows when it was closed."""

    def __init__(self, clock: Clock) -> None:
        self.closed: list[float] = []
        self._clock = clock

    def timeout_keep_alive_handler(self) -> None:
        self.closed.append(self._clock.now)


@asynccontextmanager
async def connected(
    *, timeout_keep_alive: int = 60
) -> AsyncGenerator[tuple[HttpProtocol, socket.socket]]:
    """Give a connection that has been answered once, seen from both ends."""
    config = uvicorn.Config(
        Server("any").asgi(),
        http=HttpProtocol,
        port=0,
        lifespan="on",
        log_config=None,
        ws="none",
        timeout_keep_alive=timeout_keep_alive,
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
    async with connected(timeout_keep_alive=0) as (connection, peer):
        peer.sendall(PING)
        # The connection is due, and the loop has not looked at the network since.
        connection.watch.kept.look()
        assert b'"result"' in await answer(peer)


async def test_a_kept_connection_that_stays_silent_is_closed() -> None:
    async with connected(timeout_keep_alive=1) as (_connection, peer):
        assert await answer(peer) == b""


async def test_connections_are_closed_in_the_order_in_which_they_fell_silent() -> None:
    clock = Clock()
    kept = KeptConnections(cast("Any", clock), 5)
    first, second = Kept(clock), Kept(clock)
    kept.keep(first)
    clock.pass_by(2)
    kept.keep(second)
    clock.pass_by(2)
    kept.release(first)  # A request comes,
    clock.pass_by(0.5)
    kept.keep(first)  # and is answered.
    clock.pass_by(20)
    assert second.closed == [pytest.approx(7 + GLANCE)]
    assert first.closed == [pytest.approx(9.5 + GLANCE)]
    assert clock.timers == []


async def test_a_connection_is_kept_whose_request_came_at_the_last_moment() -> None:
    clock = Clock()
    kept = KeptConnections(cast("Any", clock), 5)
    connection = Kept(clock)
    kept.keep(connection)
    clock.pass_by(5 + GLANCE / 2)
    kept.release(connection)
    kept.keep(connection)
    clock.pass_by(5)
    assert connection.closed == []
    clock.pass_by(5)
    assert connection.closed == [pytest.approx(10 + 1.5 * GLANCE)]


async def test_many_connections_have_one_timer() -> None:
    clock = Clock()
    kept = KeptConnections(cast("Any", clock), 5)
    for _ in range(1_000):
        kept.keep(Kept(clock))
        clock.pass_by(0.001)
    assert len(clock.timers) == 1


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
