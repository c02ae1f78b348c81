"""The threads behind `asyncio.to_thread` while a process serves stdio.

The standard executor's threads are waited for when Python exits, so one tool that is stuck in one
would keep the server alive long after its client is gone. These are daemons, like the threads that
synchronous tools run on: what outlasts the grace time is left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from anyshape.tools.workers import WorkerThreads, awaitable_error

Arguments = ParamSpec("Arguments")
Produced = TypeVar("Produced")

_MOST_THREADS = 64


class DaemonExecutor(ThreadPoolExecutor):
    """A pool of daemon threads; a `ThreadPoolExecutor` because event loops take nothing else."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self._workers = WorkerThreads(_MOST_THREADS)

    def submit(
        self,
        fn: Callable[Arguments, Produced],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Produced]:
        """Call a function on a thread, and return the future of what it returns."""
        future: Future[Produced] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    value = fn(*args, **kwargs)
                except BaseException as error:
                    future.set_exception(awaitable_error(error))
                else:
                    future.set_result(value)

        self._workers.run(work)
        return future
