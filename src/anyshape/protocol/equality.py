"""When two JSON values are the same: as Python has it, but that true is not 1, nor false 0."""

from __future__ import annotations

from typing import cast


def is_same(one: object, other: object) -> bool:
    """Tell whether two JSON values are the same."""
    return one == other and _are_booleans_alike(one, other)


def _are_booleans_alike(one: object, other: object) -> bool:
    """Tell whether equal values have booleans in the same places."""
    if isinstance(one, dict):
        members = cast("dict[str, object]", other)
        return all(
            _are_booleans_alike(value, members[key])
            for key, value in cast("dict[str, object]", one).items()
        )
    if isinstance(one, list):
        pairs = zip(cast("list[object]", one), cast("list[object]", other), strict=True)
        return all(_are_booleans_alike(each, like) for each, like in pairs)
    return isinstance(one, bool) is isinstance(other, bool)
