"""A TCP proxy that breaks what passes through it, where and when a test says."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncGenerator
from typing import Literal, TypeAlias, cast

__all__ = ["Direction", "Proxy", "run_proxy"]

Direction: TypeAlias = Literal["up", "down"]
"""`up` is from the client to the server."""


class Proxy:
    """Connections to one port, led on to another until they are broken."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.connections = 0
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self._pouring: set[asyncio.Task[None]] = set()
        self._left: dict[Direction, int | None] = {"up": None, "down": None}
        self._how = "reset"
        self._ending: set[Direction] = set()
        self.delay = 0.0
        """Seconds that every piece is held back."""
        self.broken = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def break_after(self, count: int, direction: Direction, how: str = "reset") -> None:
        """Break the connection after so many more bytes in a direction, once.

        `reset` breaks both directions off, `close` ends both in an orderly way, and `half` ends
        that direction alone: the other one goes on.
        """
        self._left = {"up": None, "down": None, direction: count}
        self._how = how
        self.broken.clear()

    def cut(self) -> None:
        """Break every connection off at once."""
        for writer in tuple(self._open):
            _reset(writer)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            further, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            _reset(writer)
            return
        both = (writer, back)
        self._open.update(both)
        try:
            await asyncio.gather(
                self._pour(reader, back, "up", both), self._pour(further, writer, "down", both)
            )
        finally:
            for each in both:
                self._open.discard(each)
                each.close()

    async def _pour(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        direction: Direction,
        both: tuple[asyncio.StreamWriter, ...],
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if self.delay:
                    await asyncio.sleep(self.delay)
                left = self._left[direction]
                if left is not None and len(data) >= left:
                    writer.write(data[:left])
                    self._break(writer, both, direction)
                    return
                if left is not None:
                    self._left[direction] = left - len(data)
                writer.write(data)
                await writer.drain()
            writer.write_eof()

    def _break(
        self,
        writer: asyncio.StreamWriter,
        both: tuple[asyncio.StreamWriter, ...],
        direction: Direction,
    ) -> None:
        self._left[direction] = None
        self.broken.set()
        if self._how == "half":
            writer.write_eof()
            return
        for each in both:
            if self._how == "close":
                each.close()
            else:
                _reset(each)


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = cast("socket.socket", writer.get_extra_info("socket"))
    with contextlib.suppress(OSError):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextlib.asynccontextmanager
async def run_proxy(target: int) -> AsyncGenerator[Proxy]:
    """Run a proxy to a port of this machine for the time of a block."""
    proxy = Proxy(target)
    serving: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(proxy.serve(reader, writer))
        serving.add(task)
        task.add_done_callback(serving.discard)

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        for task in tuple(serving):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
