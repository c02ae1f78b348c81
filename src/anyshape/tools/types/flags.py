"""Values of `enum.Flag`: combinations of its members, of which libraries list only the members."""

from __future__ import annotations

import enum
from typing import Any, Final

_MOST_LISTED: Final = 6
"""Bits whose combinations are listed one by one where they leave gaps."""


def describe_flags(cls: type[enum.Flag]) -> dict[str, Any]:
    """Return the schema for every combination of a flag's members, none of them included."""
    # Not what `~` gives, which leaves out bits that no member has alone, or is no member at all.
    everything = 0
    for member in cls.__members__.values():
        everything |= member.value
    try:
        cls(2 * everything + 1)
    except ValueError:
        has_gaps = everything & (everything + 1) != 0
        if has_gaps and everything.bit_count() <= _MOST_LISTED:
            return {"type": "integer", "enum": _combinations(everything)}
        return {"type": "integer", "minimum": 0, "maximum": everything}
    return {"type": "integer", "minimum": 0}  # it keeps bits that none of its members has


def _combinations(everything: int) -> list[int]:
    values = [0]
    for place in range(everything.bit_length()):
        if everything >> place & 1:
            values += [value | 1 << place for value in values]
    return values
