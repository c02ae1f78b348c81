"""The rest of a coroutine that was started by hand.

Most calls finish without waiting for anything, and for those a timer or a task is pure cost. So a
server runs the first step of a handler itself, and a tool with a time-out that of its function.
Only if that step has to wait do they set up what waiting needs, and await what remains as if it had
been awaited all along.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

Returned = TypeVar("Returned")


class Resumed(Awaitable[Returned]):
    """What is left of `coroutine`, which has been started and now waits for `waited`.

    With a `context` it goes on in that one. Nothing changes for the coroutine: it starts and ends
    in one task, so time-outs, task groups and cancel scopes inside it work as they always do.

    With a `task`, the one that awaits it, it knows whether it has cancelled that task itself.
    """

    __slots__ = ("_context", "_coroutine", "_waited", "has_cancelled_itself", "task")

    def __init__(
        self, coroutine: Coroutine[Any, Any, Returned], waited: Any, context: Context | None = None
    ) -> None:
        self._coroutine = coroutine
        self._waited = waited
        self._context = context
        self.task: asyncio.Task[Any] | None = None
        self.has_cancelled_itself = False
        """Whether its task was last cancelled in a step of its own, and not while it waited."""

    def __await__(self) -> Generator[Any, Any, Returned]:
        coroutine, waited, task = self._coroutine, self._waited, self.task
        cancels = 0
        send: Callable[[Any], Any] = coroutine.send
        throw: Callable[[BaseException], Any] = coroutine.throw
        if self._context is not None:
            send = partial(self._context.run, send)
            throw = partial(self._context.run, throw)
        try:
            while True:
                if task is not None:
                    cancels = task.cancelling()
                try:
                    received = yield waited
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as error:
                    if task is not None:
                        self.has_cancelled_itself = 0 < task.cancelling() <= cancels
                    waited = throw(error)
                else:
                    waited = send(received)
        except StopIteration as stop:
            return stop.value


def start(
    coroutine: Coroutine[Any, Any, Returned], context: Context | None = None
) -> Returned | Resumed[Returned]:
    """Run a coroutine, in `context`, until it first waits: what it returned, or what remains."""
    try:
        waited = coroutine.send(None) if context is None else context.run(coroutine.send, None)
    except StopIteration as stop:
        return stop.value
    return Resumed(coroutine, waited, context)
