"""From the wire back to the natural value, whoever wrote it: what a client does with an answer.

Servers that speak to older clients put what is not an object into an envelope, `{"result": …}`,
and some do so at every revision. No field says so, so it is told by these rules, in this order:

1. FastMCP marks its envelopes, in the schema (`x-fastmcp-wrap-result`) and in the result's `_meta`
   (`fastmcp.wrap_result`): believed.
2. A schema that is exactly an envelope, with no keyword an author would have added, is one at the
   revisions that need envelopes. At the others only the kind that the Python SDK makes there is,
   which its title gives away.
3. Where no schema was listed, or one of an envelope that is closed to other properties, as
   authors of older servers write theirs, it is one if a text block repeats the bare value.
4. A text block that repeats the whole object shows that the object is the tool's own, and
   overrules 2 and 3.

Servers of the draft before 2024-11-05 answer `{"toolResult": …}`: any value, or, as some servers
write it to this day, a whole result. Either is read as a result of 2024-11-05 would be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec

from anyshape.decoding import decode_json
from anyshape.errors import ProtocolError
from anyshape.protocol.content import Content, read_content
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.equality import is_same
from anyshape.protocol.result import ABSENT
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.envelope import ENVELOPE_KEY, MARKER, has_only_envelope_key
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult

_BARE: Final = frozenset({"$schema", "$id", "id", "$defs", "definitions", "type"})
_ENVELOPE: Final = _BARE | {"properties", "required"}

# Most texts are ruled out by how they start, without reading them as JSON.
_ENVELOPE_START: Final = re.compile(rf'\s*\{{\s*"{ENVELOPE_KEY}"\s*:')
_OBJECT_START: Final = re.compile(r"\s*\{")
_VALUE_START: Final = re.compile(r'\s*[\["tfn0-9-]')

_MEMBERS: Final = frozenset({"content", "structuredContent"})


class ReadResult(msgspec.Struct, frozen=True):
    """One answer to a call.

    `value` is natural, or `ABSENT` when the answer has none; `structured` is `structuredContent`
    as it came, which is what the listed schema speaks of.
    """

    source: OrdinaryResult | dict[str, Any]
    value: Any
    structured: Any
    is_error: bool
    draft: Mapping[str, Any] | None = None
    """What came from a server of an early draft, whose result `source` has been made of."""

    @property
    def wire(self) -> Mapping[str, Any]:
        """The result as it came."""
        return _wire_of(self.source) if self.draft is None else self.draft

    @property
    def content(self) -> tuple[Content, ...]:
        """The content blocks; those of a kind we do not know are `UnknownContent`."""
        blocks = cast("list[object]", _wire_of(self.source).get("content") or [])
        return tuple(map(read_content, blocks))

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the result, empty when there is none."""
        meta = _wire_of(self.source).get("_meta")
        return cast("Mapping[str, Any]", meta) if isinstance(meta, dict) else {}


Read: TypeAlias = Callable[[object], ReadResult]
"""From the `result` member of an answer to what it says; `ProtocolError` if it is no result.

The member is an `OrdinaryResult`, or any JSON value.
"""


def result_reader(
    revision: Revision, output_schema: object = ABSENT, *, unwrap: bool = True
) -> Read:
    """Return the function that reads the answers of a tool listed with this schema.

    With `unwrap=False` every value is taken as it came.
    """
    marked, enveloped = _judge(output_schema, revision) if unwrap else (False, False)
    by_hand = unwrap and not enveloped and _is_closed_envelope(output_schema, revision)
    has_schema = isinstance(output_schema, dict)
    null_is_nothing = not revision.is_natural
    # An envelope has a place for null, so that one who sends nothing has not said null.
    nothing_is_null = not (marked or enveloped or by_hand)

    def read(source: object) -> ReadResult:
        draft = None
        if isinstance(source, OrdinaryResult):
            result = source
            is_error = source.is_error is True
            structured = source.structured_content
        else:
            result = _checked(source)
            current = past_draft(result)
            if current is not result:
                draft, result = result, _checked(current)
            is_error = result.get("isError", False)
            structured = result.get("structuredContent", ABSENT)
        if structured is ABSENT or (structured is None and null_is_nothing):
            # Up to 2025-11-25 null is no structured content: a server that writes it says that
            # there is none, unless the text says null as well.
            may_be_null = null_is_nothing and (structured is None or (unwrap and has_schema))
            says_null = may_be_null and not is_error and says_only_null(_wire_of(result))
            return ReadResult(result, None if says_null else ABSENT, ABSENT, is_error, draft)
        value: Any = structured
        if unwrap and not is_error and has_only_envelope_key(value):
            value = unwrapped(value, _wire_of(result))
        return ReadResult(result, value, structured, is_error, draft)

    def says_only_null(result: dict[str, Any]) -> bool:
        # Where an object may be null and yet has to be listed as an object, null is sent as
        # nothing.
        return _texts(result) == ["null"] or (nothing_is_null and not result.get("content"))

    def unwrapped(structured: dict[str, Any], result: dict[str, Any]) -> Any:
        inner: object = structured[ENVELOPE_KEY]
        if marked or _is_marked(result):
            return inner
        if enveloped or (
            (by_hand or not (has_schema or isinstance(inner, dict)))
            and _texts_repeat(result, inner)
        ):
            return structured if _texts_repeat(result, structured) else inner
        return structured

    return read


