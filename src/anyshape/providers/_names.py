"""Names that a provider takes, for properties and definitions that are called otherwise."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

__all__ = ["safe_name"]

_LONGEST = 60


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def safe_name(name: str, pattern: str, taken: Collection[str]) -> str:
    """Return `name`, or the nearest that matches `pattern` (a profile's) and is not `taken`."""
    rule = _compiled(pattern)
    if rule.fullmatch(name) and name not in taken:
        return name
    kept = "".join(
        character if rule.fullmatch("a" + character) else "_" for character in name[:_LONGEST]
    )
    if not rule.fullmatch(kept):
        kept = ("_" + kept)[:_LONGEST] if rule.fullmatch("_" + kept) else "p_" + kept
    candidate, count = kept, 1
    while candidate in taken or not rule.fullmatch(candidate):
        count += 1
        candidate = f"{kept[: _LONGEST - 8]}_{count}"
    return candidate
