"""Connections that are kept for their next request, and closed after a silence.

uvicorn sets a timer when a request is answered and cancels it when the next one comes, which is
1.2 of the 38 µs of a small call. All connections are kept equally long, so they are due in the
order in which they were answered, and one timer is enough: for the first of them.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

GLANCE: Final = 0.05
"""Seconds in which a loop that was held up gets to read what has come meanwhile."""


class KeptConnection(Protocol):
    """A connection of uvicorn's, as far as silence on it goes."""

    def timeout_keep_alive_handler(self) -> None:
        """Close it."""
        ...


class KeptConnections:
    """The connections of one uvicorn on which a request has been answered and none has come since.

    Each is kept for `seconds`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._since: dict[KeptConnection, float] = {}
        """When each was answered: the one that has been silent for longest comes first."""
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, connection: KeptConnection) -> None:
        """Wait for the next request on a connection, from now on."""
        self._since.pop(connection, None)  # What is set anew would keep its place.
        self._since[connection] = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self.look)

    def release(self, connection: KeptConnection) -> None:
        """Wait no longer: something has come, or the connection is over."""
        self._since.pop(connection, None)

    def look(self) -> None:
        """Close what has been silent for too long, unless a request is there that was not read."""
        if self._timer is not None:
            self._timer.cancel()  # It has gone off, unless somebody looks before it was due.
            self._timer = None
        now = self._loop.time()
        silent: list[tuple[KeptConnection, float]] = []
        for connection, since in self._since.items():
            left = since + self._seconds - now
            if left > 0:
                self._timer = self._loop.call_later(left, self.look)
                break
            silent.append((connection, since))
        if silent:
            self._loop.call_later(GLANCE, self._close, silent)

    def _close(self, silent: list[tuple[KeptConnection, float]]) -> None:
        for connection, since in silent:
            if self._since.get(connection) == since:
                del self._since[connection]
                connection.timeout_keep_alive_handler()
