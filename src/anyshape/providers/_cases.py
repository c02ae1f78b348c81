"""What a branch says of each JSON type: one case per type, all assertions met in it.

A case is the meeting of several subschemas: types and enumerations intersect, bounds take the
tighter one, property schemas meet per name, `required` unites. What no target can write (`not`,
conditions, `contains` …) is kept as an assertion for the notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from anyshape.documents.json import identity
from anyshape.providers._branches import ANYTHING, Branch, Branches, Raw
from anyshape.providers._losses import Said, worded
from anyshape.providers._objects import Objects
from anyshape.providers._source import FORMAT_HINT, Subschema
from anyshape.providers._values import KINDS, StringVerdicts, kind_of, spelt, whole

LOWER: Final = ("minimum", "exclusiveMinimum")
UPPER: Final = ("maximum", "exclusiveMaximum")
_LARGEST: Final = ("minLength", "minItems", "minProperties")
_SMALLEST: Final = ("maxLength", "maxItems", "maxProperties")
_SPEAKS_OF: Final = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format", FORMAT_HINT), ("string",)),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), ("string",)),
    **dict.fromkeys((*LOWER, *UPPER, "multipleOf"), ("integer", "number")),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "contains"), ("array",)),
    "unevaluatedItems": ("array",),
    **dict.fromkeys(("minProperties", "maxProperties", "propertyNames"), ("object",)),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), ("object",)),
    "unevaluatedProperties": ("object",),
    **dict.fromkeys(("not", "if"), KINDS),
}
"""For each assertion, the types that it can rule out."""


@dataclass(slots=True, eq=False)
class Case:
    """The values of one type that a branch admits."""

    kind: str
    values: tuple[Any, ...] | None = None
    """The only values, where they are listed."""
    said: dict[str, Said] = field(default_factory=dict[str, Said])
    """Assertions that schemas can write, the tightest of each keyword."""
    more: list[Said] = field(default_factory=list[Said])
    """Assertions that are left to the original."""
    hints: list[str] = field(default_factory=list[str])
    """Words for the model that assert nothing."""
    place: str = ""
    prefix: tuple[Raw, ...] = ()
    rest: Raw = ANYTHING
    properties: dict[str, Raw] = field(default_factory=dict[str, Raw])
    required: tuple[str, ...] = ()
    mentioned: dict[str, Raw] = field(default_factory=dict[str, Raw])
    """Properties that only conditions and alternatives speak of."""
    forbidden: tuple[str, ...] = ()
    """Properties that can have no value."""
    extra: Raw = ANYTHING
    """Properties that are not declared."""
    patterns: dict[str, Raw] = field(default_factory=dict[str, Raw])
    """Those of them whose names match."""
    overlapping: bool = False
    """Whether declared ones match as well: what patterns say of the rest may be wrong for them."""
    implied: bool = True
    """Whether undeclared properties are admitted only because nothing was said of them."""

    @property
    def closed(self) -> bool:
        """Whether an object has no other properties than those that are declared."""
        return self.extra == () and not self.patterns

    def bound(self, keywords: tuple[str, str]) -> Said | None:
        """Return what is said by one of two keywords, of which there is one at most."""
        return next((self.said[keyword] for keyword in keywords if keyword in self.said), None)

    @property
    def shaped(self) -> bool:
        """Whether it says something of items or properties."""
        return bool(
            self.prefix
            or self.properties
            or self.required
            or self.patterns
            or self.forbidden
            or self.extra != ANYTHING
            or any(conjunction for conjunction in self.rest)
            or self.rest == ()
        )

    @property
    def plain(self) -> bool:
        """Whether it says no more than the type."""
        return self.values is None and not (self.said or self.more or self.shaped)


class Cases:
    """The cases of each branch of one document."""

    def __init__(self, branches: Branches) -> None:
        self._branches = branches
        self._source = branches.source
        self._verdicts = StringVerdicts()
        self._objects = Objects(branches, self._verdicts)
        self._known: dict[Branch, list[Case]] = {}

    def of(self, branch: Branch) -> list[Case]:
        """Return the cases of a branch: none where no value can satisfy it."""
        found = self._known.get(branch)
        if found is None:
            # Whoever asks while it is being found out is inside of it: let it be possible.
            self._known[branch] = [Case("null")]
            found = self._known[branch] = list(self._find(branch))
        return found

    def all(self, branches: Iterable[Branch]) -> list[Case]:
        """Return the cases of several branches."""
        return [case for branch in branches for case in self.of(branch)]

    def possible(self, raw: Raw) -> bool:
        """Tell whether a place can be satisfied, as far as types and bounds can tell."""
        return any(map(self.of, self._branches.site(raw).key))

    def _free(self, raw: Raw) -> Raw:
        """Return the one form of "anything" for places that say nothing."""
        ways = self._branches.site(raw).ways
        return ANYTHING if ways and ways[0].branch == Branch(()) else raw

    def _find(self, branch: Branch) -> Iterator[Case]:
        spots = [self._source[number] for number in branch.spots]
        place = spots[0].place if spots else ""
        values = _enumerated(spots)
        for kind in _kinds(spots, self._source.__getitem__):
            case = Case(kind, place=place)
            if values is not None:
                case.values = tuple(value for value in values if _is_a(value, kind))
                if not case.values:
                    continue
                if kind == "number" and all(_is_a(value, "integer") for value in case.values):
                    case.kind = "integer"
            _meet(spots, case, self._source.__getitem__)
            if case.values is not None:
                _filter(case, self._verdicts)
                if not case.values:
                    continue
            if not _has_room(case):
                continue
            if kind == "array":
                self._meet_arrays(spots, case)
                least = case.said.get("minItems")
                if case.rest == () and least is not None and least.value > len(case.prefix):
                    continue
            elif kind == "object" and not self._meet_objects(spots, branch, case):
                continue
            yield case

    def _meet_arrays(self, spots: list[Subschema], case: Case) -> None:
        length = max((len(spot.prefix) for spot in spots), default=0)
        places = [
            tuple(
                spot.prefix[index] if index < len(spot.prefix) else spot.items
                for spot in spots
                if index < len(spot.prefix) or spot.items is not None
            )
            for index in range(length + 1)
        ]
        prefix: list[Raw] = []
        for numbers in places:
            raw: Raw = (tuple(number for number in numbers if number is not None),)
            if not self.possible(raw):
                case.rest = ()
                break
            prefix.append(raw)
        else:
            case.rest = prefix.pop()
        most = case.said.get("maxItems")
        if most is not None and most.value <= len(prefix):
            prefix, case.rest = prefix[: most.value], ()
        case.prefix = tuple(prefix)
        unevaluated = [spot for spot in spots if spot.unevaluated_items is not None]
        simple = not any(
            spot.conditional or spot.contains is not None or spot.items is not None
            for spot in spots
        )
        # One that admits something evaluates every item for those around it.
        values = [self._source[spot.unevaluated_items or 0].value for spot in unevaluated]
        if simple and values and all(value is False for value in values):
            case.rest = ()
        if case.rest != () and unevaluated:
            case.more += [
                Said("unevaluatedItems", spot.words["unevaluatedItems"], spot.place)
                for spot in unevaluated
            ]

    def _meet_objects(self, spots: list[Subschema], branch: Branch, case: Case) -> bool:
        """Fill in the properties; tell whether every required one can be given."""
        found = self._objects.meet(spots, branch.weak)
        for name, raw in found.properties.items():
            if self.possible(raw):
                case.properties[name] = raw
            elif name in found.required:
                return False
            else:
                case.forbidden += (name,)
        case.required = tuple(found.required)
        case.extra = self._free(found.extra) if self.possible(found.extra) else ()
        case.patterns = {
            pattern: raw for pattern, raw in found.patterns.items() if self.possible(raw)
        }
        case.overlapping = found.overlapping
        barred = {pattern: False for pattern in found.patterns if pattern not in case.patterns}
        if barred and (case.patterns or case.extra != ()):
            case.more.append(Said("patternProperties", barred, case.place))
        case.implied = found.implied
        case.mentioned = {name: raw for name, raw in found.mentioned.items() if self.possible(raw)}
        case.more += found.more
        if found.closed_by_unevaluated:
            case.properties |= case.mentioned
            case.mentioned = {}
            case.extra = ()
            case.implied = False
        return True


def _kinds(spots: Iterable[Subschema], find: Any) -> list[str]:
    """Return the types that every subschema admits."""
    kinds: set[str] = set(KINDS) - {"integer"}
    for spot in spots:
        if spot.types:
            kinds = _meet_types(kinds, spot.types)
        kinds -= excluded_types(spot, find)
    return [kind for kind in KINDS if kind in kinds]


def _meet_types(kinds: set[str], names: frozenset[str]) -> set[str]:
    met = kinds & names
    if "integer" in names and "number" not in names and "number" in kinds:
        met.add("integer")
    if "number" in names and "integer" in kinds:
        met.add("integer")
    if "number" in met:
        met.discard("integer")
    return met


def excluded_types(spot: Subschema, find: Any) -> set[str]:
    """Return the types that `not` rules out, where it speaks of nothing but types."""
    if spot.excluded is None:
        return set()
    inner: Subschema = find(spot.excluded)
    if inner.value is True:
        return set(KINDS)
    if inner.value is False or inner.ruling != {"type"}:
        return set()
    names = set(inner.types)
    return names | {"integer"} if "number" in names else names - {"integer"}


def _enumerated(spots: Iterable[Subschema]) -> list[Any] | None:
    """Return the values that every enumeration lists, or `None` where nothing is enumerated."""
    values: list[Any] | None = None
    for spot in spots:
        for keyword in ("const", "enum"):
            if keyword in spot.words:
                listed: list[Any] = (
                    [spot.words["const"]] if keyword == "const" else spot.words["enum"]
                )
                known = {identity(value): spelt(value) for value in listed}
                if values is None:
                    values = list(known.values())
                else:
                    values = [value for value in values if identity(value) in known]
    return values


def _is_a(value: object, kind: str) -> bool:
    found = kind_of(value)
    return found == kind or (found == "integer" and kind == "number")


def _meet(spots: Iterable[Subschema], case: Case, find: Any) -> None:
    """Take over every assertion about the case's type, the tightest of each."""
    for spot in spots:
        for keyword, value in spot.words.items():
            kinds = _SPEAKS_OF.get(keyword)
            if kinds is None or case.kind not in kinds:
                continue
            if keyword in ("unevaluatedItems", "unevaluatedProperties"):
                continue  # the meeting of arrays and objects knows whether it can be kept
            said = Said(keyword, value, spot.place)
            if keyword == FORMAT_HINT:
                case.hints.append(worded("format", value))
            elif keyword in LOWER or keyword in UPPER:
                _tighten(case, said)
            elif keyword in _LARGEST or keyword in _SMALLEST:
                known = case.said.get(keyword)
                if known is None or (
                    value > known.value if keyword in _LARGEST else value < known.value
                ):
                    case.said[keyword] = said
            elif keyword in ("pattern", "format", "multipleOf", "propertyNames"):
                known = case.said.setdefault(keyword, said)
                if known.value != value:
                    case.more.append(said)
            elif keyword == "uniqueItems":
                if value is True:
                    case.said[keyword] = said
            elif keyword == "if":
                if len(spot.condition_words) > 1:
                    case.more.append(Said("if", spot.condition_words, spot.place))
            elif keyword == "contains":
                bounds = {
                    k: spot.words[k] for k in ("minContains", "maxContains") if k in spot.words
                }
                case.more.append(
                    Said(keyword, {"contains": value} | bounds if bounds else value, spot.place)
                )
            elif keyword != "not" or not _is_type_exclusion(spot, find):
                case.more.append(said)


