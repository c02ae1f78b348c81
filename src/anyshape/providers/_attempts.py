"""From the fullest to the smallest: the ways to write a schema whose size a target bounds.

Each gives up more than the one before, and what it gives up is a loss or is undone by `restore`: a
null for a property that is absent, then counts, then levels of recursion, and at last the deepest
objects, which become JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from anyshape.providers._expressions import expression_size
from anyshape.providers.profile import Profile

UNROLL: Final = 2
_FEW: Final = 8
"""The largest count that is kept once counts are given up: a pair or a triple says a lot."""
_LEVELS: Final = (6, 4, 3, 2, 1)


class Attempt(NamedTuple):
    """One way to write a schema: by which rules, and with how many levels of its recursion."""

    rules: Profile
    unroll: int

    @property
    def places(self) -> tuple[int | None, int]:
        """What decides how many places are written."""
        return self.rules.bounds.levels, self.unroll


def attempts(profile: Profile, *, recursive: bool) -> Iterator[Attempt]:
    """Yield the ways to write a schema; `recursive` says that it leads to itself."""
    yield Attempt(profile, UNROLL)
    if profile.bounds.expression is not None:
        profile = replace(profile, one_required=True)
        yield Attempt(profile, UNROLL)
        profile = replace(profile, largest_count=_FEW)
        yield Attempt(profile, UNROLL)
    if recursive:
        yield from (Attempt(profile, unroll) for unroll in reversed(range(UNROLL)))
    if profile.bounds.expression is not None:
        for levels in _LEVELS:
            yield Attempt(replace(profile, bounds=replace(profile.bounds, levels=levels)), 0)


def is_small_enough(document: dict[str, Any], profile: Profile) -> bool:
    """Tell whether what the target makes of a document is within its bound."""
    most = profile.bounds.expression
    return most is None or expression_size(document) <= most
