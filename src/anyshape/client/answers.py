"""From the raw parts of an answer to Python values, bounded in depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

import msgspec

from anyshape.client.quoting import shorten
from anyshape.client.transports.frames import LONE_SURROGATE
from anyshape.decoding import decode_json
from anyshape.errors import LimitExceeded, ProtocolError
from anyshape.protocol.jsonrpc import INTERNAL_ERROR, PARSE_ERROR
from anyshape.schema import aside, text_size

MadeT = TypeVar("MadeT")

LONG: Final = 1_000_000
"""Bytes of JSON that is not read on the event loop."""
_CONTAINERS: Final = frozenset({dict, list})


async def read_value(raw: msgspec.Raw, max_depth: int) -> Any:
    """Return the JSON value as `decode_value` does; what is long is read off the event loop."""
    if memoryview(raw).nbytes > LONG:
        return await aside(decode_value, raw, max_depth)
    return decode_value(raw, max_depth)


async def make_of(value: Any, make: Callable[[Any], MadeT]) -> MadeT:
    """Return what a function makes of a JSON value; what is long is not made on the event loop."""
    return await aside(make, value) if text_size(value) > LONG else make(value)


def decode_value(raw: msgspec.Raw | bytes, max_depth: int) -> Any:
    """Return the JSON value; `LimitExceeded` if it is nested too deeply."""
    try:
        value = decode_json(raw)
    except RecursionError:
        raise _too_deep(max_depth) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(f"the answer is not JSON: {error}", code=PARSE_ERROR) from None
    text = bytes(raw)
    if LONE_SURROGATE in text:
        raise ProtocolError("the answer holds half of a surrogate pair", code=PARSE_ERROR)
    # No value is deeper than half its length, or than it has opening brackets.
    bound = len(text) // 2
    if bound > max_depth:
        bound = text.count(b"{") + text.count(b"[")
    if bound > max_depth and _is_deeper(value, max_depth):
        raise _too_deep(max_depth)
    return value


def decode_object(raw: msgspec.Raw | None, max_depth: int) -> dict[str, Any]:
    """Return the JSON object; an empty one if there is nothing, or another value."""
    return {} if raw is None else as_object(decode_value(raw, max_depth))


def _is_deeper(value: object, max_depth: int) -> bool:
    level: list[object] = [value] if type(value) in _CONTAINERS else []
    for _ in range(max_depth):
        level = [
            child
            for container in level
            for child in _children(container)
            if type(child) in _CONTAINERS
        ]
        if not level:
            return False
    return True


def _children(container: object) -> Iterable[object]:
    if isinstance(container, dict):
        return cast("dict[str, object]", container).values()
    return cast("list[object]", container)


def _too_deep(max_depth: int) -> LimitExceeded:
    return LimitExceeded(
        f"the answer is nested deeper than {max_depth} levels",
        limit="max_depth",
        allowed=max_depth,
    )


def protocol_error(raw: msgspec.Raw | None, max_depth: int) -> ProtocolError:
    """Return the exception for the `error` member of an answer, however it is made."""
    try:
        return as_protocol_error(None if raw is None else decode_value(raw, max_depth))
    except LimitExceeded:
        return as_protocol_error(None)


def as_protocol_error(error: object) -> ProtocolError:
    """Return the exception for an `error` that was read already."""
    members = as_object(error)
    if not members:
        return ProtocolError("the server answered with an error that is no object")
    code, message = members.get("code"), members.get("message")
    return ProtocolError(
        shorten(message, 1000) if isinstance(message, str) else "the server gave no message",
        code=code if type(code) is int else INTERNAL_ERROR,
        data=members.get("data"),
    )


def as_object(value: object) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return the value if it is an array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_string(value: object) -> str | None:
    """Return the value if it is a string."""
    return value if isinstance(value, str) else None
