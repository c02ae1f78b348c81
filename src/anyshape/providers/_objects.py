"""Where several subschemas speak of one object: its properties, and the rest of them.

Each subschema's `additionalProperties` leaves out only what stands in its own `properties` and
`patternProperties`, so a name is asked of every subschema in turn, and never of the union of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from anyshape.providers._branches import ANYTHING, Branches, Raw
from anyshape.providers._losses import Said
from anyshape.providers._source import Subschema
from anyshape.providers._values import StringVerdicts


@dataclass(slots=True)
class Met:
    """What several subschemas say of one object together."""

    properties: dict[str, Raw] = field(default_factory=dict[str, Raw])
    required: dict[str, None] = field(default_factory=dict[str, None])
    extra: Raw = ANYTHING
    patterns: dict[str, Raw] = field(default_factory=dict[str, Raw])
    overlapping: bool = False
    """Whether declared names match as well, which have been met with what patterns say."""
    implied: bool = True
    mentioned: dict[str, Raw] = field(default_factory=dict[str, Raw])
    closed_by_unevaluated: bool = False
    more: list[Said] = field(default_factory=list[Said])


@dataclass(slots=True)
class _Mentions:
    """The properties that subschemas speak of which may or may not hold."""

    numbers: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    asked: set[str] = field(default_factory=set[str])
    """Names that a condition asks about, which says nothing of their values."""
    open: bool = False
    """Whether one of them speaks of properties that it does not name."""


class Objects:
    """Meets the object keywords of several subschemas."""

    def __init__(self, branches: Branches, verdicts: StringVerdicts) -> None:
        self._verdicts = verdicts
        self._source = branches.source
        self._silent = branches.silent

    def meet(self, spots: list[Subschema], weak: tuple[int, ...]) -> Met:
        """Return what `spots` say together, and what `weak` ones and conditions mention."""
        met = Met()
        for spot in spots:
            met.required.update(dict.fromkeys(spot.words.get("required", ())))
        names = dict.fromkeys(name for spot in spots for name in spot.properties)
        met.properties = {name: (self.asked(spots, name),) for name in {**names, **met.required}}
        self._rest(spots, met)
        mentions = _Mentions()
        self._mention(weak, mentions)
        for spot in spots:
            self._mention(spot.conditional, mentions)
            if spot.condition is not None:
                self._ask(spot.condition, mentions)
        beyond = tuple(spot.additional for spot in spots if spot.additional is not None)
        for name, numbers in mentions.numbers.items():
            if name not in met.properties:
                base = self.asked(spots, name)
                free = name in mentions.asked or not numbers
                met.mentioned[name] = (
                    (base,) if free else tuple((*base, number) for number in numbers)
                )
        self._unevaluated(spots, met, mentions, named=not beyond and not met.patterns)
        return met

    def asked(self, spots: Sequence[Subschema], name: str) -> tuple[int, ...]:
        """Return the subschemas that a property of this name has to satisfy."""
        self._source.spend(len(spots))
        found: dict[int, None] = {}
        for spot in spots:
            self._silent.update(spot.patterns.values())
            own = [spot.properties[name]] if name in spot.properties else []
            own += [
                number
                for pattern, number in spot.patterns.items()
                if self._verdicts.admits("pattern", pattern, name)
            ]
            if not own and spot.additional is not None:
                own = [spot.additional]
            found.update(dict.fromkeys(own))
        return tuple(found)

    def _rest(self, spots: list[Subschema], met: Met) -> None:
        """Say what holds for names that nobody declared."""
        beyond = tuple(spot.additional for spot in spots if spot.additional is not None)
        met.extra = (beyond,)
        for spot in spots:
            others: list[int] = []
            for other in spots if spot.patterns else ():
                if other is spot or other.additional is None:
                    continue
                if spot.patterns.keys() <= other.patterns.keys():
                    continue  # what matches here matches there as well
                if other.patterns:  # that depends on the name
                    words = other.words["additionalProperties"]
                    met.more.append(Said("additionalProperties", words, other.place))
                else:
                    others.append(other.additional)
            for pattern, number in spot.patterns.items():
                met.overlapping |= any(
                    self._verdicts.admits("pattern", pattern, name) for name in met.properties
                )
                known = met.patterns.get(pattern)
                conjunction = (number, *others)
                if known is not None:
                    conjunction = tuple(dict.fromkeys((*known[0], *conjunction)))
                met.patterns[pattern] = (conjunction,)
        met.implied = not beyond and not met.patterns

    def _unevaluated(
        self, spots: list[Subschema], met: Met, mentions: _Mentions, *, named: bool
    ) -> None:
        """Close the object, or say what the rest is, where every evaluated name is known."""
        # One that admits something evaluates every name for those around it.
        open = [spot for spot in spots if self._admits_unevaluated(spot)]
        for spot in spots:
            number = spot.unevaluated_properties
            if number is None or self._source[number].value is True:
                continue
            said = Said("unevaluatedProperties", spot.words["unevaluatedProperties"], spot.place)
            if not named or mentions.open or any(other is not spot for other in open):
                met.more.append(said)
            elif self._source[number].value is False:
                met.closed_by_unevaluated = True
                if len(spots) > 1 or mentions.numbers:
                    met.more.append(said)
            else:
                met.extra = ((*met.extra[0], number),)
                met.implied = False
                met.properties |= {
                    name: met.mentioned.pop(name) + met.extra for name in list(met.mentioned)
                }
                met.more.append(said)

    def _admits_unevaluated(self, spot: Subschema) -> bool:
        number = spot.unevaluated_properties
        return number is not None and self._source[number].value is not False

    def _ask(self, number: int, mentions: _Mentions) -> None:
        condition = _Mentions()
        self._mention((number,), condition)
        mentions.asked |= condition.numbers.keys()
        mentions.open |= condition.open
        for name in condition.numbers:
            mentions.numbers.setdefault(name, [])

    def _mention(self, numbers: Iterable[int], found: _Mentions) -> None:
        pending = list(numbers)
        seen: set[int] = set()
        while pending:
            number = pending.pop()
            if number in seen:
                continue
            seen.add(number)
            spot = self._source[number]
            for name, inner in spot.properties.items():
                if self._source[inner].value is not False:
                    found.numbers.setdefault(name, []).append(inner)
            for name in spot.words.get("required", ()):
                found.numbers.setdefault(name, [])
            if spot.additional is not None or spot.patterns:
                found.open = True
            if spot.unevaluated_properties is not None:
                found.open = True
            pending += [*spot.references, *spot.all_of, *spot.conditional]
            pending += [option for _, options in spot.choices for option in options]
            if spot.condition is not None:
                self._ask(spot.condition, found)
