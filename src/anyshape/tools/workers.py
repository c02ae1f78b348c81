"""The threads on which synchronous tools run, so that the event loop never waits for one.

Unlike `concurrent.futures`, the threads are daemons: a tool that never returns cannot keep the
process alive. There are at most `limit` of them; further calls wait their turn, and a call that is
given up while it waits is never started.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, Final

__all__ = ["WORKERS", "Workers"]


class Workers:
    """A bounded pool of daemon threads whose results come back to the calling event loop."""

    __slots__ = ("_idle", "_jobs", "_limit", "_lock", "_size")

    def __init__(self, limit: int) -> None:
        """Make a pool of at most `limit` threads; none is started before it is needed."""
        self._limit = limit
        self._forget()

    def run(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Call `function` on a thread, in the caller's context variables; await the result.

        Cancelling the future gives the call up: it is not started, or its outcome is dropped.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._jobs.put((loop, future, copy_context().run, function))
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            elif self._size < self._limit:
                self._size += 1
                threading.Thread(target=self._work, name="anyshape-tool", daemon=True).start()
        return future

    def _work(self) -> None:
        jobs = self._jobs
        while True:
            loop, future, run, function = jobs.get()
            value: Any = None
            error: BaseException | None = None
            given_up = future.cancelled()
            if not given_up:
                try:
                    value = run(function)
                except BaseException as caught:
                    error = caught
            # Before anyone hears of the outcome: their next call shall find this thread idle.
            with self._lock:
                self._idle += 1
            if not given_up:
                # A closed loop has nobody left to tell.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(_settle, future, value, error)
            # Kept across the wait, these would keep the last call's arguments alive.
            del loop, future, run, function, value, error

    def _forget(self) -> None:
        """Start afresh; in a forked child the parent's threads do not exist."""
        self._jobs: SimpleQueue[
            tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[..., Any], Any]
        ] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._size = 0


def _settle(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):
        # A future cannot carry StopIteration: it would end the coroutine that awaits it.
        wrapped = RuntimeError("the function raised StopIteration")
        wrapped.__cause__ = error
        future.set_exception(wrapped)
    else:
        future.set_exception(error)


WORKERS: Final = Workers(limit=64)
"""The pool that every tool of the process shares."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS._forget)
