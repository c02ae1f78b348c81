"""What a server tells in passing, on its way to a callback of the caller."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

logger = logging.getLogger(__name__)

_KEPT: Final = 256

ReportT = TypeVar("ReportT")


class Relay(Generic[ReportT]):
    """Hands reports to a callback, one after another; a slow one misses the oldest of many."""

    def __init__(self, callback: Callable[[ReportT], Awaitable[None] | None], what: str) -> None:
        self._callback = callback
        self._what = what
        self._queue: deque[ReportT] = deque(maxlen=_KEPT)
        self._task: asyncio.Task[None] | None = None

    def take(self, report: ReportT) -> None:
        """Deliver a report now, or after those before it."""
        if self._task is not None:
            self._queue.append(report)
            return
        pending = self._deliver(report)
        if pending is not None:
            self._task = asyncio.get_running_loop().create_task(self._run(pending))

    async def finish(self) -> None:
        """Wait until every report was delivered."""
        if self._task is not None:
            await self._task

    def abandon(self) -> None:
        """Deliver none of what has come so far; a client that is opened again may hear more."""
        self._queue.clear()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    def _deliver(self, report: ReportT) -> Awaitable[None] | None:
        try:
            returned = self._callback(report)
        except Exception:
            logger.exception("a %s callback failed", self._what)
            return None
        return returned if inspect.isawaitable(returned) else None

    async def _run(self, pending: Awaitable[None] | None) -> None:
        while True:
            if pending is not None:
                try:
                    await pending
                except asyncio.CancelledError:
                    task = asyncio.current_task()
                    if task is None or task.cancelling():
                        raise
                    logger.exception("what a %s callback waits for was cancelled", self._what)
                except Exception:
                    logger.exception("a %s callback failed", self._what)
            if not self._queue:
                self._task = None
                return
            pending = self._deliver(self._queue.popleft())
