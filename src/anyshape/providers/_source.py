"""A document as lowering reads it: numbered subschemas, each in the words of 2020-12.

Older dialects say the same things in other words (tuples in `items`, booleans for exclusive bounds,
`dependencies`); they are read into today's here, so that no pass has to know them. References are
resolved by the schema core, against the document as its author wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from anyshape.documents.dialects import DEFAULT_DIALECT, Dialect
from anyshape.documents.library import Library, Spot, dialect_of, load
from anyshape.documents.positions import Label, declared_types
from anyshape.errors import CannotLower
from anyshape.schema._compile import find_metaschema

ANNOTATIONS: Final = frozenset(
    (
        *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$comment"),
        *("$vocabulary", "$defs", "definitions", "title", "description", "default", "examples"),
        *("deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"),
        *("contentSchema", "nullable"),
    )
)
"""Words that rule out no value."""

CONTENT: Final = ("contentEncoding", "contentMediaType")
"""Those of them that do in the dialects that assert them."""

_ANNOTATED: Final[Mapping[str, type]] = {
    "examples": list,
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly"), bool),
    **dict.fromkeys(CONTENT, str),
}
"""What annotations hold in 2020-12; dialects that know no such keyword let it hold anything."""

_ASSERTIONS: Final = frozenset(
    (
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems"),
        *("uniqueItems", "minContains", "maxContains", "required", "minProperties"),
        *("maxProperties", "dependentRequired"),
    )
)
_COUNTS: Final = tuple(
    f"{end}{what}"
    for end in ("min", "max")
    for what in ("Length", "Items", "Properties", "Contains")
)
"""Keywords whose values are counts, which may be written as `2.0`."""

_MOST_STEPS: Final = 2_000_000
"""What alternatives, conditions and properties that multiply may come to: a few seconds."""

FORMAT_HINT: Final = "format hint"
"""Stands for `format` in the words of a subschema where it rules out nothing."""

_ORDER: Final = (
    *("$ref", "type", "nullable", "title", "description", "enum", "const", "not", "allOf"),
    *("anyOf", "oneOf", "if", "then", "else", "properties"),
    *("required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
    *("maxProperties", "prefixItems", "items", "minItems", "maxItems", "uniqueItems", "minimum"),
    *("exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
    *("pattern", "format", "contains", "minContains", "maxContains", "unevaluatedItems"),
    *("unevaluatedProperties", "dependentRequired", "dependentSchemas", "default", "$defs"),
)
_RANK: Final = {keyword: rank for rank, keyword in enumerate(_ORDER)}


def arranged(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with its keywords in the one order in which they are read and written."""
    return dict(sorted(node.items(), key=lambda entry: (_RANK.get(entry[0], len(_RANK)), entry[0])))


_NEVER: Final[Mapping[str, Any]] = {}
_NO_PARTS: Final[Mapping[tuple[str, Label], int]] = {}


