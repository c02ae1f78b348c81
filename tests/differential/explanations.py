"""Why validators disagree with ours: every reason that is known, and who is right.

The table in docs/internals/reliability.md is made of these. A disagreement that none of them covers
is a finding: it is fixed, or gets a reason here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from trees import Json, at, members_of, places
from validators import Refused

__all__ = ["REASONS", "Disagreement", "Reason", "explain"]

_DOUBLE: Final = 2**53


@dataclass(frozen=True)
class Disagreement:
    """What we say of a value by a document, and what another says."""

    other: str
    dialect: int
    document: Json
    value: Json
    ours: bool | Refused
    theirs: bool | Refused

    @property
    def words(self) -> frozenset[str]:
        """Every key that there is in the document."""
        found = (place[-1] for place in places(self.document) if place)
        return frozenset(word for word in found if isinstance(word, str))

    @property
    def numbers(self) -> list[int | float]:
        """Every number in the document and in the value."""
        found = [at(tree, place) for tree in (self.document, self.value) for place in places(tree)]
        return [each for each in found if isinstance(each, int | float) and type(each) is not bool]

    def refuses(self, part: str) -> bool:
        """Say whether the other one refuses, in these words."""
        return isinstance(self.theirs, Refused) and part in self.theirs

    def __str__(self) -> str:
        """Return the case, and what was said."""
        return (
            f"{self.other}, dialect {self.dialect}: {self.theirs!r}, we say {self.ours!r}\n"
            f"  schema {self.document!r}\n  value  {self.value!r}"
        )


@dataclass(frozen=True)
class Reason:
    """Why one of the others disagrees; `right` is who is not mistaken, by the specification."""

    other: str
    what: str
    right: str
    why: str
    covers: Callable[[Disagreement], bool]


def _nodes(found: Disagreement) -> Iterator[dict[str, Json]]:
    return (members_of(at(found.document, place)) for place in places(found.document))


def _has_siblings(found: Disagreement) -> bool:
    nodes = _nodes(found)
    return any(isinstance(node.get("$ref"), str) and len(node) > 1 for node in nodes)


def _is_tuple_that_contains(node: dict[str, Json]) -> bool:
    is_tuple = isinstance(node.get("items"), list) or "prefixItems" in node
    return is_tuple and "contains" in node


def _has_large(found: Disagreement) -> bool:
    return any(abs(number) >= _DOUBLE for number in found.numbers)


REASONS: Final[tuple[Reason, ...]] = (
    Reason(
        "Ajv",
        "numbers beyond 2⁵³",
        "Anyshape",
        "JSON numbers have any precision; JavaScript reads doubles",
        _has_large,
    ),
    Reason(
        "Ajv",
        "`multipleOf` with fractions",
        "Anyshape",
        "19.99 is a multiple of 0.01; the quotient of the doubles is no integer",
        lambda found: "multipleOf" in found.words,
    ),
    Reason(
        "Ajv",
        "`1.0` in draft-04",
        "Anyshape",
        "an integer there has no fraction part; JavaScript cannot tell 1.0 from 1",
        lambda found: (
            found.dialect == 4
            and any(isinstance(each, float) and each.is_integer() for each in found.numbers)
        ),
    ),
    Reason(
        "Ajv",
        "keywords beside `$ref`, up to draft-07",
        "Anyshape",
        "all of them are to be ignored; Ajv applies them",
        lambda found: found.dialect <= 7 and _has_siblings(found),
    ),
    Reason(
        "Ajv",
        'the name `""` in `required` and dependencies',
        "Anyshape",
        "it is a name as any other; Ajv does not look for it",
        lambda found: (
            found.theirs is True
            and bool(found.words & {"required", "dependencies", "dependentRequired"})
            and any(at(found.document, place) == "" for place in places(found.document))
        ),
    ),
    Reason(
        "Ajv",
        "`$dynamicRef` that leads to no `$dynamicAnchor`",
        "Anyshape",
        "it is then a `$ref`; Ajv takes only names of anchors, passes it over, or overflows",
        lambda found: "$dynamicRef" in found.words,
    ),
    Reason(
        "Ajv",
        "`contains` beside `unevaluatedItems`",
        "Anyshape",
        "only items that match are evaluated; Ajv takes all of them to be",
        lambda found: {"contains", "unevaluatedItems"} <= found.words and found.theirs is True,
    ),
    Reason(
        "Ajv",
        "`contains` beside a tuple, and an empty array",
        "Anyshape",
        "it has no item that matches; Ajv does not look where a tuple comes first",
        lambda found: found.theirs is True and any(map(_is_tuple_that_contains, _nodes(found))),
    ),
    Reason(
        "jsonschema",
        "regular expressions",
        "Anyshape",
        "they are ECMA-262's; those of Python have no `\\p{L}`, and other `\\d`, `\\w` and `$`",
        lambda found: bool(found.words & {"pattern", "patternProperties"}),
    ),
    Reason(
        "jsonschema",
        "`multipleOf` with fractions or large numbers",
        "Anyshape",
        "it divides doubles",
        lambda found: "multipleOf" in found.words,
    ),
    Reason(
        "jsonschema",
        "`additionalProperties` beside `unevaluatedProperties`, 2019-09",
        "Anyshape",
        "what the first applies to is evaluated",
        lambda found: (
            found.dialect == 19
            and {"additionalProperties", "unevaluatedProperties"} <= found.words
            and found.theirs is False
        ),
    ),
    Reason(
        "both",
        "`contentMediaType`, `contentEncoding` in draft-07",
        "all",
        "that dialect lets them be asserted or not; we do assert them",
        lambda found: (
            found.dialect == 7 and bool(found.words & {"contentMediaType", "contentEncoding"})
        ),
    ),
)


def explain(found: Disagreement) -> Reason | None:
    """Return the first reason that covers a disagreement."""
    for reason in REASONS:
        if reason.other in (found.other, "both") and reason.covers(found):
            return reason
    return None
