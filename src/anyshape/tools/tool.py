"""A tool: what is listed, what is checked, and how one call runs.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
Everything that can be decided was decided when the tool was made; `call` runs it. A failure of
the tool is a result that says so, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from types import CoroutineType
from typing import Any, cast

from anyshape.errors import LimitExceeded, NotJson
from anyshape.protocol.description import ToolAnnotations, ToolDescription
from anyshape.protocol.headers import HeaderPlan
from anyshape.protocol.icons import Icon
from anyshape.protocol.result import ABSENT, EncodedResult
from anyshape.schema import Limits, Schema, WouldWait, aside
from anyshape.tools import failures
from anyshape.tools.binding import Bind
from anyshape.tools.context import Context
from anyshape.tools.deadline import OvertimeError, within
from anyshape.tools.definition import ToolDefinition, define_function, define_handler
from anyshape.tools.outputs import GivenOutputSchema
from anyshape.tools.results import Finish
from anyshape.tools.routine import VALUES, Routine, give_up
from anyshape.tools.serialization import ResultError
from anyshape.tools.types import ArgumentsError
from anyshape.tools.words import Words

_DEFAULT_LIMITS = Limits()
_COROUTINE: type = CoroutineType


class Tool(Routine):
    """A tool that a server can list and call; made by hand, or from a function.

    By hand, `handler` takes the arguments as one dict, and a `Context` if it has a parameter
    annotated so; both schemas are the author's own. `Tool.from_function` derives what is left out.
    A tool does not change once it is made.
    """

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
    _bind: Bind
    _finish: Finish

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
            if type(outcome) is _COROUTINE and self.timeout is None:
                outcome = await outcome  # As nearly all are: to ask what can be awaited takes time.
            while type(outcome) not in VALUES and isawaitable(outcome):
                if self.timeout is None:
                    outcome = await outcome
                else:
                    outcome = await within(self.timeout, outcome, context)
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

    async def finish(self, value: Any) -> EncodedResult:
        """Return the result of a call whose function returned this value."""
        try:
            return await aside(self._finish, value)
        except (ResultError, NotJson, LimitExceeded) as error:
            return failures.unusable(self.name, error)

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
                give_up(context)
                return failures.timed_out(self.name, cast("float", self.timeout))
            message = self._message_in(error, context)
            if message is not None:
                return failures.failed(message)
            return failures.crashed(self.name, error)
        finally:
            if context is not None:
                context.end()

    def _assemble(
        self,
        function: Callable[..., Any],
        definition: ToolDefinition,
        timeout: float | None,
        *,
        inline: bool,
    ) -> None:
        name = definition.listing.name
        self._set_up(name, function, definition.signature, timeout=timeout, inline=inline)
        self._set(
            headers=definition.headers,
            input=definition.input,
            listing=definition.listing,
            name=name,
            output=definition.output,
            _bind=definition.bind,
            _finish=definition.finish,
        )

    def __repr__(self) -> str:
        return f"<Tool {self.name}>"
