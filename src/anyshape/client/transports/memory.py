"""A server in the same process: its connection's `handle` is awaited, nothing is copied or queued.

Cancelling a call cancels the handler itself, so nothing has to be told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, runtime_checkable

from anyshape.client.options import Bounds
from anyshape.client.quoting import shorten
from anyshape.client.request import Outgoing
from anyshape.client.transports.frames import read_frame, read_ordinary
from anyshape.client.transports.transport import OnMessage, Received, Transport, too_long
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.jsonrpc import (
    INTERNAL_ERROR,
    Malformed,
    Notification,
    Request,
    Response,
)


class MemoryConnection(Protocol):
    """One peer of a server, as `connect` returns it."""

    def handle(self, frame: bytes) -> Awaitable[bytes | None]:
        """Take the bytes of one message and give those of its answer."""
        ...

    async def close(self) -> None:
        """Cancel what is in flight."""
        ...


@runtime_checkable
class ImmediateConnection(Protocol):
    """A connection that does not make anyone wait for what it knows at once."""

    def begin(self, frame: bytes, /) -> bytes | Awaitable[bytes | None] | None:
        """Do as `handle`, or return the answer itself; called in the task that awaits it."""
        ...


@runtime_checkable
class Connectable(Protocol):
    """Anything a client can talk to without a wire."""

    def connect(self, send: Callable[[bytes], None], /) -> MemoryConnection:
        """Return a new connection; `send` takes what the server says on its own."""
        ...


class MemoryTransport(Transport):
    """Calls the server's connection directly, which itself knows what was said on it."""

    place = "the server in memory"
    key = None

    def __init__(self, server: Connectable, bounds: Bounds) -> None:
        self._server = server
        self._max_depth = bounds.max_depth
        self._max_bytes = bounds.max_answer_bytes
        self._connection: MemoryConnection | None = None
        self._begin: Callable[[bytes], bytes | Awaitable[bytes | None] | None] | None = None
        self._listener: OnMessage | None = None
        self._replies: set[asyncio.Future[bytes | None]] = set()

    async def open(self, listener: OnMessage) -> None:
        """Connect."""
        self._listener = listener
        self._connection = connection = self._server.connect(self._hear)
        self._begin = (
            connection.begin if isinstance(connection, ImmediateConnection) else connection.handle
        )

    def request(self, outgoing: Outgoing) -> Received | Coroutine[Any, Any, Received]:
        """Let the server handle the request here and now."""
        begin = self._begin
        if begin is None:
            raise TransportError(f"{self.place} is not connected")
        answer = begin(outgoing.frame)
        if isinstance(answer, bytes):
            return self._read(answer, outgoing)
        return self._wait(answer, outgoing)

    async def _wait(self, answer: Awaitable[bytes | None] | None, outgoing: Outgoing) -> Received:
        frame = None if answer is None else await answer
        if frame is not None:
            return self._read(frame, outgoing)
        if self._connection is None:
            raise TransportError(f"the client was closed before {outgoing.method} was answered")
        raise ProtocolError(f"{self.place} gave no answer to {outgoing.method}")

    def _read(self, frame: bytes, outgoing: Outgoing) -> Received:
        if len(frame) > self._max_bytes:
            raise too_long(self.place, self._max_bytes)
        if outgoing.request.calls_tool:
            result = read_ordinary(frame, outgoing.id, self._max_depth)
            if result is not None:
                return result
        message = read_frame(frame)[0]
        if type(message) is Response and (message.id == b"%d" % outgoing.id or message.id is None):
            return message
        raise ProtocolError(
            f"{self.place} answered {outgoing.method} with something else: {shorten(frame)}",
            code=message.code if isinstance(message, Malformed) else INTERNAL_ERROR,
        )

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Hand over a notification or an answer."""
        if self._connection is not None:
            await self._connection.handle(frame)

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        self._begin = None
        self._listener = None
        if connection is not None:
            await connection.close()
        for reply in list(self._replies):
            reply.cancel()

    def _hear(self, frame: bytes) -> None:
        if self._listener is None or self._connection is None:
            return
        for message in read_frame(frame):
            if isinstance(message, Request | Notification):
                reply = self._listener(message)
                if reply is not None:
                    task = asyncio.ensure_future(self._connection.handle(reply))
                    self._replies.add(task)
                    task.add_done_callback(self._replies.discard)