def _is_type_exclusion(spot: Subschema, find: Any) -> bool:
    if spot.excluded is None:
        return False
    inner: Subschema = find(spot.excluded)
    if inner.value is not None:
        return True
    return bool(excluded_types(spot, find)) and "integer" not in inner.types


def _tighten(case: Case, bound: Said) -> None:
    """Keep one lower and one upper bound, the tighter, an exclusive one before its equal."""
    pair = LOWER if bound.keyword in LOWER else UPPER
    known = case.bound(pair)
    if known is not None:
        looser = bound.value < known.value if pair is LOWER else bound.value > known.value
        if looser or (bound.value == known.value and bound.keyword == pair[0]):
            return
        del case.said[known.keyword]
    case.said[bound.keyword] = bound


def _filter(case: Case, verdicts: StringVerdicts) -> None:
    """Leave only the listed values that satisfy the assertions beside them, which say no more."""
    assert case.values is not None
    kept = [value for value in case.values if _satisfies(value, case, verdicts)]
    case.values = tuple(kept)
    case.said = {
        keyword: said
        for keyword, said in case.said.items()
        if case.kind in ("array", "object") or keyword == "multipleOf"
    }
    if case.kind == "string":
        case.more = [said for said in case.more if said.keyword not in ("pattern", "format")]


