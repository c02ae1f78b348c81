"""Whether alternatives exclude each other, so that "any of" them says the same as "one of" them."""

from __future__ import annotations

from itertools import combinations
from typing import Final

from anyshape.documents.json import identity
from anyshape.providers._branches import Branches, Raw, Site
from anyshape.providers._cases import LOWER, UPPER, Case, Cases
from anyshape.providers._losses import Losses

_MOST_ALTERNATIVES: Final = 64
_DEPTH: Final = 2
_MOST_COMPARED: Final = 500_000
"""Types and listed values of alternatives that are compared in one document, a second's worth."""


class Overlaps:
    """Finds the alternatives of one document that do not exclude each other, each once."""

    def __init__(self, branches: Branches, cases: Cases) -> None:
        self._branches = branches
        self._cases = cases
        self._known: dict[tuple[int, ...], bool] = {}
        self._left = _MOST_COMPARED

    def note(self, site: Site, losses: Losses) -> None:
        """Take down every `oneOf` of a place whose alternatives may overlap."""
        ways = (number for way in site.ways for number in way.about)
        for number in dict.fromkeys((*site.about, *ways)):
            spot = self._branches.source[number]
            for keyword, options in spot.choices:
                if keyword == "anyOf" or len(options) == 1:
                    continue
                if keyword != "oneOf" or self._overlap(options):
                    losses.add(spot.place, keyword, f"one of {len(options)} alternatives")

    def _overlap(self, options: tuple[int, ...]) -> bool:
        """Tell whether a value might satisfy two of several alternatives."""
        if len(options) > _MOST_ALTERNATIVES:
            return True
        if options not in self._known:
            raws: list[Raw] = [((number,),) for number in options]
            self._known[options] = not all(
                self._apart(first, second, _DEPTH) for first, second in combinations(raws, 2)
            )
        return self._known[options]

    def _apart(self, first: Raw, second: Raw, depth: int) -> bool:
        """Tell whether no value satisfies both places; if it takes too long to find out, no."""
        ours, theirs = (self._cases.all(self._branches.site(raw).key) for raw in (first, second))
        return all(self._disjoint(one, other, depth) for one in ours for other in theirs)

    def _disjoint(self, one: Case, other: Case, depth: int) -> bool:
        self._left -= 1 + len(one.values or ()) + len(other.values or ())
        if self._left < 0:
            return False
        numbers = {"integer", "number"}
        if one.kind != other.kind and not {one.kind, other.kind} <= numbers:
            return True
        if one.values is not None and other.values is not None:
            known = {identity(value) for value in one.values}
            return known.isdisjoint(identity(value) for value in other.values)
        if one.kind in numbers:
            return _bounded_apart(one, other) or _bounded_apart(other, one)
        if one.kind != "object" or depth == 0:
            return False
        return self._required_apart(one, other, depth)

    def _required_apart(self, one: Case, other: Case, depth: int) -> bool:
        """Tell whether one of two objects requires what the other cannot have."""
        self._left -= len(one.required) + len(other.required)
        for name in dict.fromkeys((*one.required, *other.required)):
            ours, theirs = one.properties.get(name), other.properties.get(name)
            if ours is not None and theirs is not None:
                both = name in one.required and name in other.required
                if both and self._apart(ours, theirs, depth - 1):
                    return True
            elif (ours is None and name in other.required and one.closed) or (
                theirs is None and name in one.required and other.closed
            ):
                return True
        return False


def _bounded_apart(low: Case, high: Case) -> bool:
    """Tell whether every number of `low` is below every number of `high`."""
    upper, lower = low.bound(UPPER), high.bound(LOWER)
    if upper is None or lower is None:
        return False
    touching = upper.keyword == "maximum" and lower.keyword == "minimum"
    return upper.value < lower.value or (upper.value == lower.value and not touching)
