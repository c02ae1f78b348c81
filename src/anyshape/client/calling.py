"""One call of a tool: its arguments checked and written, its answer read and checked.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias, TypedDict, cast

from anyshape.client.answers import LONG
from anyshape.client.channel import Channel, Result
from anyshape.client.leniency import without_defaulted
from anyshape.client.lifecycle import RESERVED
from anyshape.client.progress import OnProgress
from anyshape.client.quoting import shorten
from anyshape.client.request import ClientRequest
from anyshape.client.result import CallResult
from anyshape.client.rounds import complete_result
from anyshape.client.tools import ListedTool
from anyshape.errors import NotJson, OutputMismatch, Problem, ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.methods import TOOLS_CALL
from anyshape.protocol.result import ABSENT
from anyshape.protocol.shapes.envelope import has_only_envelope_key
from anyshape.protocol.shapes.ordinary_result import ORDINARY_BYTES, OrdinaryResult
from anyshape.schema import Schema, compile, leave_loop, text_size

Check: TypeAlias = bool | Literal["lenient"]
"""Whether arguments are checked; `lenient` does not insist on those that have a default."""


class CallOptions(TypedDict, total=False):
    """What a caller may choose about one call."""

    timeout: float | None
    on_progress: OnProgress | None
    meta: Mapping[str, Any] | None
    check_arguments: Check | None


_SHOWN: Final = 5
_UNBOUNDED: Final = 500_000
"""Arguments that may be this long may be any longer: whoever calls holds them already."""


def write_call(
    tool: ListedTool,
    arguments: Mapping[str, Any] | None,
    meta: Mapping[str, Any] | None,
    on_progress: OnProgress | None,
    *,
    check: Check,
    proved: bool = False,
) -> ClientRequest:
    """Return the request that calls a tool; `ValidationError` if the arguments do not fit.

    Without `check` they only have to be JSON; `proved` says that they are, and that they fit.
    """
    given = _as_object(arguments)
    try:
        text = encode_object(given, "arguments")
    except NotJson:
        if not proved:  # which finds out where in them it is that they are no JSON
            _check(given, tool.input, check, text_size(given))
        raise
    if not proved:
        _check(given, tool.input, check, len(text))
    plan = tool.header_plan
    return ClientRequest(
        TOOLS_CALL,
        text,
        tool.name,
        plan.extract(given) if plan.parameters else None,
        write_meta(meta) if meta else b"",
        on_progress,
        tool.is_repeatable,
        tool.opening,
        calls_tool=True,
    )


def _check(given: Any, schema: Schema, check: Check, size: int) -> None:
    fitting = schema if check else _anything()
    if fitting.cost.free_bytes >= _UNBOUNDED:
        size = 0
    if fitting.waits(size):
        leave_loop()
    if check == "lenient" and not fitting.accepts(given, size):
        fitting = without_defaulted(schema)
    if not fitting.accepts(given, size):
        size = text_size(given)
        if fitting.waits(size):
            leave_loop()
        fitting.validate(given, size)


async def complete_call(
    channel: Channel,
    tool: ListedTool,
    request: ClientRequest,
    limit: float | None,
    patience: float | None,
    begun: Result | Coroutine[Any, Any, Result],
) -> OrdinaryResult | dict[str, Any]:
    """Return the result of a call that was begun, whatever its server asks or makes of it.

    `limit` is for each request, and `patience` for a task to end, if the caller has set any.
    """
    what = f"tool {tool.name!r}"
    result = await complete_result(channel, what, request, limit, begun, takes_task=True)
    if isinstance(result, dict) and result.get("resultType") == "task":
        from anyshape.client.tasks import finish_call

        return await finish_call(channel, tool, result, limit, patience)
    return result


def read_answer(
    tool: ListedTool, result: OrdinaryResult | dict[str, Any], *, check: bool = True
) -> CallResult:
    """Return what a call came to; `OutputMismatch` if it breaks the tool's schema.

    Without `check` it may be anything. Raises `WouldWait` on an event loop if the answer is long,
    or its value has to be judged in another process.
    """
    # The texts of a result are read to see whether they say what is in an envelope.
    if (
        isinstance(result, dict)
        and has_only_envelope_key(result.get("structuredContent"))
        and text_size(result) > LONG
    ):
        leave_loop()
    read = tool.read(result)
    output = tool.output
    if check and output is not None and not read.is_error:
        structured = read.structured
        if structured is ABSENT:
            if read.value is ABSENT:
                raise OutputMismatch(
                    f"tool {shorten(tool.name, 60)!r} has an outputSchema "
                    "and gave no structured content"
                )
        else:
            size = 0
            if not isinstance(result, OrdinaryResult) or output.waits(ORDINARY_BYTES):
                size = text_size(structured)
                if output.waits(size):
                    leave_loop()
            if not output.accepts_parsed(structured, size):
                raise _mismatch(tool.name, output.problems(structured, size=size))
    return CallResult(read)


def _mismatch(name: str, problems: list[Problem]) -> OutputMismatch:
    shown = "; ".join(shorten(str(problem)) for problem in problems[:_SHOWN])
    return OutputMismatch(
        f"the answer of tool {shorten(name, 60)!r} breaks its outputSchema: {shown}",
        problems=problems,
    )


def _as_object(arguments: object) -> Any:
    """Return arguments as the dict they are to be; what is no mapping is left to the checks."""
    if arguments is None:
        return {}
    if isinstance(arguments, dict) or not isinstance(arguments, Mapping):
        return cast("Any", arguments)
    return dict(cast("Mapping[str, Any]", arguments))


@cache
def _anything() -> Schema:
    """Return what every JSON value satisfies, and nothing else."""
    return compile(True)


def write_meta(meta: Mapping[str, Any]) -> bytes:
    """Return the members of a caller's metadata; `ProtocolError` for those that are ours."""
    given = _as_object(meta)
    _anything().validate(given)
    taken = RESERVED.intersection(given)
    if taken:
        raise ProtocolError(
            f"meta: {min(taken)} is for the client to write; leave it out, and use "
            "Client(identity=…) or on_progress",
            code=INVALID_PARAMS,
        )
    return encode_object(given, "meta")[1:-1]


def encode_object(value: Mapping[str, Any], what: str) -> bytes:
    """Return the text of a JSON object; `NotJson` if it is none."""
    try:
        text = encode_data(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NotJson(f"{what}: {shorten(str(error))}") from None
    if text[:1] != b"{":
        raise NotJson(f"{what}: expected an object, got {type(value).__name__}")
    return text
