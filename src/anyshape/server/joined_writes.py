"""Writes to all connections of an event loop, made together once per turn of it.

uvicorn writes the head of a response when the application starts it and the body when that follows,
and each write runs through the whole network stack, on a local connection to the far end and back,
before the next request is looked at. Here what is written during one turn of the loop leaves at its
end, while more than one request is being answered: one write per response, and the answers to
requests that came together leave together (docs/internals/performance.md has what that saves). A
request that is alone is answered at once.

Connections share a turn and nothing else: one that cannot be written to is closed, and the others
get their answers.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

_log = logging.getLogger("anyshape.server")

_SEVERAL: Final = 2
_LONGEST_WAIT: Final = 0.002
"""Seconds after which what waits is written before anything is added: a tool may hold the turn."""
_LARGE: Final = 65_536
"""Bytes that do not wait: the network has its own bounds, which slow the application down."""


class JoiningTransport(asyncio.Transport):
    """A transport that writes at the end of the turn, or before it is closed.

    `answering` holds the requests that are being answered, on whichever connection.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        answering: Collection[object],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__()
        self._answering = answering
        self._transport = transport
        self._turn = _turn_of(loop)
        self._pieces: list[bytes | bytearray | memoryview] = []
        self._size = 0
        self._handed = 0
        """Bytes of large pieces that were handed on since nothing waited to be read."""
        # What has been read is told of when nothing waits any more: until then all is kept.
        transport.set_write_buffer_limits(high=_LARGE, low=0)
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.get_write_buffer_size = transport.get_write_buffer_size

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write at the end of this turn of the loop, if others could have something to write.

        What is written to a connection that is closed, or about to be, is dropped: uvicorn does not
        tell a request that it is gone if another one was sent behind it.
        """
        if not self._pieces:
            if len(self._answering) < _SEVERAL:
                if not self.is_closing():
                    self._hand_on(data)
                return
            self._turn.add(self)
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _LARGE:
            self.flush()

    def _hand_on(self, data: bytes | bytearray | memoryview) -> None:
        if len(data) >= _LARGE:
            self._handed = len(data) + (self._handed if self.get_write_buffer_size() else 0)
        self._transport.write(data)

    @property
    def kept(self) -> int:
        """How many bytes are in memory until the peer has read all that waits.

        An event loop keeps a piece as it is until the last byte of it has left.
        """
        unread = self.get_write_buffer_size()
        return max(unread, self._handed) if unread else 0

    def flush(self) -> None:
        """Write what waits, unless there is nobody to write to any more."""
        pieces, self._pieces = self._pieces, []
        size, self._size = self._size, 0
        if not pieces or self.is_closing():
            return
        try:
            if size >= _LARGE:
                for piece in pieces:
                    self._hand_on(piece)
            else:
                self._transport.write(b"".join(pieces))
        except Exception:
            # Whoever is being written to, the one in whose name this runs is somebody else.
            _log.debug("a connection cannot be written to", exc_info=True)
            self._transport.abort()

    def write_eof(self) -> None:
        """Write what waits and end this direction, where there are two (not over TLS)."""
        self.flush()
        if not self.is_closing() and self._transport.can_write_eof():
            self._transport.write_eof()

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
        self._waiting: list[JoiningTransport] = []
        self._due = 0.0

    def add(self, transport: JoiningTransport) -> None:
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
