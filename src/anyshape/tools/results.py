"""From what a function returned to an `EncodedResult`: natural, checked, serialized once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from anyshape.errors import NotJson
from anyshape.protocol.content import CONTENT_TYPES, Content, Text, encode_content, encode_text
from anyshape.protocol.result import ABSENT, EncodedResult, ToolResult
from anyshape.tools import failures
from anyshape.tools.outputs import OutputKind
from anyshape.tools.serialization import EncodeValue, encode_json

Finish = Callable[[Any], EncodedResult]
"""Makes a result of a value; raises `ResultError`, `NotJson` or `LimitExceeded`."""


def finisher(name: str, kind: OutputKind, encode: EncodeValue, *, promises: bool) -> Finish:
    """Return the function that makes results of a tool's values.

    `promises` says that the tool has an output schema, so that every success has to be structured.
    """

    def finish_result(result: ToolResult[Any]) -> EncodedResult:
        content = tuple([encode_content(block) for block in result.blocks])
        meta = None if result.meta is None else encode_json(result.meta)
        if result.structured is ABSENT:
            if promises and not result.is_error:
                return failures.forgot_structured(name)
            return EncodedResult(None, content, result.is_error, meta)
        # An error is never judged by the schema that describes successes.
        encode_value = encode_json if result.is_error else encode
        if kind is OutputKind.TEXT:
            text = _text_of(result.structured, encode_value)
            if text not in content:
                content = (*content, text)
            return EncodedResult(None, content, result.is_error, meta)
        return EncodedResult(encode_value(result.structured), content, result.is_error, meta)

    finish_value = _FINISHERS.get(kind)

    def finish(value: Any) -> EncodedResult:
        if isinstance(value, ToolResult):
            return finish_result(cast("ToolResult[Any]", value))
        return EncodedResult(encode(value)) if finish_value is None else finish_value(value, encode)

    return finish


def _finish_content(value: Any, encode: EncodeValue) -> EncodedResult:
    if value is None:
        return EncodedResult()
    blocks = _as_blocks(value)
    if blocks is None:
        got = type(cast("object", value)).__name__
        raise NotJson(f"expected content, as annotated, got {got}")
    return _of_blocks(blocks)


def _finish_by_value(value: Any, encode: EncodeValue) -> EncodedResult:
    if type(value) is str:
        return EncodedResult(None, (encode_text(value),))
    blocks = _blocks_in(value)
    return _of_blocks(blocks) if blocks else EncodedResult(encode(value))


def _finish_text(value: Any, encode: EncodeValue) -> EncodedResult:
    if value is None:
        return EncodedResult()
    blocks = _blocks_in(value)
    return _of_blocks(blocks) if blocks else EncodedResult(None, (_text_of(value, encode),))


_FINISHERS = {
    OutputKind.CONTENT: _finish_content,
    OutputKind.BY_VALUE: _finish_by_value,
    OutputKind.TEXT: _finish_text,
}


def _text_of(value: Any, encode: EncodeValue) -> bytes:
    """Return the text block of a value: a string as it is, anything else as JSON."""
    return encode_text(value if isinstance(value, str) else encode(value).decode())


def _blocks_in(value: Any) -> list[Content]:
    """Return content as a list of blocks, which is empty if there is no content in the value."""
    items = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
    if not any(isinstance(item, CONTENT_TYPES) for item in items):
        return []
    return _as_blocks(value) or []


def _as_blocks(value: Any) -> list[Content] | None:
    """Return declared content as blocks, with strings as text; `None` if it is no content."""
    items = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
    blocks = [Text(item) if isinstance(item, str) else item for item in items]
    return blocks if all(isinstance(block, CONTENT_TYPES) for block in blocks) else None


def _of_blocks(blocks: Sequence[Content]) -> EncodedResult:
    return EncodedResult(None, tuple([encode_content(block) for block in blocks]))
