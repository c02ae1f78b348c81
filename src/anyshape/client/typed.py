"""A natural value as a Python type: whatever pydantic understands, and msgspec structs.

Values are read as JSON, so that `datetime`, `Decimal`, tuples or enums work as they do for a body,
in strict models too.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

import msgspec

from anyshape.client.quoting import shorten
from anyshape.errors import OutputMismatch, Problem

__all__ = ["convert", "convert_text"]

Convert: TypeAlias = Callable[[bytes], Any]

_encode: Final = msgspec.json.Encoder().encode
_SHOWN: Final = 5


def convert(value: object, returns: Any, tool: str) -> Any:
    """Return a JSON value as a `returns`, or raise `OutputMismatch`."""
    return _run(_converter(returns), _to_json(value), tool, returns)


def convert_text(text: str, returns: Any, tool: str) -> Any:
    """Return what a tool said in words only as a `returns`: as JSON if it is, else as a string.

    Servers before 2025-06-18 have no other way to give a value.
    """
    reader = _converter(returns)
    try:
        return _run(reader, text.encode("utf-8", "surrogatepass"), tool, returns)
    except OutputMismatch as error:
        try:
            return _run(reader, _to_json(text), tool, returns)
        except OutputMismatch:
            raise error from None


def _to_json(value: object) -> bytes:
    try:
        return _encode(value)
    except (OverflowError, TypeError, ValueError):
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode()


def _run(read: Convert, text: bytes, tool: str, returns: object) -> Any:
    from pydantic import ValidationError

    try:
        return read(text)
    except ValidationError as error:
        problems = [
            Problem(
                keyword=flaw["type"],
                path="".join(f"/{step}" for step in flaw["loc"]),
                message=flaw["msg"],
                schema_path="",
            )
            for flaw in error.errors(include_url=False, include_input=False, include_context=False)
        ]
    except (msgspec.DecodeError, RecursionError) as error:
        problems = [Problem(keyword="", path="", message=str(error), schema_path="")]
    shown = "; ".join(shorten(str(problem)) for problem in problems[:_SHOWN])
    raise OutputMismatch(
        f"tool {shorten(tool, 60)!r} gave no {_name(returns)}: {shown}", problems=problems
    )


def _converter(returns: Any) -> Convert:
    try:
        return _cached_converter(returns)
    except TypeError:  # unhashable, such as Annotated with a list in it
        return _make_converter(returns)


def _make_converter(returns: Any) -> Convert:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError

    if isinstance(returns, TypeAdapter):
        return cast("TypeAdapter[Any]", returns).validate_json
    try:
        return TypeAdapter[Any](returns).validate_json
    except PydanticSchemaGenerationError:
        try:
            # Structs, which pydantic does not know, and what holds them.
            return msgspec.json.Decoder(returns).decode
        except TypeError:
            pass
        raise


_cached_converter = lru_cache(maxsize=512)(_make_converter)


def _name(returns: object) -> str:
    return shorten(returns.__name__ if isinstance(returns, type) else repr(returns), 60)
