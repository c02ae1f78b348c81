"""A server in memory that comes and goes."""

from __future__ import annotations

from typing import Any

from anyshape import Server
from anyshape.errors import TransportError


class Fickle(Server):
    """A server that is lost, and cannot be connected to, while `is_there` is false."""

    is_there = True

    def connect(self, send: Any) -> Any:
        if not self.is_there:
            raise TransportError("it is not there")
        return FickleConnection(super().connect(send), self)


class FickleConnection:
    """A connection that breaks as soon as its server is not there."""

    def __init__(self, connection: Any, server: Any) -> None:
        self.connection, self.server = connection, server

    async def handle(self, frame: bytes) -> bytes | None:
        if not self.server.is_there:
            raise TransportError("it is not there")
        return await self.connection.handle(frame)

    async def close(self) -> None:
        await self.connection.close()
