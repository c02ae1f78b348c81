"""Await a coroutine in place, and be told if it ever has to wait.

Most calls finish without waiting for anything, and for those a task, a timer, a cancellation entry
or a watch for disconnects is pure cost. `watched` runs the coroutine inside the current task, like
a plain `await`, and calls back the first time it suspends; whoever awaits it sets up there what
only a waiting call needs. Nothing changes for the coroutine: it starts and ends in one task, so
time-outs, task groups and cancel scopes inside it work as they always do.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

from anyshape.resumption import Resumed

__all__ = ["watched"]

Value = TypeVar("Value")


@types.coroutine
def watched(
    coroutine: Coroutine[Any, Any, Value],
    suspended: Callable[[], object],
    context: Context | None = None,
) -> Generator[Any, Any, Value]:
    """Await `coroutine`, calling `suspended` once if and when it first waits.

    With a `context`, the coroutine runs in it: a task that runs one call after another must not
    show the next call what the last one put in a context variable.
    """
    try:
        waited = coroutine.send(None) if context is None else context.run(coroutine.send, None)
    except StopIteration as stop:
        return stop.value
    suspended()
    return (yield from Resumed(coroutine, waited, context).__await__())
