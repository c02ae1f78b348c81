"""The threads on which synchronous tools run, so that the event loop never waits for one.

Unlike `concurrent.futures`, the threads are daemons: a tool that never returns cannot keep the
process alive. There are at most `limit` of them; further calls wait their turn, and a call that is
given up while it waits is never started, and forgotten at once with all it was given. Calls that
block hold their threads for as long as they please, so nobody waits for a turn longer than
`patience`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, Final


class CrowdedError(Exception):
    """No thread was free for a call, which has not begun."""


class _ThreadCall:
    """One call, from the moment it is asked for."""

    __slots__ = ("function", "future", "loop", "run")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        future: asyncio.Future[Any],
        function: Callable[[], Any],
    ) -> None:
        self.loop = loop
        self.future = future
        self.function = function
        self.run: Callable[..., Any] = copy_context().run


class WorkerThreads:
    """A bounded pool of daemon threads whose results come back to the calling event loop."""

    def __init__(self, limit: int, patience: float | None = None) -> None:
        """Make a pool of at most `limit` threads; none is started before it is needed.

        A call that waits for a thread for `patience` seconds is refused with `CrowdedError`.
        """
        self._limit = limit
        self._patience = patience
        self._forget()

    def run(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Call `function` on a thread, in the caller's context variables; await the result.

        Cancelling the future gives the call up: it is not started, or its outcome is dropped.
        """
        loop = asyncio.get_running_loop()
        job = _ThreadCall(loop, loop.create_future(), function)
        with self._lock:
            if self._idle:
                self._idle -= 1
            elif self._size < self._limit:
                threading.Thread(target=self._work, name="anyshape-tool", daemon=True).start()
                self._size += 1
            else:
                self._waiting[job] = None
                self._let_wait(job)
                return job.future
        self._jobs.put(job)
        return job.future

    def _let_wait(self, job: _ThreadCall) -> None:
        """See to it that a call waits for a thread no longer than it may, or than anybody wants."""
        job.future.add_done_callback(lambda _: self._withdraw(job))
        if self._patience is not None:
            timer = job.loop.call_later(self._patience, self._refuse, job)
            job.future.add_done_callback(lambda _: timer.cancel())

    def _work(self) -> None:
        jobs = self._jobs
        following: _ThreadCall | None = None
        while True:
            job = jobs.get() if following is None else following
            following = None
            value: Any = None
            error: BaseException | None = None
            begins = not job.future.cancelled()
            if begins:
                try:
                    value = job.run(job.function)
                except BaseException as caught:
                    error = caught
            # Before anyone hears of the outcome: their next call shall find this thread idle.
            with self._lock:
                if self._waiting:
                    following, _ = self._waiting.popitem(last=False)
                else:
                    self._idle += 1
            if begins:
                # A closed loop has nobody left to tell.
                with suppress(RuntimeError):
                    job.loop.call_soon_threadsafe(_set_outcome, job.future, value, error)
            # Kept across the wait, these would keep the last call's arguments alive.
            del job, value, error

    def _withdraw(self, job: _ThreadCall) -> bool:
        """Have a call wait no longer; tell whether it still did."""
        with self._lock:
            return self._waiting.pop(job, job) is None

    def _refuse(self, job: _ThreadCall) -> None:
        if self._withdraw(job) and not job.future.done():
            job.future.set_exception(
                CrowdedError(
                    f"all {self._limit} threads for synchronous tools were busy for "
                    f"{self._patience:g} seconds"
                )
            )

    def _forget(self) -> None:
        """Start afresh; in a forked child the parent's threads do not exist."""
        self._jobs: SimpleQueue[_ThreadCall] = SimpleQueue()
        """Calls for threads that are there for them."""
        self._waiting: OrderedDict[_ThreadCall, None] = OrderedDict()
        """Calls that no thread is there for, those that came first in front."""
        self._lock = threading.Lock()
        self._idle = 0
        self._size = 0


def _set_outcome(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(awaitable_error(error))


def awaitable_error(error: BaseException) -> BaseException:
    """Return what a future carries for an error: some would end the coroutines that await it."""
    if not isinstance(error, StopIteration | GeneratorExit):
        return error
    wrapped = RuntimeError(f"the function raised {type(error).__name__}")
    wrapped.__cause__ = error
    return wrapped


WORKERS: Final = WorkerThreads(limit=64, patience=10.0)
"""The pool that every tool of the process shares."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS._forget)
