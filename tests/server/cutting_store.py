"""A way to the store that is cut at one command: before the store reads it, or answers it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import Literal, cast

Moment = Literal["before it is read", "before it is answered"]


class CuttingStore:
    """Leads on to a store, counts commands, and cuts the connection that sends a certain one."""

    def __init__(self, target: int) -> None:
        self.commands: list[str] = []
        """What was sent since the count began, by name."""
        self._target = target
        self._connections: set[asyncio.Task[None]] = set()
        self._cut_at: int | None = None
        self._moment: Moment = "before it is read"
        self._counts: Callable[[str], bool] = lambda _: True

    def cut(self, at: int | None, moment: Moment, counts: Callable[[str], bool]) -> None:
        """Begin to count the commands that count, and cut at one of them; `None`: at none."""
        self.commands = []
        self._cut_at, self._moment, self._counts = at, moment, counts

    @property
    def has_cut(self) -> bool:
        """Whether the command came that the connection is cut at."""
        return self._cut_at is not None and len(self.commands) > self._cut_at

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[int]:
        """Give the port that leads to the store."""
        async with await asyncio.start_server(self._lead_on, "127.0.0.1", 0) as server:
            yield server.sockets[0].getsockname()[1]
            await asyncio.gather(*self._connections)

    async def _lead_on(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        self._connections.add(cast("asyncio.Task[None]", asyncio.current_task()))
        store, there = await asyncio.open_connection("127.0.0.1", self._target)
        answering = asyncio.create_task(_pour(store, back))
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                text, name = await _command(client)
                is_last = self._is_last(name)
                if is_last and self._moment == "before it is answered":
                    answering.cancel()
                    await asyncio.wait((answering,))
                    there.write(text)
                    await store.read(1)
                if is_last:
                    break
                there.write(text)
        answering.cancel()
        await asyncio.wait((answering,))
        for writer in (back, there):
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _is_last(self, name: str) -> bool:
        if not self._counts(name):
            return False
        self.commands.append(name)
        return self._cut_at == len(self.commands) - 1


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
    writer.close()  # The client hears that the store is gone.


async def _command(reader: asyncio.StreamReader) -> tuple[bytes, str]:
    """Return one command as it stands on the wire, and its name."""
    head = await reader.readuntil(b"\r\n")
    text, parts = [head], list[bytes]()
    for _ in range(int(head[1:])):
        length = await reader.readuntil(b"\r\n")
        part = await reader.readexactly(int(length[1:]) + 2)
        text += [length, part]
        parts.append(part[:-2])
    return b"".join(text), parts[0].decode().upper()
