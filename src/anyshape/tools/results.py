"""From what a function returned to an `EncodedResult`: natural, checked, serialized once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from anyshape.errors import NotJson
from anyshape.protocol.content import Content, Text, encode_content, encode_text
from anyshape.protocol.result import ABSENT, EncodedResult, ToolResult
from anyshape.tools import failures
from anyshape.tools.outputs import CONTENT_TYPES, Kind
from anyshape.tools.serialization import Encode, encode_json

__all__ = ["Finish", "finisher"]

Finish = Callable[[Any], EncodedResult]
"""Makes a result of a value; raises `ResultError`, `NotJson` or `LimitExceeded`."""


def finisher(name: str, kind: Kind, encode: Encode, *, promises: bool) -> Finish:
    """Return the function that makes results of a tool's values.

    `promises` says that the tool has an output schema, so that every success has to be structured.
    """
    finish_value = {
        Kind.STRUCTURED: _finish_structured,
        Kind.CONTENT: _finish_content,
        Kind.BY_VALUE: _finish_by_value,
        Kind.TEXT: _finish_text,
    }[kind](encode)

    def finish(value: Any) -> EncodedResult:
        if not isinstance(value, ToolResult):
            return finish_value(value)
        result = cast("ToolResult[Any]", value)
        content = tuple([encode_content(block) for block in result.blocks])
        meta = None if result.meta is None else encode_json(result.meta)
        if result.structured is ABSENT:
            if promises and not result.is_error:
                return failures.forgot_structured(name)
            return EncodedResult(None, content, result.is_error, meta)
        # An error is never judged by the schema that describes successes.
        encode_value = encode_json if result.is_error else encode
        return EncodedResult(encode_value(result.structured), content, result.is_error, meta)

    return finish


def _finish_structured(encode: Encode) -> Finish:
    def finish(value: Any) -> EncodedResult:
        return EncodedResult(encode(value))

    return finish


def _finish_content(encode: Encode) -> Finish:
    def finish(value: Any) -> EncodedResult:
        blocks = _blocks_of(value)
        if blocks is None:
            raise NotJson(f"expected content, as annotated, got {type(value).__name__}")
        return _of_blocks(blocks)

    return finish


def _finish_by_value(encode: Encode) -> Finish:
    def finish(value: Any) -> EncodedResult:
        if type(value) is str:
            return EncodedResult(None, (encode_text(value),))
        blocks = None if value is None or value == [] else _blocks_of(value)
        return EncodedResult(encode(value)) if blocks is None else _of_blocks(blocks)

    return finish


def _finish_text(encode: Encode) -> Finish:
    def finish(value: Any) -> EncodedResult:
        blocks = None if value == [] else _blocks_of(value)
        if blocks is None:
            return EncodedResult(None, (encode_text(encode(value).decode()),))
        return _of_blocks(blocks)

    return finish


def _blocks_of(value: Any) -> list[Content] | None:
    """Return content as a list of blocks (`None` is no block, a string is text), else `None`."""
    if value is None:
        return []
    if isinstance(value, str):
        return [Text(value)]
    if isinstance(value, CONTENT_TYPES):
        return [value]
    if isinstance(value, list | tuple):
        items = cast("Iterable[Any]", value)
        blocks = [Text(item) if isinstance(item, str) else item for item in items]
        if any(isinstance(item, CONTENT_TYPES) for item in items) or not blocks:
            return blocks if all(isinstance(block, CONTENT_TYPES) for block in blocks) else None
    return None


def _of_blocks(blocks: list[Content]) -> EncodedResult:
    return EncodedResult(None, tuple([encode_content(block) for block in blocks]))
