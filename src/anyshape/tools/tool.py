"""A tool: what is listed, what is checked, and how one call runs.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
Everything that can be decided was decided when the tool was made; `call` runs it. A failure of
the tool is a result that says so, never an exception.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any, NoReturn, cast

from anyshape.errors import LimitExceeded, NotJson, ToolDefinitionError
from anyshape.protocol.description import ToolAnnotations, ToolDescription
from anyshape.protocol.headers import HeaderPlan
from anyshape.protocol.icons import Icon
from anyshape.protocol.result import ABSENT, EncodedResult
from anyshape.schema import Limits, Schema, WouldWait, aside
from anyshape.tools import failures
from anyshape.tools.binding import Bind
from anyshape.tools.context import Context
from anyshape.tools.deadline import OvertimeError, within
from anyshape.tools.definition import Invoke, ToolDefinition, define_function, define_handler
from anyshape.tools.outputs import GivenOutputSchema
from anyshape.tools.results import Finish
from anyshape.tools.serialization import ResultError
from anyshape.tools.types import ArgumentsError
from anyshape.tools.words import Words
from anyshape.tools.workers import WORKERS, CrowdedError

__all__ = ["Tool"]

_DEFAULT_LIMITS = Limits()
_VALUES = frozenset((str, int, float, bool, list, dict, type(None)))
"""Types that nobody awaits: telling so by type costs a tenth of asking what can be awaited."""


class Tool:
    """A tool that a server can list and call; made by hand, or from a function.

    By hand, `handler` takes the arguments as one dict, and a `Context` if it has a parameter
    annotated so; both schemas are the author's own. `Tool.from_function` derives what is left out.
    A tool does not change once it is made.
    """

    __slots__ = (
        "_bind",
        "_context",
        "_finish",
        "_invoke",
        "_start",
        "_threaded",
        "function",
        "headers",
        "input",
        "listing",
        "name",
        "output",
        "timeout",
    )

    function: Callable[..., Any]
    """What is called."""
    headers: HeaderPlan
    """Which arguments travel in HTTP headers too."""
    input: Schema
    """What arguments are checked against."""
    listing: ToolDescription
    """The tool's entry in a listing, in natural form."""
    name: str
    """What the tool is called by."""
    output: Schema | None
    """What values are checked against, if the tool publishes a schema."""
    timeout: float | None
    """After how many seconds a call is given up; `None` leaves that to the server."""
    _bind: Bind
    _context: tuple[str, ...]
    _finish: Finish
    _invoke: Invoke
    _start: Invoke
    _threaded: bool

    def __init__(
        self,
        *,
        name: str,
        handler: Callable[..., Any],
        input_schema: Mapping[str, Any],
        output_schema: GivenOutputSchema = ABSENT,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        inline: bool = False,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        """Make a tool by hand."""
        definition = define_handler(
            handler,
            Words(name, title, description, annotations, meta, icons),
            input_schema=input_schema,
            output_schema=output_schema,
            limits=limits,
        )
        self._assemble(handler, definition, timeout, inline=inline)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: GivenOutputSchema = ABSENT,
        annotations: ToolAnnotations | Mapping[str, Any] | None = None,
        meta: Mapping[str, Any] | None = None,
        icons: Sequence[Icon | Mapping[str, Any]] | None = None,
        timeout: float | None = None,
        inline: bool = False,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> Tool:
        """Make a tool from a function, deriving the name, words and schemas that are left out.

        A synchronous function runs on a worker thread; `inline=True` runs it on the event loop,
        which is faster and right only for a function that never waits.
        """
        definition = define_function(
            function,
            Words(name, title, description, annotations, meta, icons),
            input_schema=input_schema,
            output_schema=output_schema,
            limits=limits,
        )
        tool = cls.__new__(cls)
        tool._assemble(function, definition, timeout, inline=inline)
        return tool

    @property
    def takes_context(self) -> bool:
        """Whether the function asks for a `Context`."""
        return bool(self._context)

    async def call(
        self, arguments: bytes | None = None, context: Context | None = None
    ) -> EncodedResult:
        """Run one call; `arguments` is the JSON text of an object, `None` for none.

        Whatever goes wrong in the tool becomes a result with `is_error`. Only these are raised: the
        cancellation of the task that awaits this, what ends the process, and `CrowdedError` if the
        call could not begin.
        """
        returned = False
        try:
            try:
                values = self._bind(arguments)
            except WouldWait:
                values = await aside(self._bind, arguments)
            if self._context:
                context = self._hand_over(context, values)
            outcome: Any = self._start(**values)
            while type(outcome) not in _VALUES and isawaitable(outcome):
                if self.timeout is None:
                    outcome = await outcome
                else:
                    outcome = await within(self.timeout, outcome)
            returned = True
            try:
                result = self._finish(outcome)
            except WouldWait:
                result = await aside(self._finish, outcome)
        except BaseException as error:
            return self._excuse(error, context, returned=returned)
        if context is not None:
            context.end()
        return result

    def _excuse(
        self, error: BaseException, context: Context | None, *, returned: bool
    ) -> EncodedResult:
        """Return the result of a call that failed, or raise what is not the tool's failure."""
        try:
            if returned and isinstance(error, ResultError | NotJson | LimitExceeded):
                return failures.unusable(self.name, error)
            if isinstance(error, ArgumentsError):
                return failures.refused(error.problems)
            if isinstance(error, OvertimeError):
                _give_up(context)
                return failures.timed_out(self.name, cast("float", self.timeout))
            if isinstance(error, asyncio.CancelledError):
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    _give_up(context)
                    raise error
                # Nobody cancelled this call: something that the tool waited for was.
                return failures.crashed(self.name, error)
            if isinstance(error, CrowdedError) or _ends_the_process(error):
                raise error
            message = failures.message_in(error)
            if message is not None:
                return failures.failed(message)
            return failures.crashed(self.name, error)
        finally:
            if context is not None:
                context.end()

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

    def _assemble(
        self,
        function: Callable[..., Any],
        definition: ToolDefinition,
        timeout: float | None,
        *,
        inline: bool,
    ) -> None:
        name = definition.listing.name
        threaded = not inline and not definition.asynchronous
        if timeout is not None and (
            not isinstance(cast("object", timeout), int | float) or not 0 < timeout < float("inf")
        ):
            raise ToolDefinitionError(
                f"{name}: timeout has to be a number of seconds above 0, got {timeout!r:.40}"
            )
        if timeout is not None and not threaded and not definition.asynchronous:
            raise ToolDefinitionError(
                f"{name}: a function that runs inline cannot be timed out; drop inline= or timeout="
            )
        start = self._start_on_worker if threaded else definition.invoke
        for attribute, value in {
            "function": function,
            "headers": definition.headers,
            "input": definition.input,
            "listing": definition.listing,
            "name": name,
            "output": definition.output,
            "timeout": timeout,
            "_bind": definition.bind,
            "_context": definition.context,
            "_finish": definition.finish,
            "_invoke": definition.invoke,
            "_start": start,
            "_threaded": threaded,
        }.items():
            object.__setattr__(self, attribute, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Tool does not change; make another one to set {name!r}")

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"


def _ends_the_process(error: BaseException) -> bool:
    """Tell whether somebody may have pressed Ctrl-C, and not the tool raised `KeyboardInterrupt`.

    A server that runs until it is told to stop handles the signal itself, so there it was the tool.
    """
    return (
        isinstance(error, KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


def _give_up(context: Context | None) -> None:
    if context is not None:
        context.cancel()
