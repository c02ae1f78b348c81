"""Await a coroutine in place, and be told if it ever has to wait.

Most calls finish without waiting for anything, and for those a task, a timer, a cancellation entry
or a watch for disconnects is pure cost. `Watched` runs the coroutine inside the current task, like
a plain `await`, and calls back the first time it suspends; whoever awaits it sets up there what
only a waiting call needs. Nothing changes for the coroutine: it starts and ends in one task, so
time-outs, task groups and cancel scopes inside it work as they always do.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from functools import partial
from typing import Any, Generic, TypeVar

__all__ = ["Watched"]

Value = TypeVar("Value")


class Watched(Generic[Value]):
    """An awaitable around a coroutine that calls `suspended` once, when the coroutine first waits.

    With a `context`, the coroutine runs in it: a task that runs one call after another must not
    show the next call what the last one put in a context variable.
    """

    __slots__ = ("_context", "_coroutine", "_suspended")

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, Value],
        suspended: Callable[[], object],
        context: Context | None = None,
    ) -> None:
        self._coroutine = coroutine
        self._suspended = suspended
        self._context = context

    def __await__(self) -> Generator[Any, Any, Value]:
        coroutine = self._coroutine
        send: Callable[[Any], Any] = coroutine.send
        throw: Callable[[BaseException], Any] = coroutine.throw
        if self._context is not None:
            send = partial(self._context.run, send)
            throw = partial(self._context.run, throw)
        try:
            waited = send(None)
        except StopIteration as stop:
            return stop.value
        self._suspended()
        try:
            while True:
                try:
                    received = yield waited
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as error:
                    waited = throw(error)
                else:
                    waited = send(received)
        except StopIteration as stop:
            return stop.value
