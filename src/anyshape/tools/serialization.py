"""From a value that a tool returned to JSON text that its output schema has accepted.

The value is brought to JSON types once, checked, and encoded; the text is never parsed again. NaN,
lone surrogates, cycles and objects that are no JSON are refused, where an encoder alone would have
written null or something of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set, ValuesView
from decimal import Decimal
from functools import cache
from typing import Any, Final, cast

import msgspec

from anyshape.errors import NotJson, Problem
from anyshape.protocol.content import CONTENT_TYPES
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.nesting import is_surely_shallow
from anyshape.schema import Schema, compile, leave_loop
from anyshape.tools.dict_keys import check_keys
from anyshape.tools.outputs import Output
from anyshape.tools.types import WriteValue

EncodeValue = Callable[[Any], bytes]
"""Returns the JSON text of a value; raises `ResultError`, `NotJson` or `LimitExceeded`."""

# A Decimal is a number to the schema, so it is one on the wire; typed ones are strings by now.
_encode = msgspec.json.Encoder(decimal_format="number").encode
_SCALARS: Final = frozenset((int, bool, str, type(None)))
"""Types whose values are JSON if they have a text."""


class ResultError(Exception):
    """A value does not satisfy the output schema; `problems` say where."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__()
        self.problems = problems


def encoder(output: Output, schema: Schema | None) -> EncodeValue:
    """Return the function that checks and encodes the values of a tool."""
    if schema is None:
        schema = _anything()
    if output.write is None:
        return _encode_json_types(schema)
    return _encode_written(schema, output.write)


def encode_json(value: Any) -> bytes:
    """Return the JSON text of a value that no schema describes, or raise `NotJson`."""
    return _unchecked()(value)


def _checker(schema: Schema, *, is_written: bool = False) -> Callable[[Any, bytes], None]:
    """Return what raises `ResultError` if a value, given with its text, breaks the schema.

    `is_written` says that a library has brought the values to JSON types.
    """
    accepts, accepts_json = schema.accepts, schema.accepts_parsed
    problems, free = schema.problems, schema.cost.free_bytes
    depth = schema.limits.instance_depth

    def check(value: Any, text: bytes) -> None:
        size = len(text)
        if size > free:
            leave_loop()
        is_json = type(value) in _SCALARS or (is_written and _shows_json(text, depth))
        if is_json and accepts_json(value, size):
            return
        if not accepts(value, size):
            raise ResultError(problems(value, size=size))

    return check


def _shows_json(text: bytes, depth: int) -> bool:
    """Tell whether what has this text, and consists of JSON types, is sure to be JSON.

    A number that is not finite would have been written as null; half of a surrogate pair, and an
    integer of too many digits, not at all. To look for null takes a quarter of the time that it
    takes to prove each part of the value.
    """
    return text.rfind(b"null") < 0 and is_surely_shallow(text, depth)


def _encode_json_types(schema: Schema) -> EncodeValue:
    check = _checker(schema)

    def encode(value: Any) -> bytes:
        try:
            text = _encode(value)
            check(value, text)
        except (TypeError, NotJson):
            # A mapping, a sequence or a subclass that msgspec does not write as it stands.
            value = _to_json_types(value)
            text = _write(_encode, value)
            check(value, text)
        except (ValueError, RecursionError) as error:
            raise _refusal(error) from error
        return text

    return encode


def _encode_written(schema: Schema, write: WriteValue) -> EncodeValue:
    check = _checker(schema, is_written=True)

    def encode(value: Any) -> bytes:
        try:
            written = write(value)
        except (TypeError, ValueError, RecursionError, OverflowError) as error:
            # Pydantic's and msgspec's own words about what is no JSON; PydanticSerializationError
            # is a ValueError.
            raise _quoted(error) from error
        text = _write(encode_data, written)
        check(written, text)
        return text

    return encode


def _write(encode: EncodeValue, value: Any) -> bytes:
    """Return the text of a value in JSON types, or say why it has none."""
    try:
        return encode(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise _refusal(error) from error


def _to_json_types(value: Any) -> Any:
    blocks = cast("list[Any]", value) if isinstance(value, list | tuple) else [value]
    if any(isinstance(block, CONTENT_TYPES) for block in blocks):
        raise NotJson(
            "it holds content, which is no JSON value; annotate the content's type, or return "
            "ToolResult(structured=..., content=[...])"
        )
    try:
        check_keys(value, _to_builtins)
        return _to_builtins(value)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise _quoted(error) from error


def _to_builtins(value: Any) -> Any:
    return msgspec.to_builtins(value, builtin_types=(Decimal,), str_keys=True, enc_hook=_convert)


def _refusal(error: Exception) -> NotJson:
    """Return why an encoder wrote no text for a value in JSON types."""
    if isinstance(error, UnicodeEncodeError):
        return NotJson("it holds half of a surrogate pair, which is no text")
    if isinstance(error, ValueError):
        # The one reason that is left: Python writes no such number.
        return NotJson("it holds an integer of more than 4,300 digits; return that as a string")
    return _quoted(error)


def _quoted(error: Exception) -> NotJson:
    """Return why a value is no JSON, in the words of the library that found out."""
    if isinstance(error, RecursionError):
        return NotJson("it is nested too deeply, or holds itself")
    return NotJson(str(error).partition("\n")[0])


def _convert(value: Any) -> Any:
    """Bring what msgspec does not know nearer to JSON; it then looks at what this returns."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, Iterator):
        raise TypeError("an iterator is no JSON value, and may have no end; return a list")
    if not hasattr(value, "model_dump") and isinstance(value, Sequence | Set | ValuesView):
        return list(cast("Collection[Any]", value))
    from anyshape.tools.types.pydantic_types import to_json_value

    return to_json_value(value)


@cache
def _anything() -> Schema:
    return compile(True)


@cache
def _unchecked() -> EncodeValue:
    return _encode_json_types(_anything())