def is_envelope(output_schema: object, revision: Revision) -> bool:
    """Return whether a listed schema is that of an envelope, not of an object of the tool's own."""
    return any(_judge(output_schema, revision))


def _judge(schema: object, revision: Revision) -> tuple[bool, bool]:
    """Return whether a schema is marked as an envelope, and whether it looks like one."""
    if not isinstance(schema, dict):
        return False, False
    keywords = cast("dict[str, object]", schema)
    if keywords.get("type") != "object" or not has_only_envelope_key(keywords.get("properties")):
        return False, False
    if keywords.get(MARKER) is True:
        return True, True
    if keywords.get("required") != [ENVELOPE_KEY]:
        return False, False
    title = keywords.get("title")
    if isinstance(title, str) and title.endswith("Output"):
        return False, keywords.keys() <= _ENVELOPE | {"title"}
    return False, not revision.is_natural and keywords.keys() <= _ENVELOPE


def _is_closed_envelope(schema: object, revision: Revision) -> bool:
    if not isinstance(schema, dict):
        return False
    keywords = cast("dict[str, object]", schema)
    if keywords.get("additionalProperties") is not False:
        return False
    opened = {name: keywords[name] for name in keywords if name != "additionalProperties"}
    return _judge(opened, revision)[1]


def _wire_of(source: OrdinaryResult | dict[str, Any]) -> dict[str, Any]:
    return source.wire() if isinstance(source, OrdinaryResult) else source


def _checked(wire: object) -> dict[str, Any]:
    if not isinstance(wire, dict):
        raise ProtocolError("the answer to tools/call is not an object")
    result = cast("dict[str, Any]", wire)
    if not isinstance(result.get("content", []), list):
        raise ProtocolError("the content of the answer to tools/call is not an array")
    if not isinstance(result.get("isError", False), bool):
        raise ProtocolError("isError in the answer to tools/call is not a boolean")
    kind = result.get("resultType", "complete")
    if kind != "complete":
        shown = f"{kind!r:.80}" if isinstance(kind, str) else type(kind).__name__
        raise ProtocolError(f"the answer to tools/call is of a kind we do not know: {shown}")
    return result


def past_draft(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the `toolResult` of an early draft says, as a result of 2024-11-05.

    Any other result is returned as it is.
    """
    if "toolResult" not in result or not _MEMBERS.isdisjoint(result):
        return result
    given: object = result["toolResult"]
    outer = {name: result[name] for name in ("isError", "_meta") if name in result}
    if isinstance(given, dict) and ("content" in given or "isError" in given):
        inner = cast("dict[str, Any]", given)
        # Whichever of the two says so, the call has failed.
        return {**outer, **inner, **({"isError": True} if outer.get("isError") else {})}
    text = given if isinstance(given, str) else encode_data(given).decode()
    return {**outer, "content": [{"type": "text", "text": text}]}


def _is_marked(result: dict[str, Any]) -> bool:
    meta = result.get("_meta")
    if not isinstance(meta, dict):
        return False
    fastmcp = cast("dict[str, object]", meta).get("fastmcp")
    return (
        isinstance(fastmcp, dict) and cast("dict[str, object]", fastmcp).get("wrap_result") is True
    )


def _texts(result: dict[str, Any]) -> list[str]:
    blocks = cast("list[Any]", result.get("content") or [])
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and isinstance(block.get("text"), str)  # pyright: ignore[reportUnknownMemberType]
    ]


def _texts_repeat(result: dict[str, Any], value: object) -> bool:
    """Return whether a text block is the JSON text of a value, or the value itself."""
    start = _VALUE_START
    if isinstance(value, dict):
        enveloped = has_only_envelope_key(cast("object", value))
        start = _ENVELOPE_START if enveloped else _OBJECT_START
    for text in _texts(result):
        if text == value:
            return True
        if start.match(text):
            try:
                if is_same(decode_json(text), cast("object", value)):
                    return True
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                continue
    return False
