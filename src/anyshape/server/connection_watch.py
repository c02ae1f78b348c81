"""The connections of one uvicorn, looked at while they are open: whose peer owes what, who reads.

A timer for each connection would cost every request; one for all of them costs nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from anyshape.server.kept_connections import KeptConnections

if TYPE_CHECKING:
    from uvicorn.server import ServerState

    from anyshape.server.http_protocol import HttpProtocol

_LOOKS: Final = 5
"""How often connections are looked at within the time a peer has."""


class Watch:
    """Looks at every connection of one uvicorn, a few times in the time that a peer has.

    It also knows those that are read too slowly, and bounds what waits on all of them.
    """

    def __init__(self, kept: KeptConnections) -> None:
        self.kept = kept
        self._connections: set[HttpProtocol] = set()
        """Those of uvicorn may be of other protocols."""
        self._unread: dict[HttpProtocol, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, connection: HttpProtocol) -> None:
        """Look from now on, until no connection is left."""
        self._connections.add(connection)
        if self._timer is None:
            self._wind(connection.loop, connection.patience / _LOOKS)

    def end(self, connection: HttpProtocol) -> None:
        """Look no more: the connection is over, or somebody else's."""
        self._connections.discard(connection)
        self.release(connection)
        self.kept.release(connection)

    def hold(self, connection: HttpProtocol) -> None:
        """Know a connection that is read too slowly; close older ones if all are too much."""
        self._unread[connection] = None
        total = sum(each.kept for each in self._unread)
        while total > connection.most_unread and len(self._unread) > 1:
            oldest = next(iter(self._unread))
            del self._unread[oldest]
            total -= oldest.kept
            oldest.transport.abort()

    def release(self, connection: HttpProtocol) -> None:
        """Forget a connection that has been read."""
        self._unread.pop(connection, None)

    def _wind(self, loop: asyncio.AbstractEventLoop, pause: float) -> None:
        self._timer = loop.call_later(pause, self._look, loop, pause)

    def _look(self, loop: asyncio.AbstractEventLoop, pause: float) -> None:
        self._timer = None
        now = loop.time()
        for connection in tuple(self._connections):
            connection.look(now)
        if self._connections:
            self._wind(loop, pause)


_watches: WeakKeyDictionary[ServerState, Watch] = WeakKeyDictionary()


def watch_over(state: ServerState, loop: asyncio.AbstractEventLoop, keep_alive: float) -> Watch:
    """Return what watches the connections of a uvicorn, which keeps them for `keep_alive`."""
    watch = _watches.get(state)
    if watch is None:
        kept = KeptConnections(loop, keep_alive)
        watch = _watches[state] = Watch(kept)
    return watch
