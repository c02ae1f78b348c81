"""uvicorn's HTTP protocol, writing to all connections together once per turn of the event loop.

uvicorn writes the head of a response when the application starts it and the body when that follows,
and each write runs through the whole network stack, on a local connection to the far end and back,
before the next request is looked at. Here what is written during one turn of the loop leaves at its
end, while more than one request is being answered: one write per response, and the answers to
requests that came together leave together. That takes about a fifth less processor time a call
(docs/internals/performance.md). A request that is alone is answered as uvicorn does it: the head,
which leaves a little earlier, wakes whoever waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["JoiningProtocol"]

_SEVERAL: Final = 2
_LONGEST_WAIT: Final = 0.002
"""Seconds after which what waits is written before anything is added: a tool may hold the turn."""
_LARGE: Final = 65_536
"""Bytes that do not wait: the network has its own bounds, which slow the application down."""


class JoiningProtocol(HttpToolsProtocol):
    """One HTTP connection."""

    _joining: _JoiningTransport

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Write to the connection through a transport that joins."""
        self._joining = _JoiningTransport(transport, _turn_of(self.loop), self.tasks)
        super().connection_made(self._joining)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what waits: nobody will read it, and uvloop refuses to write it."""
        self._joining.discard()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Hand the bare transport on: there is no more to join on this connection."""
        self.transport = self._joining.release()
        super().handle_websocket_upgrade()


class _JoiningTransport(asyncio.Transport):
    """A transport that writes at the end of the turn, or before it is closed."""

    def __init__(
        self, transport: asyncio.Transport, turn: _Turn, answering: Collection[object]
    ) -> None:
        super().__init__()
        self._answering = answering
        self._transport = transport
        self._turn = turn
        self._pieces: list[bytes | bytearray | memoryview] = []
        self._size = 0
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write at the end of this turn of the loop, if others could have something to write."""
        if not self._pieces:
            if len(self._answering) < _SEVERAL:
                self._transport.write(data)
                return
            self._turn.add(self)
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _LARGE:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        pieces, self._pieces = self._pieces, []
        if self._size >= _LARGE:
            for piece in pieces:
                self._transport.write(piece)
        elif pieces:
            self._transport.write(b"".join(pieces))
        self._size = 0

    def close(self) -> None:
        """Write what waits, and close."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self.discard()
        self._transport.abort()

    def discard(self) -> None:
        """Forget what waits."""
        self._pieces.clear()
        self._size = 0

    def release(self) -> asyncio.Transport:
        """Write what waits, and return the transport underneath."""
        self.flush()
        return self._transport


class _Turn:
    """The transports that have something to write at the end of this turn of one loop."""

    def __init__(self) -> None:
        self._waiting: list[_JoiningTransport] = []
        self._due = 0.0

    def add(self, transport: _JoiningTransport) -> None:
        now = monotonic()
        if self._waiting and now > self._due:
            self._end()
        if not self._waiting:
            self._due = now + _LONGEST_WAIT
            asyncio.get_running_loop().call_soon(self._end)
        self._waiting.append(transport)

    def _end(self) -> None:
        waiting, self._waiting = self._waiting, []
        for transport in waiting:
            transport.flush()


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turn] = WeakKeyDictionary()


def _turn_of(loop: asyncio.AbstractEventLoop) -> _Turn:
    turn = _turns.get(loop)
    if turn is None:
        turn = _turns[loop] = _Turn()
    return turn
