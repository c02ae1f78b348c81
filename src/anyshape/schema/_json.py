"""JSON values as Python sees them, for type checkers."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Tell whether `value` is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Tell whether `value` is a JSON array."""
    return isinstance(value, list)


def escape(token: str) -> str:
    """Return `token` as one reference token of a JSON Pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return what one reference token of a JSON Pointer names."""
    return token.replace("~1", "/").replace("~0", "~")
