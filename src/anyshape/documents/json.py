"""JSON values as Python sees them, for type checkers."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

__all__ = ["Json", "is_array", "is_object"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Tell whether `value` is a JSON array."""
    return isinstance(value, list)
