"""JSON values as Python sees them, for type checkers."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator
from typing import Any, TypeGuard, cast


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Tell whether `value` is a JSON array."""
    return isinstance(value, list)


def parts(value: object) -> Iterator[object]:
    """Yield a value and all that is in it."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        if is_object(each):
            waiting.extend(each.values())
        elif is_array(each):
            waiting.extend(each)


def plain(value: object) -> object:
    """Return a value as JSON has it: a tuple as an array, a member of an enumeration as its value.

    What stands within it stays as it is.
    """
    while isinstance(value, enum.Enum):
        value = value.value
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def identity(value: object) -> Hashable:
    """Return something that is equal for equal JSON values only: 1 and 1.0, but not `true`."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, (list, tuple)):
        return ("array", tuple(identity(item) for item in cast("list[object]", value)))
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return ("object", frozenset((name, identity(item)) for name, item in members.items()))
    return ("number", cast("Any", value))
