"""Subschemas joined by "and": the alternatives of a place, each a set of subschemas.

A place of the document is turned into a union of *branches*: references and `allOf` are followed
into the same set, and every `anyOf` or `oneOf` is chosen from, with its siblings in every choice.
Sets of subschemas of one document are finite in number, so recursion comes back to a set that is
known already. A product of choices that would be too large is not multiplied out: the choice is
left to the original, and only the properties that it mentions are remembered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from anyshape.errors import CannotLower
from anyshape.providers._losses import Losses
from anyshape.providers._source import Source

Raw: TypeAlias = tuple[tuple[int, ...], ...]
"""A union of conjunctions of subschemas, by their numbers."""

ANYTHING: Final[Raw] = ((),)
NOTHING: Final[Raw] = ()

_MOST_PRODUCT: Final = 32
_MOST_WAYS: Final = 256
_MOST_SITES: Final = 20_000


def either(raws: Iterable[Raw]) -> Raw:
    """Return the union of several."""
    found = tuple(dict.fromkeys(conjunction for raw in raws for conjunction in raw))
    return ANYTHING if () in found else found


class Branch(NamedTuple):
    """Subschemas that all hold, and those that only mention properties."""

    spots: tuple[int, ...]
    weak: tuple[int, ...] = ()


class Way(NamedTuple):
    """One alternative of a place, and what was passed on the way to it, for its description."""

    branch: Branch
    about: tuple[int, ...]
    name: int | None = None
    """The subschema that it comes from by a reference, alone or with those beside it."""


class Site(NamedTuple):
    """Everything that a place of the document says: one of `ways` holds."""

    ways: tuple[Way, ...]
    about: tuple[int, ...]
    """What every alternative has in common, outermost first."""
    name: int | None
    """The subschema that the place is but a reference to."""

    @property
    def key(self) -> tuple[Branch, ...]:
        """What makes two places the same."""
        return tuple(way.branch for way in self.ways)


_Choice: TypeAlias = tuple[int, str, tuple[int, ...]]


@dataclass(slots=True)
class _Gathered:
    numbers: dict[int, None]
    choices: list[_Choice]


class Branches:
    """The branches of each place of one document."""

    def __init__(self, source: Source, losses: Losses) -> None:
        self.source = source
        self.silent: set[int] = set()
        """Subschemas of `patternProperties`, whose descriptions are not those of a property."""
        self._losses = losses
        self._sites: dict[Raw, Site] = {}

    def site(self, raw: Raw) -> Site:
        """Return the alternatives of a place."""
        found = self._sites.get(raw)
        if found is None:
            if len(self._sites) >= _MOST_SITES:
                raise CannotLower(
                    f"the schema has more than {_MOST_SITES} distinct places once references and "
                    "alternatives are joined; name less in it, or lower it for a profile that "
                    "keeps documents as they are"
                )
            found = self._sites[raw] = self._expand(raw)
        return found

    def parts(self, site: Site) -> list[tuple[Way, ...]]:
        """Return the alternatives of a place, those together that one reference stands for."""
        found: list[tuple[Way, ...]] = []
        for name, group in groupby(site.ways, key=lambda way: way.name):
            ways = tuple(group)
            if name is not None and len(ways) < len(site.ways) and self._stands(name, ways):
                found.append(ways)
            else:
                found += [(way,) for way in ways]
        return found

    def _stands(self, name: int, ways: tuple[Way, ...]) -> bool:
        return self.site(((name,),)).key == tuple(way.branch for way in ways)

    def _expand(self, raw: Raw) -> Site:
        ways: dict[Branch, Way] = {}
        about: tuple[int, ...] = ()
        for conjunction in raw:
            gathered = self._gather(conjunction, {})
            if gathered is None:
                continue
            if len(raw) == 1:
                about = self._spoken(conjunction, gathered)
            room = max([_MOST_WAYS, *(len(options) for _, _, options in gathered.choices)])
            for way in self._choose(
                gathered.numbers,
                () if len(raw) == 1 else tuple(gathered.numbers),
                gathered.choices,
                (),
                [room],
            ):
                ways.setdefault(way.branch, way)
        free = [way for branch, way in ways.items() if branch == Branch(())]
        name = self._alias(raw[0][0]) if len(raw) == 1 and len(raw[0]) == 1 else None
        return Site(tuple(free[:1] or ways.values()), about, name)

    def _spoken(self, conjunction: tuple[int, ...], gathered: _Gathered) -> tuple[int, ...]:
        """Return what describes a place: not what holds for it by its name's pattern as well."""
        loud = tuple(number for number in conjunction if number not in self.silent)
        found = self._gather(loud, {}) if 0 < len(loud) < len(conjunction) else gathered
        return tuple((gathered if found is None else found).numbers)

    def _gather(self, numbers: tuple[int, ...], known: dict[int, None]) -> _Gathered | None:
        """Follow what holds as well; return what is not `known` yet, `None` if nothing can hold."""
        found = _Gathered({}, [])
        pending = list(reversed(numbers))
        while pending:
            number = pending.pop()
            if number in known or number in found.numbers:
                continue
            spot = self.source[number]
            if spot.value is False:
                return None
            found.numbers[number] = None
            more = [*spot.references, *spot.all_of]
            for keyword, options in spot.choices:
                if len(options) == 1:
                    more += options
                else:
                    found.choices.append((number, keyword, options))
            pending.extend(reversed(more))
        return found

    def _choose(
        self,
        numbers: dict[int, None],
        about: tuple[int, ...],
        choices: list[_Choice],
        weak: tuple[int, ...],
        room: list[int],
    ) -> list[Way]:
        choices, weak = self._cap(choices, weak, exhausted=room[0] <= 0)
        if not choices:
            room[0] -= 1
            spots = tuple(sorted(number for number in numbers if self.source[number].asserts))
            return [Way(Branch(spots, tuple(sorted(set(weak)))), about)]
        (_, _, options), rest = choices[0], choices[1:]
        ways: list[Way] = []
        for option in options:
            gathered = self._gather((option,), numbers)
            if gathered is not None:
                found = self._choose(
                    numbers | gathered.numbers,
                    about + tuple(gathered.numbers),
                    rest + gathered.choices,
                    weak,
                    room,
                )
                name = self._alias(option)
                ways += found if name is None else [way._replace(name=name) for way in found]
        return ways

    def _cap(
        self, choices: list[_Choice], weak: tuple[int, ...], *, exhausted: bool
    ) -> tuple[list[_Choice], tuple[int, ...]]:
        """Leave choices to the original until their product is small enough."""
        kept = list(choices)
        least = 0 if exhausted else 1
        while len(kept) > least and (
            exhausted or math.prod(len(options) for _, _, options in kept) > _MOST_PRODUCT
        ):
            number, keyword, options = kept.pop()
            spot = self.source[number]
            self._losses.add(spot.place, keyword, f"{keyword} of {len(options)} alternatives")
            weak += options
        return kept, weak

    def _alias(self, number: int) -> int | None:
        """Return what a subschema that only refers, maybe with a description, refers to."""
        seen: set[int] = set()
        while number not in seen:
            seen.add(number)
            spot = self.source[number]
            single = [options for _, options in spot.choices if len(options) == 1]
            onward = [*spot.references, *spot.all_of, *(options[0] for options in single)]
            if spot.asserts or len(onward) != 1 or len(single) != len(spot.choices):
                break
            number = onward[0]
        return number if len(seen) > 1 else None
