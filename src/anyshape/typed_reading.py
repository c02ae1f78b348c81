"""JSON of strangers is read as a Python type by pydantic, in room that grows with its length alone.

Pydantic tells of every flaw, which takes a kilobyte and 10 µs for each: a gigabyte for a megabyte
of wrong items. So what is long is read by a validator that gives up at the first flaw of each array
and object, and does all else the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, SchemaValidator

LONG: Final = 16_000
"""Bytes of JSON of which only the first flaws are told."""
_MOST_TOLD: Final = 10_000
_CONTAINERS: Final = frozenset(
    {
        *("counter", "deque", "dict", "frozendict", "frozenset", "list", "ordered-dict", "set"),
        "tuple",
    }
)
_NO_SCHEMAS: Final = frozenset(
    {"cls", "default", "expected", "function", "metadata", "serialization"}
)
"""Where core schemas hold what is none."""


class TypedReader:
    """The validators of one type: what they raise is for `flaws_of`."""

    def __init__(self, adapter: TypeAdapter[Any]) -> None:
        self._adapter = adapter
        self.usual = cast("SchemaValidator", adapter.validator)
        """Tells of every flaw; for JSON up to `LONG` bytes."""

    def of(self, size: int) -> SchemaValidator:
        """Return the validator for so many bytes of JSON."""
        return self.usual if size <= LONG else self._hasty

    @cached_property
    def _hasty(self) -> SchemaValidator:
        """The validator for what is long; the usual one, if the type can have no other."""
        if getattr(self._adapter, "_config", None):  # which is not part of the schema
            return self.usual
        try:
            schema: Any = _failing_fast(self._adapter.core_schema)
            # Else the validators would be used again that models have by themselves.
            return SchemaValidator(schema, _use_prebuilt=False)
        except Exception:
            return self.usual


def _failing_fast(part: object) -> object:
    """Return a part of a core schema in which arrays and objects are given up at the first flaw."""
    if isinstance(part, list):
        return [_failing_fast(each) for each in cast("list[object]", part)]
    if isinstance(part, tuple):
        return tuple(_failing_fast(each) for each in cast("tuple[object, ...]", part))
    if not isinstance(part, dict):
        return part
    node = cast("Mapping[str, object]", part)
    changed = {
        key: value if key in _NO_SCHEMAS else _failing_fast(value) for key, value in node.items()
    }
    kind = node.get("type")
    return (
        {**changed, "fail_fast": True} if isinstance(kind, str) and kind in _CONTAINERS else changed
    )


def flaws_of(error: ValidationError) -> list[ErrorDetails]:
    """Return what is wrong, without what was given; one line instead of very many."""
    count = error.error_count()
    if count > _MOST_TOLD:
        return [{"type": "too_many", "loc": (), "msg": f"{count} things are wrong", "input": None}]
    return error.errors(include_url=False, include_context=False, include_input=False)
