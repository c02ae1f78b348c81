"""A request that came by HTTP: its revision from headers, its notifications onto the response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from anyshape.protocol.revision import LATEST_HANDSHAKE, Revision
from anyshape.server.exchange import Exchange, Interruption
from anyshape.server.failures import missing_meta, unsupported_version
from anyshape.server.parameters import PROTOCOL_VERSION

if TYPE_CHECKING:
    from anyshape.server.authorization import AccessToken
    from anyshape.server.headers import RequestHeaders
    from anyshape.server.http import HttpApplication
    from anyshape.server.response import HttpResponse

__all__ = ["UNNAMED", "HttpExchange", "Receive"]

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

UNNAMED: Final = Revision.V2025_03_26
"""The revision of a request without `MCP-Protocol-Version`: the last one not to have it."""

_PATIENCE: Final = 0.02
"""Seconds a call may wait before its connection is watched: most are done by then."""


class HttpExchange(Exchange):
    """One request in one POST."""

    __slots__ = ("_application", "_patience", "_receive", "_response", "_watch")

    transport = "tcp"

    def __init__(
        self,
        application: HttpApplication,
        headers: RequestHeaders,
        response: HttpResponse,
        receive: Receive,
        access: AccessToken | None,
    ) -> None:
        super().__init__(application.service)
        self.headers = headers
        self.access = access
        self._application = application
        self._response = response
        self._receive = receive
        self._patience: asyncio.TimerHandle | None = None
        self._watch: asyncio.Task[None] | None = None

    def assumed(self, method: str) -> Revision:
        """Return the revision that the header names, for a body that names none."""
        assert self.headers is not None
        version = self.headers.version
        if version is None:
            return UNNAMED
        revision = Revision.parse(version)
        if revision is None:
            raise unsupported_version(version)
        if not revision.is_modern:
            return revision
        if method == "initialize":
            return LATEST_HANDSHAKE
        raise missing_meta(PROTOCOL_VERSION)

    def send(self, message: bytes) -> None:
        """Put a message on the response, which becomes a stream."""
        self._response.push(message)

    def suspended(self) -> None:
        """Watch for the client going away, and for silence."""
        super().suspended()
        self._application.track(self)
        self._response.watch_silence()
        if self.disconnect_cancels:
            self._patience = asyncio.get_running_loop().call_later(_PATIENCE, self._start_watch)

    def settled(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._application.untrack(self)
            if self._patience is not None:
                self._patience.cancel()
            if self._watch is not None:
                self._watch.cancel()
        super().settled()

    @property
    def disconnect_cancels(self) -> bool:
        """Whether a client that goes away has cancelled, which before 2026-07-28 it has not."""
        return not self.batched and self.revision is not None and self.revision.is_modern

    def _start_watch(self) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._await_disconnect())

    async def _await_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.interrupt(Interruption.CANCELLED)