@dataclass(slots=True, eq=False)
class Subschema:
    """One subschema; other subschemas are named by their numbers in the source."""

    place: str
    value: bool | None = None
    """The verdict of a boolean schema."""
    words: Mapping[str, Any] = field(default_factory=lambda: _NEVER)
    """What it says itself, as it is written; keywords with subschemas in them as well."""
    parts: Mapping[tuple[str, Label], int] = field(default_factory=lambda: _NO_PARTS)
    """Every subschema directly in it, by keyword and name or index."""
    references: tuple[int, ...] = ()
    all_of: tuple[int, ...] = ()
    choices: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Alternatives, of which a value satisfies one: (keyword, subschemas)."""
    properties: dict[str, int] = field(default_factory=dict[str, int])
    patterns: dict[str, int] = field(default_factory=dict[str, int])
    additional: int | None = None
    prefix: tuple[int, ...] = ()
    items: int | None = None
    contains: int | None = None
    excluded: int | None = None
    condition: int | None = None
    """What `if` asks."""
    conditional: tuple[int, ...] = ()
    """What binds only some values: `then`, `else` and `dependentSchemas`."""
    unevaluated_properties: int | None = None
    unevaluated_items: int | None = None
    asserts_content: bool = False
    """Whether its dialect enforces `contentEncoding` and `contentMediaType`."""
    asserts: bool = False
    """Whether it can rule anything out itself, beside what its references and parts do."""

    def listed(self, keyword: str) -> list[int]:
        """Return the subschemas of a keyword that lists them."""
        return [number for (name, _), number in self.parts.items() if name == keyword]

    @property
    def ruling(self) -> set[str]:
        """The words in it that may rule out a value."""
        return self.words.keys() - (
            ANNOTATIONS - {*CONTENT} if self.asserts_content else ANNOTATIONS
        )

    @property
    def condition_words(self) -> dict[str, Any]:
        """What `if`, `then` and `else` say, as they are written."""
        return {word: self.words[word] for word in ("if", "then", "else") if word in self.words}

    @property
    def types(self) -> frozenset[str]:
        """The types that it declares; none where it declares none."""
        return frozenset(declared_types(self.words) or ())


class Source:
    """The subschemas of one document, read when they are first asked for."""

    def __init__(self, document: dict[str, Any] | bool, *, subschemas: int) -> None:
        self._library = Library({}, subschemas=subschemas, metaschemas=find_metaschema)
        root = load(document, self._library, dialect_of(document))
        self._spots: list[Spot] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._read: dict[int, Subschema] = {}
        self._anchored: dict[str, list[int]] = {}
        self._steps = _MOST_STEPS
        self.root = self._number(root)

    def __getitem__(self, number: int) -> Subschema:
        self.spend(1)
        found = self._read.get(number)
        if found is None:
            found = self._read[number] = self._reading(self._spots[number])
        return found

    def spend(self, steps: int) -> None:
        """Count the work of lowering: one step for each look at a subschema, or at a property."""
        self._steps -= steps
        if self._steps < 0:
            raise CannotLower(
                f"the schema takes more than {_MOST_STEPS} steps to be lowered; say it with fewer "
                "alternatives and conditions, or put them into a property"
            )

    def said(self, numbers: Iterable[int], keyword: str) -> Any:
        """Return what the first of some subschemas that has a keyword says by it, else `None`."""
        found = (self[number].words.get(keyword) for number in numbers)
        return next((value for value in found if value is not None), None)

    def reachable(self, number: int) -> set[int]:
        """Return a subschema and all that it leads to, by its parts and by reference."""
        found: set[int] = set()
        pending = [number]
        while pending:
            number = pending.pop()
            if number not in found:
                found.add(number)
                spot = self[number]
                pending += [*spot.parts.values(), *spot.references]
                pending += [option for _, options in spot.choices for option in options]
        return found

    def _number(self, spot: Spot) -> int:
        key = (spot.document, spot.pointer)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._spots)
            self._spots.append(spot)
        return found

    def _reading(self, spot: Spot) -> Subschema:
        schema = spot.schema
        if isinstance(schema, bool):
            return Subschema(spot.place, value=schema, asserts=not schema)
        # Declared properties first: the order of numbers is that in which they are written.
        ordered = sorted(spot.children, key=lambda child: child[0] != "properties")
        children = {(keyword, name): self._number(child) for keyword, name, child in ordered}
        if spot.dialect.hides_siblings_in(schema):
            schema = {"$ref": schema["$ref"]}
            children = {}
        words = arranged(
            {key: value for key, value in schema.items() if _knows(spot.dialect, key, value)}
        )
        if words.get("format") in spot.dialect.lacks_formats:
            words[FORMAT_HINT] = words.pop("format")
        words |= {key: int(words[key]) for key in _COUNTS if isinstance(words.get(key), float)}
        for bound, exclusive in (
            ("minimum", "exclusiveMinimum"),
            ("maximum", "exclusiveMaximum"),
        ):
            said = words.get(exclusive)
            if isinstance(said, bool):
                del words[exclusive]
                if said and bound in words:
                    words[exclusive] = words.pop(bound)
        found = Subschema(spot.place, words=words, parts=children)
        found.asserts_content = spot.dialect.asserts_content
        self._refer(spot, words, found)
        self._apply(words, children, found)
        found.asserts = not (_ASSERTIONS | {*CONTENT}).isdisjoint(found.ruling) or any(
            keyword not in ("allOf", "anyOf", "oneOf", "$defs", "definitions", "contentSchema")
            for keyword, _ in children
        )
        return found

    def _refer(self, spot: Spot, words: dict[str, Any], found: Subschema) -> None:
        """Read references; a dynamic one may lead to any anchor of its name."""
        plain: list[int] = []
        choices: list[tuple[str, tuple[int, ...]]] = []
        for keyword, reference in spot.references:
            if keyword not in words:
                continue
            target, anchor = self._library.resolve_anchor(spot, keyword, reference)
            if keyword == "$ref" or anchor is None:
                plain.append(self._number(target))
                continue
            others = self._dynamic(anchor)
            self.spend(len(others))
            targets = dict.fromkeys((self._number(target), *others))
            if len(targets) == 1:
                plain.append(self._number(target))
            else:
                choices.append((keyword, tuple(targets)))
        found.references = tuple(plain)
        found.choices = tuple(choices)

    def _dynamic(self, anchor: str) -> list[int]:
        """Return every subschema that a dynamic reference to `anchor` may end at."""
        found = self._anchored.get(anchor)
        if found is None:
            found = self._anchored[anchor] = [
                self._number(spot)
                for _, spot in sorted(self._library.spots.items())
                if isinstance(spot.schema, dict)
                and (
                    spot.schema.get("$dynamicAnchor") == anchor
                    or (anchor == "" and spot.schema.get("$recursiveAnchor") is True)
                )
            ]
        return found

    @staticmethod
    def _apply(
        words: dict[str, Any], children: dict[tuple[str, Label], int], found: Subschema
    ) -> None:
        """Sort the subschemas in one by what they are for."""
        listed: dict[str, list[int]] = {}
        for (keyword, _), number in children.items():
            listed.setdefault(keyword, []).append(number)
        for keyword, named in (
            ("properties", found.properties),
            ("patternProperties", found.patterns),
        ):
            if keyword in listed:  # in the order of the author, which models follow
                named.update({name: children[keyword, name] for name in words[keyword]})
        found.all_of = tuple(listed.get("allOf", ()))
        found.choices += tuple(
            (keyword, tuple(listed[keyword])) for keyword in ("anyOf", "oneOf") if keyword in listed
        )
        tuple_items = isinstance(words.get("items"), list)
        found.prefix = tuple(listed.get("items" if tuple_items else "prefixItems", ()))
        found.items = _one(listed, "additionalItems" if tuple_items else "items")
        found.additional = _one(listed, "additionalProperties")
        found.contains = _one(listed, "contains")
        found.excluded = _one(listed, "not")
        found.unevaluated_properties = _one(listed, "unevaluatedProperties")
        found.unevaluated_items = _one(listed, "unevaluatedItems")
        found.condition = _one(listed, "if")
        found.conditional = tuple(
            number
            for keyword in ("then", "else", "dependentSchemas", "dependencies")
            for number in listed.get(keyword, ())
        )


def _knows(dialect: Dialect, keyword: str, value: object) -> bool:
    """Tell whether a keyword of 2020-12 is one in a dialect, too; all others are none of ours.

    An annotation that a dialect lacks says the same to a model, if it says it as 2020-12 does.
    """
    if keyword in DEFAULT_DIALECT.applicators:
        return keyword in dialect.applicators
    if keyword in ANNOTATIONS:
        return isinstance(value, _ANNOTATED.get(keyword, object))
    return keyword not in dialect.lacks


def _one(listed: dict[str, list[int]], keyword: str) -> int | None:
    return listed[keyword][0] if keyword in listed else None
