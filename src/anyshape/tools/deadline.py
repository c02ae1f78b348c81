"""Await something for a limited time, at no cost while it does not wait.

Most asynchronous tools answer without suspending. A timer for those would be set and cancelled for
nothing, so it is set when the coroutine first waits. Before that no timer could interrupt it.
"""

from __future__ import annotations

import asyncio
from inspect import iscoroutine
from typing import Any

from anyshape.resumption import Resumed

__all__ = ["OvertimeError", "within"]


class OvertimeError(Exception):
    """The time has run out. A `TimeoutError` is the awaited function's own."""


async def within(seconds: float, awaitable: Any) -> Any:
    """Return what `awaitable` comes to, or raise `OvertimeError` after `seconds`."""
    if iscoroutine(awaitable):
        try:
            waited = awaitable.send(None)
        except StopIteration as stop:
            return stop.value
        awaitable = Resumed(awaitable, waited)
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            return await awaitable
    except TimeoutError:
        if clock.expired():
            raise OvertimeError from None
        raise
