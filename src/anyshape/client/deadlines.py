"""Time limits that wait while a user answers or signs in: people are slower than code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

__all__ = ["Deadlines"]


class Deadlines:
    """The time limits of requests that wait for an answer."""

    def __init__(self, longest_pause: float) -> None:
        self._longest_pause = longest_pause
        self._running: set[asyncio.Timeout] = set()
        self._due: dict[asyncio.Timeout, float] = {}
        self._pauses = 0
        self._since = 0.0

    def add(self, deadline: asyncio.Timeout) -> None:
        """Take over a time limit that has begun to run."""
        self._running.add(deadline)
        if self._pauses:
            self._hold(deadline)

    def discard(self, deadline: asyncio.Timeout) -> None:
        """Forget a time limit that is over."""
        self._running.discard(deadline)
        self._due.pop(deadline, None)

    @asynccontextmanager
    async def limit(self, timeout: float | None) -> AsyncGenerator[None]:
        """Raise `TimeoutError` if what is done meanwhile takes longer than `timeout` seconds."""
        async with asyncio.timeout(timeout) as deadline:
            self.add(deadline)
            try:
                yield
            finally:
                self.discard(deadline)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let no limit run meanwhile, for as long as the longest pause."""
        clock = asyncio.get_running_loop().time
        self._pauses += 1
        if self._pauses == 1:
            self._since = clock()
            for deadline in self._running:
                self._hold(deadline)
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                waited = clock() - self._since
                for deadline, due in self._due.items():
                    if not deadline.expired():
                        deadline.reschedule(due + waited)
                self._due.clear()

    def _hold(self, deadline: asyncio.Timeout) -> None:
        due = deadline.when()
        if due is not None and not deadline.expired():
            self._due[deadline] = due
            deadline.reschedule(due + self._longest_pause)
