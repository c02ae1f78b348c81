"""Notifications of progress: as many as somebody can follow, and always the last one."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.meta import PROGRESS_KEY
from anyshape.protocol.methods import PROGRESS
from anyshape.server.request import OpenRequest

_WINDOW: Final = 1.0
_MOST_REPORTS: Final = 50
"""Notifications for one request within so many seconds; nobody can follow more."""


class ProgressReports:
    """The progress of one request, for a peer that asked for it under a token."""

    __slots__ = ("_count", "_due", "_held", "_request", "_token", "_window")

    def __init__(self, request: OpenRequest, token: str | int) -> None:
        self._request = request
        self._token = token
        self._count = 0
        self._window = 0.0
        """When counting starts again."""
        self._held: dict[str, object] | None = None
        self._due: asyncio.TimerHandle | None = None

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Send a notification, now or, if there were many of late, when it is due.

        One that waits is overtaken by the next; the last one is sent before the answer.
        """
        request = self._request
        if request.interruption is not None:
            return
        now = monotonic()
        if now >= self._window:
            self._window = now + _WINDOW
            self._count = 0
        self._count += 1
        self._held = {PROGRESS_KEY: self._token, "progress": progress}
        if total is not None:
            self._held["total"] = total
        if message is not None and request.revision.has_progress_messages:
            self._held["message"] = message
        if self._count <= _MOST_REPORTS and not request.peer.is_congested:
            self.send_last()
        elif self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(self._window - now, self._send_due)

    def send_last(self) -> None:
        """Send the notification that waits, if one does."""
        held = self._held
        self.drop()
        if held is not None and self._request.interruption is None:
            self._request.peer.send(encode_notification(PROGRESS, encode_data(held)))

    def drop(self) -> None:
        """Forget the notification that waits."""
        self._held = None
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _send_due(self) -> None:
        self._due = None
        if not self._request.peer.is_congested:
            self.send_last()
