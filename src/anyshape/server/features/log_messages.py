"""Log messages for clients: who wants which, and `logging/setLevel`.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging and the page of
that name of 2025-11-25. A modern request says which messages it wants; a client of a handshake says
so once, and until then it is told of what is of level info or above.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from anyshape.protocol.log_levels import LogLevel
from anyshape.protocol.methods import SET_LOG_LEVEL
from anyshape.protocol.revision import Revision
from anyshape.server.features.feature import Feature, Method
from anyshape.server.parameters import BareParameters
from anyshape.server.peer import Peer
from anyshape.server.request import OpenRequest
from anyshape.server.request_log import RequestLog
from anyshape.server.service import Service

_MOST_SESSIONS: Final = 4096


class SetLevelParameters(BareParameters, gc=False, frozen=True, kw_only=True):
    """`logging/setLevel`: the least severe level that the client wants to be told of."""

    level: LogLevel


class LogMessages(Feature):
    """What a server tells its clients while it works.

    A server has it from the first function on that takes a `Context`, or when Python's `logging` is
    routed: in no other way can anything be logged.
    """

    def __init__(self, service: Service) -> None:
        self._levels: dict[bytes, LogLevel] = {}
        """Of sessions, the one that was set last at the end."""
        self.methods = {SET_LOG_LEVEL: Method(SetLevelParameters, handshake=self.set_level)}
        service.log_messages = self

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the `logging` capability, which every revision has."""
        return {"logging": {}}

    async def set_level(self, parameters: SetLevelParameters, request: OpenRequest) -> bytes:
        """Remember which messages a client of a handshake wants."""
        peer = request.peer
        peer.log_level = parameters.level
        if peer.session_id is not None:
            self._levels.pop(peer.session_id, None)
            if len(self._levels) >= _MOST_SESSIONS:
                del self._levels[next(iter(self._levels))]
            self._levels[peer.session_id] = parameters.level
        return b"{}"

    def log_of(self, request: OpenRequest, asked: LogLevel | UnsetType | None) -> RequestLog | None:
        """Return where the messages of a request go, `None` if it wants none.

        `asked` is the level that the request names itself.
        """
        # A middleware may have a request answered again, whose log was finished with the first.
        is_needed = request.log is None or not request.log.is_open
        if is_needed and request.peer.takes_stream:
            level = asked if request.revision.is_modern else self._level(request.peer)
            if level is not None and level is not UNSET:
                request.log = RequestLog(request, level)
        return request.log

    def _level(self, peer: Peer) -> LogLevel:
        if peer.session_id is None:
            return peer.log_level
        return self._levels.get(peer.session_id, peer.log_level)
