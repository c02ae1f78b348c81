"""Values of `enum.Flag`: combinations of its members, of which libraries list only the members."""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["describe_flags"]


def describe_flags(cls: type[enum.Flag]) -> dict[str, Any]:
    """Return the schema for every combination of a flag's members, none of them included."""
    # Not what `~` gives, which leaves out bits that no member has alone, or is no member at all.
    everything = 0
    for member in cls.__members__.values():
        everything |= member.value
    try:
        cls(2 * everything + 1)
    except ValueError:
        return {"type": "integer", "minimum": 0, "maximum": everything}
    return {"type": "integer", "minimum": 0}  # it keeps bits that none of its members has
