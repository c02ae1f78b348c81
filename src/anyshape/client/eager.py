"""Starting work at once, and setting a time limit only for work that has to wait.

A server in memory answers most calls without waiting for anything; arming and disarming a timer
for each of them would cost more than the rest of the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, TypeVar

__all__ = ["Resumed", "finish_within"]

T = TypeVar("T")


async def finish_within(work: Coroutine[Any, Any, T], timeout: float | None) -> T:
    """Return what the coroutine returns; `TimeoutError` if it waits for longer than `timeout`."""
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        return done.value
    async with asyncio.timeout(timeout):
        return await Resumed(work, waits_for)


class Resumed(Awaitable[T]):
    """The rest of a coroutine that was started by hand and now waits for something."""

    __slots__ = ("_waits_for", "_work")

    def __init__(self, work: Coroutine[Any, Any, T], waits_for: Any) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, T]:
        work, waits_for = self._work, self._waits_for
        while True:
            try:
                try:
                    sent = yield waits_for
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as error:
                    waits_for = work.throw(error)
                else:
                    waits_for = work.send(sent)
            except StopIteration as done:
                return done.value
