"""A function of the author's that a server calls: where it runs, for how long, and how it fails.

Tools, prompts and resources are routines. What differs is what becomes of their arguments, of what
they return, and of their failures.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from functools import partial
from inspect import isawaitable
from typing import Any, Final, NoReturn, cast

from anyshape.errors import ResourceNotFound, ToolDefinitionError
from anyshape.tools import failures
from anyshape.tools.asked_parameters import ASKING, ask_first
from anyshape.tools.context import Context
from anyshape.tools.deadline import OvertimeError, within
from anyshape.tools.signature import Signature
from anyshape.tools.workers import WORKERS, CrowdedError

Invoke = Callable[..., Any]
"""Calls the function; takes the values of its parameters by name."""

VALUES: Final = frozenset((str, int, float, bool, list, dict, type(None)))
"""Types of which no value can be awaited; looking here first takes a tenth of `isawaitable`."""

_log = logging.getLogger("anyshape.tools")
_LONGEST: Final = 10_000


class RoutineError(Exception):
    """A routine that is no tool has failed; the message is what its caller may read."""


class Routine:
    """A function with all that is needed to call it; it does not change once it is made."""

    function: Callable[..., Any]
    """What is called."""
    timeout: float | None
    """After how many seconds a call is given up; `None` leaves that to the server."""
    _context: tuple[str, ...]
    _invoke: Invoke
    _start: Invoke
    _threaded: bool

    def _set_up(
        self,
        name: str,
        function: Callable[..., Any],
        signature: Signature,
        *,
        timeout: float | None,
        inline: bool,
    ) -> None:
        """Decide how the function runs: a synchronous one on a worker thread, unless `inline`."""
        invoke = self._invoker(function, signature)
        context, asynchronous = signature.context, signature.asynchronous
        threaded = not inline and not asynchronous
        if timeout is not None and (
            not isinstance(cast("object", timeout), int | float) or not 0 < timeout < float("inf")
        ):
            raise ToolDefinitionError(
                f"{name}: timeout has to be a number of seconds above 0, got {timeout!r:.40}"
            )
        if timeout is not None and not threaded and not asynchronous:
            raise ToolDefinitionError(
                f"{name}: a function that runs inline cannot be timed out; drop inline= or timeout="
            )
        start: Invoke = self._start_on_worker if threaded else invoke
        if signature.asks:
            start, context = ask_first(start, signature), (*context, ASKING)
        self._set(
            function=function,
            timeout=timeout,
            _context=context,
            _invoke=invoke,
            _start=start,
            _threaded=threaded,
        )

    def _invoker(self, function: Callable[..., Any], signature: Signature) -> Invoke:
        """Return what calls the function with all its values by name."""
        positional = signature.positional
        if not positional:
            return function
        defaults = {
            parameter.name: parameter.default
            for parameter in signature.parameters
            if parameter.name in positional and not parameter.required
        }

        def invoke(**values: Any) -> Any:
            # One left out has to be filled, or those after it would move into its place.
            first = [values.pop(name) if name in values else defaults[name] for name in positional]
            return function(*first, **values)

        return invoke

    def _set(self, **attributes: Any) -> None:
        for attribute, value in attributes.items():
            object.__setattr__(self, attribute, value)

    @property
    def takes_context(self) -> bool:
        """Whether the function asks for a `Context`, or for what only one can give."""
        return bool(self._context)

    @property
    def asks_first(self) -> bool:
        """Whether there are parameters that are asked for before the function runs."""
        return ASKING in self._context

    async def run(
        self, label: str, values: dict[str, Any], context: Context | None, timeout: float | None
    ) -> Any:
        """Call the function and return what it returns; `label` is what messages call it.

        `timeout` counts if the routine has none of its own. Raises `RoutineError` if the function
        fails, and `ResourceNotFound` if it says so.
        """
        seconds = timeout if self.timeout is None else self.timeout
        try:
            if self._context:
                context = self._hand_over(context, values)
            outcome: Any = self._start(**values)
            while type(outcome) not in VALUES and isawaitable(outcome):
                outcome = await (outcome if seconds is None else within(seconds, outcome, context))
        except OvertimeError:
            give_up(context)
            _log.warning("%s was given up after %g s", label, seconds)
            raise RoutineError(f"{label} did not finish within {seconds:g} seconds") from None
        except ResourceNotFound:
            raise
        except BaseException as error:
            message = self._message_in(error, context)
            if message is not None:
                raise RoutineError(message[:_LONGEST]) from None
            _log.error("%s failed with %s", label, type(error).__name__, exc_info=error)
            raise RoutineError(
                f"{label} failed because of an error inside it; the server's log says which"
            ) from None
        finally:
            if context is not None:
                context.end()
        return outcome

    @staticmethod
    def unusable(label: str, reason: str) -> RoutineError:
        """Return the error for a function that returned what cannot be sent; the log says why."""
        _log.error("%s returned what cannot be sent: %s", label, reason)
        return RoutineError(f"{label} returned what it should not; the server's log says more")

    def _message_in(self, error: BaseException, context: Context | None) -> str | None:
        """Return what the function itself says by an exception, `None` if it has crashed.

        What is not its failure is raised: a cancellation of the call, a call that never began, one
        that waits for answers, and what ends the process.
        """
        if isinstance(error, asyncio.CancelledError):
            task = asyncio.current_task()
            if task is None or task.cancelling():
                give_up(context)
                raise error
            return None  # Nobody cancelled this call: something that it waited for was.
        if isinstance(error, CrowdedError) or ends_the_process(error):
            raise error
        if context is not None:
            context.end()
        refusal = failures.refusal_in(error)
        if refusal is not None:
            raise refusal
        return failures.message_in(error)

    def _hand_over(self, context: Context | None, values: dict[str, Any]) -> Context:
        """Put the context where the function wants it."""
        if context is None:
            context = Context()
        if self._threaded:
            context.attach(asyncio.get_running_loop())
        for name in self._context:
            values[name] = context
        return context

    def _start_on_worker(self, /, **values: Any) -> asyncio.Future[Any]:
        return WORKERS.run(partial(self._invoke, **values))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"a {kind} does not change; make another one to set {name!r}")


def give_up(context: Context | None) -> None:
    """Tell a function that nobody waits for it any more."""
    if context is not None:
        context.cancel()


def ends_the_process(error: BaseException) -> bool:
    """Tell whether somebody may have pressed Ctrl-C, and not the tool raised `KeyboardInterrupt`.

    A server that runs until it is told to stop handles the signal itself, so there it was the tool.
    """
    return (
        isinstance(error, KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
