"""What one model provider accepts as a tool's input schema, as a value.

A profile is data and nothing but data: the passes that lower a schema ask it, and so does the
checker that judges what came out. `dataclasses.replace` makes one of your own.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Writing(enum.Enum):
    """How a lowered document comes about."""

    KEPT = "kept"
    """As the author wrote it, since the target enforces nothing, but for the root and names.

    Of the rules of a profile only those about the root and names hold then, and `undeclared`,
    `nulls_for_optional` and `array_items_required`.
    """
    REBUILT = "rebuilt"
    """Anew, as unions of plain typed schemas: what the target enforces has to be right."""


class Undeclared(enum.Enum):
    """What becomes of properties that an object admits only because nobody said otherwise."""

    LEFT_OUT = "left out"
    """Objects are read as if they were closed; the loss says so, and `rewrite` refuses them."""
    KEPT = "kept"
    """They can be given, as pairs of name and value where the target's objects are closed."""


class Maps(enum.Enum):
    """Whether `additionalProperties` can hold a schema."""

    KEPT = "kept"
    ALONE = "alone"
    """Only in objects that declare no property."""
    PAIRS = "pairs"
    """Nowhere: such properties are given as an array of names and values."""


class AnyValue(enum.Enum):
    """How "any value" is written."""

    SCHEMA = "schema"
    """As `{}`."""
    TEXT = "text"
    """As a string that holds JSON text."""


class PatternSupport(enum.Enum):
    """Which regular expressions `pattern` may hold."""

    ALL = "all"
    REGULAR = "regular"
    """No lookaround, no references to groups, no word boundaries."""
    LITERAL = "literal"
    """Anchored at both ends, and nothing that is read differently in raw JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeBounds:
    """What may be counted in one schema, at most; `None` is no bound."""

    properties: int | None = None
    levels: int | None = None
    """Objects within objects; the root and each definition are counted apart."""
    enum_values: int | None = None
    characters: int | None = None
    """Of property names, definition names and enumerated values together."""
    enum_characters: int | None = None
    """Of the values of one enumeration that has more than 250 of them."""
    optional: int | None = None
    unions: int | None = None
    expression: int | None = None
    """Characters of the one regular expression that is made of it, repetitions written out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The rules of one target."""

    name: str
    about: str
    """One sentence: which request this is for."""
    observed: str = ""
    """Where the rules come from and of what date they are."""
    fallback: str | None = None
    """The profile to use for a tool that this one refuses."""
    writing: Writing
    keywords: frozenset[str] = frozenset()
    """What may stand in a schema. Where the document is kept, everything may but for the root."""
    root_properties: bool = False
    """Whether the root must have `properties`, if only an empty object."""
    root_refuses: frozenset[str] = frozenset()
    """Keywords that may not stand at the root."""
    root_keywords: frozenset[str] | None = None
    """The only keywords that may stand at the root, if it is so strict."""
    tool_names: str = "[A-Za-z0-9_-]{1,64}"
    property_names: str | None = None
    """A regular expression for the names of properties, if there is a rule."""
    root_names_only: bool = False
    """Whether that rule holds for the root's properties only."""
    closed: bool = False
    """Whether every object must say `additionalProperties: false`."""
    openness_written: bool = False
    """Whether an open object must say `additionalProperties: true`."""
    all_required: bool = False
    """Whether every property must be required; optional ones then admit null instead."""
    one_required: bool = False
    """Whether one property must be required where none is; it then admits null instead."""
    nulls_for_optional: bool = False
    """Whether optional properties should admit null, because models send it."""
    undeclared: Undeclared = Undeclared.LEFT_OUT
    maps: Maps = Maps.KEPT
    any_value: AnyValue = AnyValue.SCHEMA
    type_lists: bool = True
    nullable: bool = False
    """Whether null is said by `nullable: true`."""
    union_siblings: bool = True
    """Whether anything, a description for instance, may stand beside `anyOf`."""
    enum_kinds: frozenset[str] = frozenset(
        ("string", "integer", "number", "boolean", "object", "array")
    )
    """The types whose values may be enumerated."""
    untyped_enums: bool = False
    """Whether `enum` may stand without a type."""
    empty_enum_strings: bool = True
    open_tuples: bool = True
    """Whether items may follow those of `prefixItems`."""
    false_items: bool = True
    """Whether `items` may be `false` after `prefixItems`."""
    array_items_required: bool = False
    recursion: bool = True
    """Whether a definition may refer to itself; else it is unrolled and then cut."""
    guarded_recursion: bool = False
    """Whether it may do so only below a property that is optional."""
    patterns: PatternSupport = PatternSupport.ALL
    lengths_beside_pattern: bool = True
    formats: frozenset[str] | None = None
    """The formats it takes; `None` for any."""
    most_min_items: int | None = None
    largest_bound: float | None = None
    """The largest number that a bound may be."""
    largest_count: int | None = None
    """The largest number of characters or items that a bound may be."""
    prefix_definitions: bool = False
    """Whether definitions of several tools meet in one document and need names of their own."""
    bounds: SizeBounds = SizeBounds()
