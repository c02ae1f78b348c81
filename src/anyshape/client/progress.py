"""Progress reports on their way to the caller.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

__all__ = ["OnProgress", "Progress", "ProgressRelay", "read_progress"]

logger = logging.getLogger(__name__)

_KEPT = 256


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call has come, in whatever unit the tool counts."""

    progress: float
    total: float | None = None
    message: str | None = None


OnProgress: TypeAlias = Callable[[Progress], Awaitable[None] | None]
"""Called with each report, in order; may be async, and then holds nothing else up."""


class _Report(msgspec.Struct):
    progressToken: int | str  # noqa: N815 - as it stands on the wire
    progress: int | float
    total: int | float | None = None
    message: str | None = None


_decode = msgspec.json.Decoder(_Report).decode


def read_progress(params: msgspec.Raw | None) -> tuple[int | str, Progress] | None:
    """Return the token and the report of a notification, or `None` if it is malformed."""
    if params is None:
        return None
    try:
        report = _decode(params)
    except (msgspec.DecodeError, RecursionError):
        return None
    return report.progressToken, Progress(report.progress, report.total, report.message)


class ProgressRelay:
    """Hands the reports of one call to its callback; a slow one misses the oldest of many."""

    def __init__(self, callback: OnProgress) -> None:
        self._callback = callback
        self._queue: deque[Progress] = deque(maxlen=_KEPT)
        self._task: asyncio.Task[None] | None = None

    def take(self, progress: Progress) -> None:
        """Deliver a report now, or after those before it."""
        if self._task is not None:
            self._queue.append(progress)
            return
        pending = self._deliver(progress)
        if pending is not None:
            self._task = asyncio.get_running_loop().create_task(self._run(pending))

    async def finish(self) -> None:
        """Wait until every report was delivered."""
        if self._task is not None:
            await self._task

    def abandon(self) -> None:
        """Deliver nothing more."""
        self._queue.clear()
        if self._task is not None:
            self._task.cancel()

    def _deliver(self, progress: Progress) -> Awaitable[None] | None:
        try:
            returned = self._callback(progress)
        except Exception:
            logger.exception("a progress callback failed")
            return None
        return returned if inspect.isawaitable(returned) else None

    async def _run(self, pending: Awaitable[None] | None) -> None:
        while True:
            if pending is not None:
                try:
                    await pending
                except Exception:
                    logger.exception("a progress callback failed")
            if not self._queue:
                self._task = None
                return
            pending = self._deliver(self._queue.popleft())
