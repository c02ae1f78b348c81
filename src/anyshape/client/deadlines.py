"""Time limits that wait while a user answers or signs in: people are slower than code.

Every request has a limit, and hardly any is ever reached. So a limit is no timer of its own: one
timer is set for the earliest of all, and looks for the next one when it is due.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class Deadlines:
    """The time limits of requests that wait for an answer."""

    def __init__(self, longest_pause: float) -> None:
        self._longest_pause = longest_pause
        self._running: set[_Limit] = set()
        self._pauses = 0
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None

    def limit(self, timeout: float | None) -> _Limit:
        """Return what raises `TimeoutError` if a `with` block takes longer than `timeout` seconds.

        `None` is for ever.
        """
        return _Limit(self, timeout)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let no limit run meanwhile, for as long as the longest pause."""
        clock = asyncio.get_running_loop().time
        self._pauses += 1
        if self._pauses == 1:
            began = clock()
            for limit in self._running:
                self._hold(limit, began)
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                now = clock()
                for limit in self._running:
                    limit.due += min(now - limit.since, limit.held) - limit.held
                    limit.held = 0.0
                    self._wind(limit.due)

    def add(self, limit: _Limit, loop: asyncio.AbstractEventLoop) -> None:
        """Let a limit run."""
        if loop is not self._loop:
            self._loop, self._timer = loop, None
            self._running.clear()  # of a loop that ended in the middle of requests
        self._running.add(limit)
        if self._pauses:
            self._hold(limit, loop.time())
        if self._timer is None or limit.due < self._due:
            self._wind(limit.due)

    def discard(self, limit: _Limit) -> None:
        """Forget a limit that is over."""
        self._running.discard(limit)

    def _hold(self, limit: _Limit, since: float) -> None:
        limit.since = since
        limit.held = self._longest_pause
        limit.due += limit.held

    def _wind(self, due: float) -> None:
        """Have the timer go off by then."""
        if self._loop is None or (self._timer is not None and self._due <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = self._loop.call_at(due, self._ring)

    def _ring(self) -> None:
        """Stop what is overdue, and set the timer for what is due next."""
        if self._loop is None:
            return
        self._timer = None
        now = max(self._loop.time(), self._due)  # a timer may go off a trifle early
        for limit in [limit for limit in self._running if limit.due <= now]:
            self._running.discard(limit)
            limit.expire()
        if self._running:
            self._wind(min(limit.due for limit in self._running))


class _Limit:
    """One time limit, for the task that enters it; as `asyncio.timeout`, in a plain `with`."""

    __slots__ = (
        "_cancelling",
        "_deadlines",
        "_expired",
        "_task",
        "_timeout",
        "due",
        "held",
        "since",
    )

    def __init__(self, deadlines: Deadlines, timeout: float | None) -> None:
        self._deadlines = deadlines
        self._timeout = timeout
        self._expired = False
        self.due = 0.0
        self.held = 0.0
        """Seconds that `due` was put off by for a pause that has not ended."""
        self.since = 0.0
        """When that pause began for it."""

    def __enter__(self) -> None:
        """Begin to run."""
        if self._timeout is not None:
            loop = asyncio.get_running_loop()
            self._task: asyncio.Task[Any] | None = asyncio.current_task(loop)
            self._cancelling = 0 if self._task is None else self._task.cancelling()
            self.due = loop.time() + self._timeout
            self._deadlines.add(self, loop)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Stop running; raise `TimeoutError` if that is why the task was cancelled."""
        if self._timeout is None:
            return
        self._deadlines.discard(self)
        task, self._task = self._task, None
        if self._expired and task is not None:
            by_us = task.uncancel() <= self._cancelling
            if by_us and kind is asyncio.CancelledError:
                raise TimeoutError from error

    def expire(self) -> None:
        """Cancel the task."""
        self._expired = True
        if self._task is not None:
            self._task.cancel()
