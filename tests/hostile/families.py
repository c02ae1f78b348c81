"""Schemas and values that are as bad as their sizes say: the material of the search for the worst.

A family makes a `Part`: a schema, a value that it accepts and one that it does not, from four
numbers (`size` of the schema, `length` of the value, `count`, and a `variant`).
scripts/worst_schema.py climbs over families, amplifiers (`amplifiers.py`) and numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = Any
ANY: Json = {}


@dataclass(frozen=True)
class Numbers:
    """What a family is made from."""

    size: int = 100
    length: int = 100
    count: int = 100
    variant: int = 0


@dataclass(frozen=True)
class Part:
    """A schema with a value that satisfies it, one that does not, and the definitions it needs."""

    schema: dict[str, Json]
    good: Json
    bad: Json
    definitions: dict[str, Json] = field(default_factory=dict[str, Json])

    def document(self) -> dict[str, Json]:
        """Return the whole document."""
        return {**self.schema, "$defs": self.definitions} if self.definitions else self.schema


Family = Callable[[Numbers], Part]
FAMILIES: dict[str, Family] = {}


def family(make: Family) -> Family:
    """Add `make` under its name."""
    FAMILIES[make.__name__.replace("_", " ")] = make
    return make


def one_of(number: int, *options: Json) -> Json:
    """Return the option that a variant means."""
    return options[number % len(options)]


def maker(number: int, *options: Callable[[int], Json]) -> Callable[[int], Json]:
    """Return the function that a variant means."""
    return options[number % len(options)]


def nested(levels: int, wrap: Callable[[Json], Json], inner: Json) -> Json:
    """Return `inner` wrapped `levels` times."""
    for _ in range(levels):
        inner = wrap(inner)
    return inner


def scalars(variant: int, count: int) -> list[Json]:
    """Return `count` different values of one kind."""
    make = maker(
        variant,
        lambda n: 2**53 + n,
        lambda n: n + 0.5,
        lambda n: 2**62 + n,
        lambda n: 2**70 + n,
        lambda n: 1e-300 * (n + 1),
        lambda n: f"{n}",
        lambda n: [2**70 + n],
        lambda n: [list(range(n % 20)), list(range(n % 20, 20)), n // 20],
        lambda n: {"a": n, "b": [n]},
        lambda n: [0] * 50 + [n],
        lambda n: {f"k{n}": None},
        lambda n: 10**200 + n,
        lambda n: 10**4_200 + n,
        lambda n: n if n % 2 else f"{n}",
        lambda n: 2**63 + n,
        lambda n: 5e-324 * (n + 1),
    )
    return [make(n) for n in range(count)]


def names(count: int, width: int = 5) -> list[str]:
    """Return `count` different names."""
    return [f"n{n:0{width}d}" for n in range(count)]


# ── leaves ───────────────────────────────────────────────────────────────────────────────────────


@family
def unique_items(of: Numbers) -> Part:
    items = scalars(of.variant, of.length)
    return Part({"uniqueItems": True}, items, [*items, items[0]] if items else [1, 1])


@family
def few_unique_items(of: Numbers) -> Part:
    few = scalars(of.variant, min(of.size, 15) + 1)
    good: Json = [few] * of.length
    compared: list[Json] = [{"uniqueItems": True}] * (1 + of.count % 12)
    return Part({"items": {"allOf": compared}}, good, [*good, [1, 1]])


@family
def metaschema(of: Numbers) -> Part:
    uri = "https://json-schema.org/draft/2020-12/schema"
    good: Json = [{"required": scalars(of.variant, of.size + 1)}] * (1 + of.count % 50)
    return Part({"items": {"not": {"$ref": uri}}}, good, [*good, {}])


@family
def constants_of_a_type(of: Numbers) -> Part:
    constants: list[Json] = [1e-320 * (n + 1) for n in range(min(of.size, 400))]
    excluded: Json = {"type": "integer", "enum": [*constants, -1]}
    good: Json = [one_of(of.variant, 1, 7, 1e300, 2**63)] * of.length
    return Part({"items": {"not": excluded}}, good, [*good, -1])


@family
def enum(of: Numbers) -> Part:
    members = scalars(of.variant, of.size + 1)
    return Part({"enum": members[:-1] or [0]}, members[-2:-1][0] if of.size else 0, members[-1])


@family
def const(of: Numbers) -> Part:
    value: Json = scalars(of.variant, of.size)
    if of.variant % 3 == 1:
        value = dict(zip(names(of.size), value, strict=True))
    return Part({"const": value}, value, None)


@family
def pattern(of: Numbers) -> Part:
    text, good, bad = one_of(
        of.variant,
        ("^[a-z]*$", "a", "!"),
        (f"[ab]*a[ab]{{{min(of.size, 900)}}}c", "ab", "ab"),
        ("^(a|aa)+$", "a", "!"),
        ("^(.*a){20}$", "a", "!"),
        ("(?=a*b)c", "a", "a"),
        (r"^((?!x)\w)+$", "a", "!"),
        (r"^(\w+\s?)*$", "a", "!"),
        (r"\p{L}{1,200}!", "é", "é"),
        ("|".join(names(min(of.size, 600))), "n0000", "m0000"),
        ("(a*)*b", "a", "a"),
        ("a*!|" + "[]" * min(of.size, 2_000), "a", "a"),
    )
    return Part({"pattern": text}, good * of.length, good * of.length + bad)


@family
def multiple_of(of: Numbers) -> Part:
    divisor = one_of(of.variant, 1e-320, 0.01, 7, 1e-300, 10**300, 3, 5e-324)
    good = one_of(of.variant // 7, 1e308, 10 ** min(of.length, 4_200), 0.07, 2**70)
    return Part({"multipleOf": divisor}, good, 1e-323)


@family
def bounds(of: Numbers) -> Part:
    limit = one_of(of.variant, 10 ** min(of.size, 4_200), 0.1, 1e308, 2**63)
    good = one_of(of.variant // 4, 1e-308, 10 ** min(of.length, 4_200), 5, 1e300)
    return Part({"maximum": limit, "minimum": -limit}, good, -1e308)


@family
def required(of: Numbers) -> Part:
    wanted = names(of.size, 1)
    return Part({"required": wanted}, dict.fromkeys(wanted, 0), dict.fromkeys(wanted[1:], 0))


@family
def required_of_nothing(of: Numbers) -> Part:
    return Part({"required": names(of.size, 1)}, [], {})


@family
def dependent(of: Numbers) -> Part:
    made: Json = one_of(
        of.variant,
        {"dependentRequired": {name: ["x"] for name in names(of.size)}},
        {"dependentSchemas": {name: {"required": ["x"]} for name in names(of.size)}},
    )
    return Part(made, {}, dict.fromkeys(names(of.length), 0))


@family
def pattern_properties(of: Numbers) -> Part:
    patterns: dict[str, Json] = {
        one_of(of.variant, f"^{name}", f"{name}$", f"[a-m]{name}", f"^(?!{name})."): {}
        for name in names(of.size)
    }
    extra = of.variant % 3 != 2
    value = {f"n{n}": 0 for n in range(of.length)}
    schema: dict[str, Json] = {"patternProperties": patterns}
    if extra:
        schema["additionalProperties"] = False
    return Part(schema, {}, value)


@family
def properties_and_patterns(of: Numbers) -> Part:
    known: dict[str, Json] = {name: {} for name in names(of.size)}
    patterns: dict[str, Json] = {f"^{name}": {} for name in names(of.count)}
    schema = {"properties": known, "patternProperties": patterns, "additionalProperties": False}
    return Part(schema, {"n00000": 1}, {"x": 1})


@family
def names_not_meant(of: Numbers) -> Part:
    width = 5 + min(of.count, 500) * (of.variant % 2)
    known: dict[str, Json] = {name: {} for name in names(of.size, width)}
    wrong = {f"m{name[1:]}": 0 for name in names(of.length, width)}
    closed = one_of(of.variant // 2, "additionalProperties", "unevaluatedProperties")
    return Part({"properties": known, closed: False}, {}, wrong)


@family
def values_not_meant(of: Numbers) -> Part:
    members = [f"a rather long option {name}" for name in names(of.size)]
    return Part({"enum": members}, members[-1] if members else 0, "a rather long optoin n00001")


@family
def formats(of: Numbers) -> Part:
    name, text = one_of(
        of.variant,
        ("idn-hostname", "ü"),
        ("regex", "("),
        ("regex", "(a|b)*"),
        ("uri", "https://a/"),
        ("email", "a@b."),
        ("uri-template", "{a}"),
        ("idn-email", "ü@ü."),
        ("ipv6", "::1"),
        ("date-time", "2026-01-02T03:04:05.0"),
        ("idn-hostname", "a.xn--bcher-kva."),
        ("json-pointer", "/~0"),
        ("duration", "P1D"),
    )
    return Part({"format": name}, text * of.length, text * of.length + " ")


@family
def any_of(of: Numbers) -> Part:
    branch = maker(
        of.variant,
        lambda n: {"const": n},
        lambda n: {"properties": {"kind": {"const": n}}, "required": ["kind", "a"]},
        lambda n: {"type": "object", "required": [f"r{n}"], "minProperties": 2},
        lambda n: {"enum": [n + 0.5]},
        lambda n: {"pattern": f"^a{n}"},
        lambda n: {"$ref": "#/$defs/branch"},
        lambda n: {"properties": {f"p{n}": {"type": "string"}}, "additionalProperties": False},
        lambda n: {"items": {"const": n + 0.5}},
    )
    word = one_of(of.variant // 8, "anyOf", "oneOf")
    definitions = {"branch": {"type": "null"}} if of.variant % 8 == 5 else {}
    bad = one_of(of.count, {"kind": "k", "b": 1}, "ab", [0.25] * min(of.length, 10_000), 1.5, {})
    return Part({word: [branch(n) for n in range(of.size)] or [True]}, {"x": 1}, bad, definitions)


@family
def contains(of: Numbers) -> Part:
    schema = {"allOf": [{"contains": {"const": n}, "minContains": 0} for n in range(of.size)]}
    closed = {"unevaluatedItems": False} if of.variant % 2 else {"maxContains": 2, "contains": ANY}
    return Part({**schema, **closed}, [], list(range(-of.length, 0)))


@family
def unevaluated(of: Numbers) -> Part:
    branches = [{"properties": {name: ANY}} for name in names(of.size)]
    word = one_of(of.variant, "anyOf", "allOf", "oneOf")
    schema = {word: branches or [True], "unevaluatedProperties": False}
    value = dict.fromkeys(names(of.length), 0)
    return Part(schema, {}, {**value, "x": 1})


@family
def property_names(of: Numbers) -> Part:
    schema = one_of(
        of.variant, {"enum": names(of.size) or [0]}, {"pattern": "^n"}, {"minLength": 1}
    )
    value = {f"{name}{'x' * min(of.count, 10_000)}": 0 for name in names(of.length)}
    return Part({"propertyNames": schema}, {}, value)


# ── references and recursion ─────────────────────────────────────────────────────────────────────


@family
def doubling(of: Numbers) -> Part:
    levels = min(of.size, 60)

    def level(n: int) -> Json:
        ref = {"$ref": f"#/$defs/l{n + 1}"}
        return one_of(
            of.variant,
            {"anyOf": [ref, ref]},
            {"allOf": [ref, ref]},
            {"oneOf": [ref, ref]},
            {"if": ref, "then": ref, "else": ref},
            {"not": ref, "allOf": [ref]},
            {"properties": {"x": {"anyOf": [ref, ref]}}},
            {"prefixItems": [ref], "contains": ref},
        )

    definitions = {f"l{n}": level(n) for n in range(levels)} | {f"l{levels}": {"type": "string"}}
    closed = {"unevaluatedProperties": False} if of.count % 3 == 2 else {}
    wrap: Callable[[Json], Json] = (lambda v: {"x": v}) if of.variant % 7 == 5 else (lambda v: [v])
    return Part(
        {"$ref": "#/$defs/l0", **closed}, "s", nested(min(levels, 190), wrap, 1), definitions
    )


@family
def chain_of_references(of: Numbers) -> Part:
    definitions: dict[str, Json] = {f"l{n}": {"$ref": f"#/$defs/l{n + 1}"} for n in range(of.size)}
    definitions[f"l{of.size}"] = one_of(of.variant, {}, {"items": {"$ref": "#/$defs/l0"}})
    closed = one_of(of.variant // 2, {}, {"unevaluatedItems": False}, {"unevaluatedProperties": {}})
    value = nested(min(of.length, 190), lambda v: [v], 1)
    return Part({"$ref": "#/$defs/l0", **closed}, value, [1, 2], definitions)


@family
def recursion(of: Numbers) -> Part:
    here = {"$ref": "#"}
    schema = one_of(
        of.variant,
        {"anyOf": [{"items": here} for _ in range(of.size)] or [True]},
        {"type": ["array", "integer"], "items": here},
        {"items": here, "additionalProperties": here},
        {
            "oneOf": [
                {"type": "number"},
                *({"required": [n], "properties": {n: here}} for n in "abcd"),
            ]
        },
        {"$dynamicAnchor": "n", "items": {"anyOf": [{"$dynamicRef": "#n"}] * min(of.size, 1_000)}},
        {"items": {"allOf": [here, here]}, "unevaluatedItems": False},
    )
    deep: Json = nested(min(of.count, 190), lambda v: [v], [])
    wide = [one_of(of.variant // 6, [], {}, [1], deep)] * of.length
    return Part(schema, wide, [*wide, None])


@family
def dynamic_anchors(of: Numbers) -> Part:
    definitions: dict[str, Json] = one_of(
        of.variant,
        {f"d{n}": {"$dynamicAnchor": f"a{n}", "type": "string"} for n in range(of.size)},
        {f"d{n}": {"$id": f"urn:r{n}", "$dynamicAnchor": "a"} for n in range(of.size)},
        {f"d{n}": {"$id": f"urn:r{n}", "$anchor": "a", "type": "string"} for n in range(of.size)},
        {f"d{n}": {"$anchor": f"a{n}", "type": "string"} for n in range(of.size)},
    )
    used = range(min(of.count, of.size))
    way = one_of(of.variant, "#a{}", "urn:r{}", "urn:r{}#a", "#a{}")
    word = one_of(of.variant // 4, "$ref", "$dynamicRef")
    return Part({"allOf": [{word: way.format(n)} for n in used] or [True]}, "s", 1, definitions)


@family
def sets_of_states(of: Numbers) -> Part:
    count = min(of.size, 16)

    def to(*numbers: int) -> dict[str, Json]:
        return {"allOf": [{"$ref": f"#/$defs/s{number}"} for number in numbers]}

    more: dict[str, Json] = {name: {} for name in names(of.count)}
    first: dict[str, Json] = {"properties": {"a": to(0, 1), "b": to(0), **more}}
    others = {f"s{n}": {"properties": {"a": to(n + 1), "b": to(n + 1)}} for n in range(1, count)}
    definitions = {"s0": first, **others, f"s{count}": {"type": "object"}}
    value = nested(min(of.length, 190), lambda v: {"a": v}, {})
    return Part({"$ref": "#/$defs/s0"}, value, nested(count, lambda v: {"a": v}, 1), definitions)


@family
def nested_in_place(of: Numbers) -> Part:
    levels = min(of.size, 60)
    word = one_of(of.variant, "allOf", "anyOf", "oneOf")
    closed = one_of(
        of.variant // 3, {"unevaluatedProperties": False}, {"unevaluatedItems": False}, {}
    )
    inner: Json = {"properties": {"a": ANY}, "prefixItems": [ANY]}
    schema = nested(levels, lambda s: {word: [s], **closed}, inner)
    return Part(schema, {"a": 1}, {"a": 1, "b": 2})


@family
def many_definitions(of: Numbers) -> Part:
    known = {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in range(of.size)}
    made = maker(
        of.variant,
        lambda n: {"type": "string"},
        lambda n: {"pattern": f"^[a-z]{{{n % 50}}}$"},
        lambda n: {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{n // 2}"}}},
        lambda n: {"enum": [f"{n}", n]},
        lambda n: {"pattern": rf"^\p{{L}}{{1,{n % 9}}}$"},
    )
    definitions = {f"d{n}": made(n) for n in range(of.size)}
    return Part(
        {"properties": known}, {}, {name: [] for name in list(known)[: of.length]}, definitions
    )


@family
def negations(of: Numbers) -> Part:
    held: Json = one_of(
        of.variant,
        {"default": ["a"] * of.size},
        {"enum": [*names(of.size), 0]},
        {"required": [*names(of.size), "a"]},
        {"title": "x" * of.size},
    )
    levels = 2 * min(of.count, 60)
    return Part(nested(levels, lambda s: {"not": s}, {"type": "string", **held}), "n00000", 1)


@family
def names_put_together(of: Numbers) -> Part:
    piece = one_of(of.variant, "%2F", "a", "a/", "..%2F/", "%41")
    base = f"https://example.com/{piece * of.size}/"
    definitions = {f"{n}": {"$id": f"{n}.json"} for n in range(of.count)}
    return Part({"$id": base, "type": "integer"}, 1, "a", definitions)


@family
def names_above_many_keywords(of: Numbers) -> Part:
    keywords = {"minLength": 0, "maxLength": 9, "minItems": 0, "maxItems": 9, "minimum": 1}
    many = {f"{n}": keywords for n in range(of.count)}
    schema = {"properties": {"k" * of.size: {"properties": many}}, "type": "object"}
    return Part(schema, {}, {"k" * of.size: {"0": 0}} if of.count else 1)


@family
def nested_annotations(of: Numbers) -> Part:
    value = nested(1 + of.count % 100, lambda v: [v], [])
    return Part({"default": [value] * of.size, "type": "integer"}, 1, "a")


# ── values alone ─────────────────────────────────────────────────────────────────────────────────


@family
def small_items(of: Numbers) -> Part:
    item, other = one_of(of.variant, ([], 1), ({}, 1), (1, "a"), ("", 1), (None, 1), ([[]], 1))
    schema = one_of(
        of.variant // 6,
        {},
        {"type": "array"},
        {"items": {"type": ["array", "object", "null"]}},
        {"items": {"not": {"const": 1.5}}},
        {"items": {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "object"}]}},
        {"contains": {"const": 0.5}},
    )
    return Part(schema, [item] * of.length, [item] * of.length + [other])


@family
def long_names(of: Numbers) -> Part:
    name = "k" * of.size
    schema = {
        "properties": {name: {"type": "string"}},
        "required": [name],
        "additionalProperties": False,
    }
    wrong = {name[:-1] + f"{n}": 1 for n in range(min(of.length, 1_000))}
    return Part(schema, {name: "s"}, wrong)
