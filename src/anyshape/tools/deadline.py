"""Await something for a limited time, at no cost while it does not wait.

Most asynchronous tools answer without suspending. A timer for those would be set and cancelled for
nothing, so it is set when the coroutine first waits. Before that no timer could interrupt it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import iscoroutine
from typing import Any, Protocol

from anyshape.resumption import Resumed


class OvertimeError(Exception):
    """The time has run out. A `TimeoutError` is the awaited function's own."""


class Deadline:
    """How long something may still take; the clock stands while it is paused."""

    __slots__ = ("_clock", "_left", "_pauses")

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._pauses = 0
        self._clock: asyncio.Timeout | None = None

    def start(self) -> asyncio.Timeout:
        """Return the clock, to be entered."""
        self._clock = asyncio.timeout(None if self._pauses else self._left)
        return self._clock

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let the clock stand until all who have paused it are done."""
        now = asyncio.get_running_loop().time
        self._pauses += 1
        if self._clock is not None and self._pauses == 1:
            self._left = max(0.0, (self._clock.when() or 0.0) - now())
            self._clock.reschedule(None)
        try:
            yield
        finally:
            self._pauses -= 1
            if self._clock is not None and not self._pauses and not self._clock.expired():
                self._clock.reschedule(now() + self._left)


class Interruptible(Protocol):
    """A call whose time may be stopped while it waits for its caller."""

    deadline: Deadline | None


def paused(call: Interruptible) -> AbstractContextManager[None]:
    """Have the time of a call stand, if it is limited, while its caller is waited for."""
    return nullcontext() if call.deadline is None else call.deadline.paused()


async def within(seconds: float, awaitable: Any, call: Interruptible | None = None) -> Any:
    """Return what `awaitable` comes to, or raise `OvertimeError` after `seconds`."""
    deadline: Deadline | None = None
    if call is not None:
        deadline = call.deadline = Deadline(seconds)
    if iscoroutine(awaitable):
        try:
            waited = awaitable.send(None)
        except StopIteration as stop:
            return stop.value
        awaitable = Resumed(awaitable, waited)
    clock = asyncio.timeout(seconds) if deadline is None else deadline.start()
    try:
        async with clock:
            return await awaitable
    except TimeoutError:
        if clock.expired():
            raise OvertimeError from None
        raise
