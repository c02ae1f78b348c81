"""Starting work at once, and setting a time limit only for work that has to wait.

A server in memory answers most calls without waiting for anything; arming and disarming a timer
for each of them would cost more than the rest of the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from anyshape.resumption import Resumed

__all__ = ["finish_within"]

T = TypeVar("T")


async def finish_within(work: Coroutine[Any, Any, T], timeout: float | None) -> T:
    """Return what the coroutine returns; `TimeoutError` if it waits for longer than `timeout`."""
    try:
        waits_for = work.send(None)
    except StopIteration as done:
        return done.value
    async with asyncio.timeout(timeout):
        return await Resumed(work, waits_for)