def _satisfies(value: Any, case: Case, verdicts: StringVerdicts) -> bool:
    said = case.said
    if case.kind in ("integer", "number"):
        return not (
            ("minimum" in said and value < said["minimum"].value)
            or ("maximum" in said and value > said["maximum"].value)
            or ("exclusiveMinimum" in said and value <= said["exclusiveMinimum"].value)
            or ("exclusiveMaximum" in said and value >= said["exclusiveMaximum"].value)
        )
    if case.kind == "string":
        assertions = [*said.values(), *case.more]
        return not (
            ("minLength" in said and len(value) < said["minLength"].value)
            or ("maxLength" in said and len(value) > said["maxLength"].value)
            or any(
                not verdicts.admits(entry.keyword, entry.value, value)
                for entry in assertions
                if entry.keyword in ("pattern", "format")
            )
        )
    return True


def _has_room(case: Case) -> bool:
    """Tell whether the bounds of a case leave any value."""
    said = case.said
    for low, high in (("minLength", "maxLength"), ("minItems", "maxItems")):
        if low in said and high in said and said[low].value > said[high].value:
            return False
    low_bound, high_bound = case.bound(LOWER), case.bound(UPPER)
    if low_bound is None or high_bound is None:
        return True
    if case.kind == "integer":
        (_, least), (_, most) = whole(*low_bound[:2]), whole(*high_bound[:2])
        return least <= most
    exclusive = "exclusive" in low_bound.keyword or "exclusive" in high_bound.keyword
    return low_bound.value < high_bound.value or (
        low_bound.value == high_bound.value and not exclusive
    )
