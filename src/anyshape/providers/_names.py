"""Names that a provider takes, for properties and definitions that are called otherwise."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterator
from itertools import product
from typing import Final

from anyshape.errors import CannotLower

_DEFINITION_NAMES: Final = "[A-Za-z0-9_-]{1,64}"
_LENGTHS: Final = (60, 30, 14, 7, 3)
_MOST_COUNTED: Final = 9


@functools.lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def fits(name: str, pattern: str) -> bool:
    """Tell whether `pattern`, a profile's, takes `name` as it is."""
    return _compiled(pattern).fullmatch(name) is not None


def safe_name(name: str, pattern: str, taken: Collection[str]) -> str:
    """Return `name`, or the nearest that matches `pattern` (a profile's) and is not `taken`."""
    for candidate in _candidates(name, pattern):
        if candidate not in taken and fits(candidate, pattern):
            return candidate
    raise CannotLower(f"no name like {name[:60]!r} is left that matches {pattern}")


def definition_name(place: str, taken: Collection[str], prefix: str = "") -> str:
    """Return a name for the definition of what stands at `place`, which no other has."""
    wanted = place.rpartition("/")[2].replace("~1", "_").replace("~0", "_") or "root"
    if not wanted.startswith(prefix):
        wanted = f"{prefix}_{wanted}"
    return safe_name(wanted, _DEFINITION_NAMES, taken)


def _candidates(name: str, pattern: str) -> Iterator[str]:
    """Yield names that are less and less like `name`: shortened, counted, and digested."""
    yield name
    kept = "".join(
        character if fits("a" + character, pattern) else "_" for character in name[: _LENGTHS[0]]
    )
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    letters = digest.translate(str.maketrans("0123456789", "ghijklmnop"))
    counts = [f"_{count}" for count in range(2, _MOST_COUNTED + 1)]
    endings = ("", *counts, f"_{digest[:8]}", f"_{digest[:16]}", letters[:3])
    for beginning, length, ending in product(("", "_", "p_"), _LENGTHS, endings):
        room = length - len(beginning) - len(ending)
        if room >= 0:
            yield f"{beginning}{kept[:room]}{ending}"
