"""An event loop that belongs to one server: it runs until that is done, whatever tools do to it.

A tool may start tasks and threads of its own. A task in which `SystemExit` or `KeyboardInterrupt`
is raised stops a loop, and `asyncio.run` waits for threads behind `asyncio.to_thread` without end.
Here the loop goes on after the one, and is left without the other.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Coroutine

from anyshape.server.executor import DaemonExecutor

_log = logging.getLogger("anyshape.server")


def run_until_served(
    loop: asyncio.AbstractEventLoop, serving: Coroutine[object, object, None], grace: float
) -> None:
    """Run a new loop until `serving` is done, and close it.

    What tools have left running is cancelled then, and has `grace` seconds to end.
    """
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    try:
        _run(loop, loop.create_task(serving))
    finally:
        loop.run_until_complete(_leave(grace))
        asyncio.set_event_loop(None)
        loop.close()


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    """Run a loop until a task is done, through what other tasks would end it with.

    A loop stops at a `KeyboardInterrupt` or `SystemExit` in any task, and tools start tasks.
    """
    while not serving.done():
        try:
            loop.run_until_complete(serving)
        except (KeyboardInterrupt, SystemExit) as error:
            if serving.done() or signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                raise
            _log.error("a task that a tool has started ended", exc_info=error)


async def _leave(grace: float) -> None:
    """Cancel what tools have left running; what ignores that is left behind, not waited for."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=grace)
    await asyncio.get_running_loop().shutdown_asyncgens()
