"""Await something for a limited time, at no cost while it does not wait.

Most asynchronous tools answer without suspending. A timer for those would be set and cancelled for
nothing, so it is set when the coroutine first has to wait; nothing could have stopped it earlier.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from inspect import iscoroutine
from typing import Any

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
        awaitable = _Resumed(awaitable, waited)
    clock = asyncio.timeout(seconds)
    try:
        async with clock:
            return await awaitable
    except TimeoutError:
        if clock.expired():
            raise OvertimeError from None
        raise


class _Resumed:
    """The rest of a coroutine that has already been started, and waits for `waited`."""

    __slots__ = ("_coroutine", "_waited")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], waited: Any) -> None:
        self._coroutine = coroutine
        self._waited = waited

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, waited = self._coroutine, self._waited
        try:
            while True:
                try:
                    received = yield waited
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as error:
                    waited = coroutine.throw(error)
                else:
                    waited = coroutine.send(received)
        except StopIteration as stop:
            return stop.value
