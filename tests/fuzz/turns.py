"""Coroutines, run until there is nothing left that they do by themselves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

__all__ = ["LOOP", "run", "run_hastily", "turn_until_done"]

_MOST_TURNS = 200
_PATIENCE = 60.0
"""Seconds for threads and processes, on a machine that may be busy."""


class HastyLoop(asyncio.SelectorEventLoop):
    """A loop whose clock can be put forward, so that nothing has to be waited for."""

    skipped = 0.0

    def time(self) -> float:
        """Return the time, with what was skipped."""
        return super().time() + self.skipped


LOOP = HastyLoop()


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine gives; tasks that it leaves behind are a finding."""
    before = asyncio.all_tasks(LOOP)
    try:
        return LOOP.run_until_complete(coroutine)
    finally:
        left: set[asyncio.Task[Any]] = set()
        for _ in range(_MOST_TURNS):
            left = asyncio.all_tasks(LOOP) - before
            if not left:
                break
            LOOP.run_until_complete(asyncio.sleep(0))
        else:
            for task in left:
                task.cancel()
            LOOP.run_until_complete(asyncio.wait(left))
            raise AssertionError(f"left behind: {left}")


async def turn_until_done(*tasks: asyncio.Future[Any]) -> bool:
    """Give others their turns until all tasks are done; say whether they are, after many turns.

    Whoever waits for a few seconds to pass has waited long enough half way.
    """
    for turn in range(_MOST_TURNS):
        if all(task.done() for task in tasks):
            return True
        if turn == _MOST_TURNS // 2:
            LOOP.skipped += 5.0
        await asyncio.sleep(0)
    return False


def run_hastily(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Do as `run`, with a clock that is put forward whenever nothing else happens for a while."""
    return run(_hasten(coroutine))


async def _hasten(coroutine: Coroutine[Any, Any, Any]) -> Any:
    task = LOOP.create_task(coroutine)
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if await turn_until_done(task):
            return task.result()
        await asyncio.sleep(0.001)  # A thread or another process may have to finish.
    task.cancel()
    await asyncio.wait([task])
    raise AssertionError("waits for ever")
