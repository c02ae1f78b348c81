"""The tools of an upstream, as tools of the gateway's own.

What an upstream's tool takes and returns is natural here, whatever its age: an envelope that its
SDK made is taken off, of the schema and of the values alike, and the shape of the client's revision
puts on what that client needs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final, TypeAlias, cast

import msgspec

from anyshape.client.answers import LONG
from anyshape.client.client import Client
from anyshape.client.progress import Progress
from anyshape.client.quoting import shorten
from anyshape.client.result import CallResult
from anyshape.client.tools import ListedTool
from anyshape.decoding import decode_json
from anyshape.errors import OutputMismatch
from anyshape.gateway.envelopes import opened
from anyshape.gateway.options import RetryOptions
from anyshape.gateway.questions import HeldCall
from anyshape.gateway.refusal import UpstreamError
from anyshape.gateway.requests import caller_of, passed_on
from anyshape.gateway.retries import repeat
from anyshape.gateway.upstream import UpstreamLink
from anyshape.gateway.watching import note
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.equality import is_same
from anyshape.protocol.headers import header_plan
from anyshape.protocol.meta import PROGRESS_KEY, SERVER_INFO
from anyshape.protocol.result import ABSENT, EncodedResult
from anyshape.protocol.shapes.envelope import ENVELOPE_KEY, has_only_envelope_key
from anyshape.protocol.shapes.result_reader import past_draft
from anyshape.schema import WouldWait, aside, leave_loop, text_size
from anyshape.server.telemetry import Traced
from anyshape.tools import failures
from anyshape.tools.binding import bind_whole_object
from anyshape.tools.context import Context
from anyshape.tools.tool import Tool
from anyshape.tools.types import ArgumentsError

_log = logging.getLogger("anyshape.gateway")
_ARGUMENTS: Final = "arguments"
CallAttempt: TypeAlias = Callable[
    [Client], Coroutine[Any, Any, CallResult | Coroutine[Any, Any, CallResult]]
]
"""Calls a tool by a client, up to the first answer: see `Client.attempt_call`."""
_KEPT_BACK: Final = frozenset({SERVER_INFO, "fastmcp"})
"""Members of a result's metadata that say something of the upstream's own answer."""


class ForwardedTool(Tool):
    """A tool that an upstream has."""

    __slots__ = ("_has_values", "_is_open", "_link", "_listed", "_retry")

    _has_values: bool
    _is_open: bool
    _link: UpstreamLink
    _listed: ListedTool
    _retry: RetryOptions | None

    def __init__(self, name: str, listed: ListedTool, link: UpstreamLink) -> None:
        # Some servers list and send such things before their revision has them.
        has_values = link.revision.has_structured_content
        document = cast("dict[str, Any] | None", listed.output_schema if has_values else None)
        natural = None if document is None else opened(listed.name, document)
        stated = document if natural is None else natural
        self._set(
            function=self.call,
            timeout=None,
            _context=(_ARGUMENTS,),
            _threaded=False,
            headers=header_plan(listed.input_schema),
            input=listed.input,
            output=None if stated is None else listed.output,
            name=name,
            listing=ToolDescription(
                name=name,
                input_schema=dict(listed.input_schema),
                title=listed.title,
                description=listed.description,
                output_schema=ABSENT if stated is None else stated,
                annotations=listed.annotations or None,
                meta=listed.meta or None,
                icons=listed.icons or None,
            ),
            _bind=bind_whole_object(listed.input, _ARGUMENTS),
            _has_values=has_values,
            _is_open=natural is not None,
            _link=link,
            _listed=listed,
            _retry=link.upstream.retry if listed.says_repeatable else None,
        )

    @property
    def upstream(self) -> str:
        """The name of the upstream that has it."""
        return self._link.name

    @property
    def entry(self) -> Mapping[str, Any]:
        """What the upstream lists it as."""
        return self._listed.entry

    async def call(
        self, arguments: bytes | None = None, context: Context | None = None
    ) -> EncodedResult:
        """Call it upstream; what cannot be called there is a result that says why."""
        try:
            proved = True
            try:
                values = self._bind(arguments)[_ARGUMENTS]
            except (ArgumentsError, WouldWait):
                values, proved = await self._checked(arguments), False
            attempt = partial(self._attempt, values, proved, context)
            forward = self._observe if self._link.telemetry.is_wanted else self._forward
            if self._retry is None:
                result = await forward(attempt, context)
            else:
                result = await repeat(self._link, self._retry, partial(forward, attempt, context))
            if self._link.upstream.check == "warn":
                await self._warn(result)
            if text_size(result.raw) > LONG:
                return await aside(self._encoded, result)
            return self._encoded(result)
        except ArgumentsError as error:
            return failures.refused(error.problems)
        except UpstreamError as error:
            note(error.verdict, error.why)
            return failures.failed(str(error))
        except OutputMismatch as error:
            note("mismatch", str(error))
            self._log("%s", error, level=logging.ERROR)
            return failures.failed(
                f"upstream {self._link.name!r} answered with a value that breaks the tool's own "
                "output schema; the gateway's log says where"
            )
        finally:
            if context is not None:
                context.end()

    async def _checked(self, arguments: bytes | None) -> dict[str, Any]:
        """Return the arguments, checked as the operator says."""
        try:
            return (await aside(self._bind, arguments))[_ARGUMENTS]
        except ArgumentsError as error:
            if self._link.upstream.check == "enforce":
                raise
            if self._link.upstream.check == "warn":
                found = "; ".join(str(problem) for problem in error.problems[:5])
                self._log("arguments that break its schema: %s", found)
            return {} if arguments is None else decode_json(arguments)

    def _observe(
        self, attempt: CallAttempt, context: Context | None
    ) -> Coroutine[Any, Any, CallResult]:
        """Do as `_forward`, and have somebody told of it."""
        link, about = self._link, Traced.tool(self._listed.name)
        return link.telemetry.observe(about, link.revision, self._forward(attempt, context))

    async def _forward(self, attempt: CallAttempt, context: Context | None) -> CallResult:
        """Return what comes of a call, begun now or in an earlier round of the same request."""
        link = self._link
        held = link.held.take(context)
        if held is None:
            held = HeldCall(context)
            if not link.asks_in_results:
                held.hold(self._ask(attempt, context, held))
            else:
                result = await self._begin(attempt, context, held)
                if result is not None:
                    return result
        return await link.held.wait(held, context)

    async def _ask(
        self, attempt: CallAttempt, context: Context | None, held: HeldCall
    ) -> CallResult:
        """Return what comes of a call to an upstream that may ask at any time."""
        async with self._link.using(caller_of(context), held) as client:
            begun = await attempt(client)
            return begun if isinstance(begun, CallResult) else await begun

    async def _begin(
        self, attempt: CallAttempt, context: Context | None, held: HeldCall
    ) -> CallResult | None:
        """Return what a call comes to; `None` if that is not yet known, and it is held."""
        visit = self._link.using(caller_of(context), held)
        async with visit as client:
            begun = await attempt(client)
            if isinstance(begun, CallResult):
                return begun
            visit.keep(begun, held)
        return None

    def _attempt(
        self, values: dict[str, Any], proved: bool, context: Context | None, client: Client
    ) -> Coroutine[Any, Any, CallResult | Coroutine[Any, Any, CallResult]]:
        report = None
        if context is not None and PROGRESS_KEY in context.meta:
            report = partial(_relay, context)
        return client.attempt_call(
            self._listed.name,
            values,
            meta=passed_on(context),
            on_progress=report,
            proved=proved,
        )

    async def _warn(self, result: CallResult) -> None:
        """Log a value that breaks the schema, where that is all the operator wants."""
        output, value = self._listed.output, result.raw.get("structuredContent", ABSENT)
        if result.is_error or output is None or value is ABSENT:
            return
        size = text_size(value)
        try:
            if output.waits(size):
                leave_loop()
            problems = output.problems(value, size=size)
        except WouldWait:
            problems = await aside(output.problems, value)
        if problems:
            found = "; ".join(str(problem) for problem in problems[:5])
            self._log("a value that breaks its schema: %s", found)

    def _log(self, message: str, *details: object, level: int = logging.WARNING) -> None:
        name = shorten(self._listed.name, 100)
        _log.log(level, "upstream %s, tool %s: " + message, self._link.name, name, *details)

    def _encoded(self, result: CallResult) -> EncodedResult:
        """Return what came back in natural form, its parts as JSON text."""
        wire = past_draft(result.raw)
        structured: Any = wire.get("structuredContent", ABSENT)
        blocks: list[Any] = wire.get("content") or []
        if not self._has_values:
            value = ABSENT
            if result.has_value and structured is not ABSENT:
                blocks = _with_mirror(blocks, result.value, structured)
        elif result.is_error:
            value = ABSENT if structured is None else structured
        elif self._listed.output is None:
            value = result.value if result.has_value else ABSENT
        elif self._is_open:
            value = self._open(structured, result)
        else:
            value = structured
        encoded = None if value is ABSENT else encode_data(value)
        if encoded is not None and blocks and not result.is_error:
            blocks = _without_mirror(blocks, value, structured, encoded)
        found: Any = wire.get("_meta")
        meta: dict[str, Any] = {}
        if isinstance(found, dict):
            members = cast("dict[str, Any]", found)
            meta = {key: members[key] for key in members if key not in _KEPT_BACK}
        return EncodedResult(
            structured=encoded,
            content=tuple(map(encode_data, blocks)),
            is_error=result.is_error,
            meta=encode_data(meta) if meta else None,
            has_mirror=not self._is_open and _is_mirrored_inside(blocks, value),
        )

    def _open(self, structured: Any, result: CallResult) -> Any:
        """Return the value in an envelope."""
        if not isinstance(structured, dict) or ENVELOPE_KEY not in structured:
            return None if result.has_value and result.value is None else cast("Any", structured)
        return cast("dict[str, Any]", structured)[ENVELOPE_KEY]


def _relay(context: Context, report: Progress) -> None:
    context.progress(report.progress, report.total, report.message)


def _with_mirror(blocks: list[Any], value: Any, structured: Any) -> list[Any]:
    """Return the blocks, and the text of the value if they do not say it."""
    encoded = encode_data(value)
    if _without_mirror(blocks, value, structured, encoded) != blocks:
        return blocks
    text = value if isinstance(value, str) else encoded.decode()
    return [*blocks, {"type": "text", "text": text}]


def _without_mirror(blocks: list[Any], value: Any, structured: Any, encoded: bytes) -> list[Any]:
    """Return the blocks that say more than the value; each revision has its own mirror of that.

    The Python SDK mirrors a list by as many blocks as it has items. `encoded` is the value's text.
    """
    if len(blocks) == 1 and blocks[0] == {"type": "text", "text": encoded.decode()}:
        return []  # As nearly all are; the text need not be read.
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if items and len(blocks) >= len(items):
            leading = zip(blocks, items, strict=False)
            if all(_repeats(block, item, item) for block, item in leading):
                return blocks[len(items) :]
    return [each for each in blocks if not _repeats(each, value, structured)]


def _is_mirrored_inside(blocks: list[Any], value: Any) -> bool:
    """Tell whether the text of an envelope that an author made by hand is what is inside."""
    if not has_only_envelope_key(value):
        return False
    inner = value[ENVELOPE_KEY]
    return any(_repeats(block, inner, inner) for block in blocks)


def _repeats(block: Any, value: Any, structured: Any) -> bool:
    """Tell whether a block is the text of a value, as JSON or, of a string, as it is."""
    if not isinstance(block, dict):
        return False
    found = cast("dict[str, Any]", block)
    text = found.get("text")
    if found.get("type") != "text" or not isinstance(text, str) or found.keys() > {"type", "text"}:
        return False
    if text == value:
        return True
    try:
        said = decode_json(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return any(type(said) is type(each) and is_same(said, each) for each in (value, structured))
