"""Schemas and values made to hurt: each ends in its verdict, within the budget.

Every case is a schema, a value and the one outcome it may have: `True`, `False`, or the error that
refuses it. All three verbs must agree. Where the unguarded engine would take minutes, the stack, or
the process, this process takes a small part of a second, and what was started to find out is stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from anyshape.errors import (
    AnyshapeError,
    InvalidSchema,
    LimitExceeded,
    NotJson,
    UnresolvableReference,
    UnsupportedDialect,
    ValidationError,
)
from anyshape.schema import Limits, compile

Document = dict[str, Any] | bool


@dataclass(frozen=True)
class Case:
    name: str
    schema: Callable[[], Document]
    value: Callable[[], Any]
    outcome: bool | type[AnyshapeError]
    limit: str | None = None


CASES: list[Case] = []


def case(
    name: str,
    schema: Document | Callable[[], Document],
    value: Any,
    outcome: bool | type[AnyshapeError],
    limit: str | None = None,
) -> None:
    CASES.append(
        Case(
            name,
            schema if callable(schema) else lambda: schema,
            value if callable(value) else lambda: value,
            outcome,
            limit,
        )
    )


def nested(value: Any, depth: int, wrap: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        value = wrap(value)
    return value


def levels(count: int, level: Callable[[dict[str, str]], Any], last: Any) -> dict[str, Any]:
    """Return a document of `count` definitions, each made from a reference to the next."""
    definitions = {f"l{n}": level({"$ref": f"#/$defs/l{n + 1}"}) for n in range(count)}
    return {"$ref": "#/$defs/l0", "$defs": {**definitions, f"l{count}": last}}


# The tables below read best with one case on one line.
# fmt: off

STRING = {"type": "string"}
EMPTY: dict[str, Any] = {}

# ── exponential, in place ────────────────────────────────────────────────────────────────────────
for keyword, bad in (("anyOf", 5), ("allOf", "x"), ("oneOf", 5)):
    case(f"{keyword} doubles 30 times", levels(30, lambda r, k=keyword: {k: [r, r]}, STRING), bad, LimitExceeded, "seconds")
    case(f"{keyword} doubles 60 times", levels(60, lambda r, k=keyword: {k: [r, r]}, STRING), bad, LimitExceeded, "seconds")
    case(f"{keyword} doubles 10 times, which is affordable", levels(10, lambda r, k=keyword: {k: [r, r]}, STRING), 5, False)
case("anyOf doubles 60 times, the first of each holds", levels(60, lambda r: {"anyOf": [r, r]}, STRING), "x", True)
case("allOf doubles 60 times, the first of each fails", levels(60, lambda r: {"allOf": [r, r]}, STRING), 5, False)
case("if and else double 40 times", levels(40, lambda r: {"if": r, "then": r, "else": r}, STRING), 5, LimitExceeded, "seconds")
case("not and allOf double 40 times", levels(40, lambda r: {"not": {"not": r}, "allOf": [r]}, STRING), "x", LimitExceeded, "seconds")
case("dependentSchemas double 40 times", levels(40, lambda r: {"dependentSchemas": {"a": r, "b": r}}, {"type": "object"}), {"a": 1, "b": 1}, LimitExceeded, "seconds")
case("ten-way anyOf, 12 levels", levels(12, lambda r: {"anyOf": [r] * 10}, STRING), 5, LimitExceeded, "seconds")
case("anyOf triples by pointers into itself", {"anyOf": [{"anyOf": [{"anyOf": [{"type": "null"}, {"type": "string"}]}, {"$ref": "#/anyOf/0/anyOf/0"}]}, {"$ref": "#/anyOf/0"}, {"$ref": "#/anyOf/0"}]}, 5, False)
case(
    "doubling by anchors",
    {"$ref": "#l0", "$defs": {**{f"d{n}": {"$anchor": f"l{n}", "anyOf": [{"$ref": f"#l{n + 1}"}] * 2} for n in range(40)}, "end": {"$anchor": "l40", "type": "string"}}},
    5, LimitExceeded, "seconds",
)
case(
    "doubling by $dynamicRef",
    {"$ref": "#/$defs/d0", "$defs": {**{f"d{n}": {"$dynamicAnchor": f"l{n}", "anyOf": [{"$dynamicRef": f"#l{n + 1}"}] * 2} for n in range(40)}, "end": {"$dynamicAnchor": "l40", "type": "string"}}},
    5, LimitExceeded, "seconds",
)
case(
    "doubling across embedded resources",
    {"$ref": "urn:r0", "$defs": {**{f"d{n}": {"$id": f"urn:r{n}", "anyOf": [{"$ref": f"urn:r{n + 1}"}] * 2} for n in range(40)}, "end": {"$id": "urn:r40", "type": "string"}}},
    5, LimitExceeded, "seconds",
)
case("doubling in draft-07", {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#/definitions/l0"}], "definitions": {**{f"l{n}": {"anyOf": [{"$ref": f"#/definitions/l{n + 1}"}] * 2} for n in range(40)}, "l40": STRING}}, 5, LimitExceeded, "seconds")
case("unevaluatedProperties, 30 levels in place", lambda: nested({"properties": {"a": {}}}, 30, lambda s: {"anyOf": [s], "unevaluatedProperties": STRING}), {"a": 1, "b": "x"}, LimitExceeded, "seconds")
case("unevaluatedItems, 30 levels in place", lambda: nested({"prefixItems": [{}]}, 30, lambda s: {"anyOf": [s], "unevaluatedItems": STRING}), [1, "x"], LimitExceeded, "seconds")
case("type stops the doubling at the root", {"type": "object", **levels(40, lambda r: {"anyOf": [r, r]}, STRING)}, 5, False)

# ── exponential, through children ────────────────────────────────────────────────────────────────
case("children double, deep value", levels(60, lambda r: {"properties": {"x": {"anyOf": [r, r]}}}, STRING), lambda: nested(5, 60, lambda v: {"x": v}), LimitExceeded, "seconds")
case("children double, deep value, the first of each holds", levels(60, lambda r: {"properties": {"x": {"anyOf": [r, r]}}}, STRING), lambda: nested(5, 50, lambda v: {"x": v}), True)
case("children double, shallow value", levels(60, lambda r: {"properties": {"x": {"anyOf": [r, r]}}}, STRING), lambda: nested({}, 5, lambda v: {"x": v}), True)
case("two keywords double one child", levels(60, lambda r: {"properties": {"x": r}, "patternProperties": {"x": r}}, STRING), lambda: nested(5, 50, lambda v: {"x": v}), LimitExceeded, "seconds")
case("prefixItems and contains double", levels(60, lambda r: {"prefixItems": [r], "contains": r}, STRING), lambda: nested(5, 50, lambda v: [v]), LimitExceeded, "seconds")
case("propertyNames doubles", {"propertyNames": {"$ref": "#/$defs/l0"}, "$defs": levels(40, lambda r: {"anyOf": [r, r]}, {"maxLength": 1})["$defs"]}, {"name": 1}, LimitExceeded, "seconds")

# ── recursion ────────────────────────────────────────────────────────────────────────────────────
TREE = {"oneOf": [{"type": "number"}, *({"properties": {name: {"$ref": "#"}}, "required": [name], "type": "object"} for name in "abc")]}
case("recursive oneOf, three ways, 150 deep, valid", TREE, lambda: nested(1, 150, lambda v: {"a": v}), True)
case("recursive oneOf, three ways, 150 deep, invalid at the end", TREE, lambda: nested("x", 150, lambda v: {"b": v}), False)
OVERLAPPING = {"anyOf": [{"type": "null"}, *({"type": "object", "properties": {"x": {"$ref": "#"}, name: {}}} for name in "abcd")]}
case("overlapping recursion, 150 deep, invalid at the end", OVERLAPPING, lambda: nested(7, 150, lambda v: {"x": v}), False)
CLIQUE = {"$ref": "#/$defs/a0", "$defs": {f"a{n}": {"type": "object", "properties": {"x": {"oneOf": [{"$ref": f"#/$defs/a{m}"} for m in range(24)]}}} for n in range(24)}}
case("24 types that all refer to each other, 12 deep", CLIQUE, lambda: nested(1, 12, lambda v: {"x": v}), LimitExceeded, "seconds")
case("24 types that all refer to each other, 2 deep", CLIQUE, {"x": {"x": 1}}, False)
case("recursion with fan-out, wide value", {"items": {"$ref": "#"}, "type": ["array", "integer"]}, lambda: [[[1] * 20] * 20] * 20, True)
case("recursive $dynamicRef tree, 60 deep", {"$id": "urn:tree", "$dynamicAnchor": "node", "properties": {"children": {"items": {"$dynamicRef": "#node"}}}, "unevaluatedProperties": False}, lambda: nested({}, 60, lambda v: {"children": [v, EMPTY]}), True)
case("recursive $recursiveRef tree, 60 deep, invalid", {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": True, "properties": {"c": {"$recursiveRef": "#"}}, "additionalProperties": False}, lambda: nested({"d": 1}, 60, lambda v: {"c": v}), False)
case("a chain of 60 references at each of 190 levels", {"$ref": "#/$defs/l0", "$defs": {**levels(50, lambda r: r, {})["$defs"], "l50": {"items": {"$ref": "#/$defs/l0"}}}}, lambda: nested(1, 190, lambda v: [v]), True)

# ── cycles in place ──────────────────────────────────────────────────────────────────────────────
case("a schema that is itself", {"$ref": "#"}, 1, InvalidSchema)
case("a cycle of three", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/c"}]}, "c": {"$ref": "#/$defs/a"}}}, 1, InvalidSchema)
case("a cycle through not and if", {"not": {"if": {"$ref": "#"}}}, 1, InvalidSchema)
case("a dynamic cycle", {"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]}, 1, InvalidSchema)

# ── size ─────────────────────────────────────────────────────────────────────────────────────────
case("nested 5,000 deep", lambda: nested({}, 5_000, lambda s: {"not": s}), 1, LimitExceeded, "depth")
case("nested 300 deep", lambda: nested({}, 300, lambda s: {"anyOf": [s]}), 1, LimitExceeded, "depth")
case("50,000 subschemas", lambda: {"$defs": {f"d{n}": {} for n in range(50_000)}}, 1, LimitExceeded, "subschemas")
case("two megabytes of description", lambda: {"description": "x" * 2_000_000}, 1, LimitExceeded, "document_bytes")
case("an enum of 50,000 strings, many items", lambda: {"items": {"enum": [f"option {n}" for n in range(50_000)]}}, lambda: ["option x"] * 1_000, False)
case("an enum of 5,000 objects, many items", lambda: {"items": {"enum": [{"n": n} for n in range(5_000)]}}, lambda: [{"n": -1}] * 100, False)
case("9,000 definitions that nobody uses", lambda: {"$defs": {f"d{n}": {"type": "string"} for n in range(9_000)}, "type": "integer"}, 1, True)
case("a chain of 10,000 references", lambda: levels(9_900, lambda r: r, {}), 1, LimitExceeded, "depth")
case("a chain of 3,000 references through children", lambda: levels(3_000, lambda r: {"properties": {"x": r}}, {}), {"x": {"x": 1}}, True)
case("required of 20,000 names, many objects", lambda: {"items": {"required": [f"p{n}" for n in range(20_000)]}}, lambda: [EMPTY] * 500, False)
case("anyOf of 5,000 strings", lambda: {"anyOf": [{"const": f"c{n}"} for n in range(5_000)]}, "none", False)

# ── patterns ─────────────────────────────────────────────────────────────────────────────────────
case("(a+)+ on 40 characters", {"pattern": "^(a+)+$"}, "a" * 40 + "!", False)
case("(a|aa)+ on 5,000 characters", {"pattern": "^(a|aa)+$"}, "a" * 5_000 + "!", False)
case("(.*a){20} on 200 characters", {"pattern": "^(.*a){20}$"}, "a" * 200 + "!", False)
case("nested repeats inside a lookahead, which stay linear", {"pattern": "^(?=(a+)+$)b"}, "a" * 40 + "!", False)
case("a negative lookahead inside nested repeats", {"pattern": "^((?!x)a+)+$"}, "a" * 40 + "!", LimitExceeded, "seconds")
case("a lookbehind inside nested repeats", {"pattern": "^(a+(?<!x))+$"}, "a" * 40 + "!", LimitExceeded, "seconds")
case("backreference with nested repeats", {"pattern": r"^(a*)*\1$"}, "a" * 40 + "!", LimitExceeded, "seconds")
case("a backtracking pattern that does not match is not 'valid' under not", {"not": {"pattern": "^((?!x)a+)+$"}}, "a" * 40 + "!", LimitExceeded, "seconds")
case("a lookahead that behaves", {"pattern": "^(?=.*[0-9])(?=.*[a-z]).{8,}$"}, "password1", True)
case("patternProperties that backtrack", {"patternProperties": {"^((?!x)a+)+$": False}}, {"a" * 40 + "!": 1}, LimitExceeded, "seconds")
case("a pattern bomb by counted repeats", {"pattern": "((((a{100}){100}){100}){100})"}, "a", LimitExceeded)
case("a pattern of 10,000 characters", lambda: {"pattern": "a" * 10_000}, "a", LimitExceeded, "pattern_length")
case("a pattern that is none", {"pattern": "(unclosed"}, "a", InvalidSchema)
case("a pattern that is none, as a property name", {"patternProperties": {"[": {}}}, {}, InvalidSchema)

# ── values ───────────────────────────────────────────────────────────────────────────────────────
def cyclic_list() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def cyclic_dict() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


ANYTHING: Document = {}
RECURSIVE: Document = {"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}
for label, schema in (("any", ANYTHING), ("recursive", RECURSIVE), ("true", True)):
    case(f"cyclic list, {label}", schema, cyclic_list, NotJson)
    case(f"cyclic dict, {label}", schema, cyclic_dict, NotJson)
    case(f"10,000 deep, {label}", schema, lambda: nested(1, 10_000, lambda v: [v]), LimitExceeded, "instance_depth")
    case(f"100,000 deep objects, {label}", schema, lambda: nested(1, 100_000, lambda v: {"x": v}), LimitExceeded, "instance_depth")
    case(f"NaN inside, {label}", schema, [1, [math.nan]], NotJson)
    case(f"infinity inside, {label}", schema, {"a": -math.inf}, NotJson)
    case(f"a lone surrogate, {label}", schema, ["\ud800"], NotJson)
    case(f"a lone surrogate as a key, {label}", schema, {"\udfff": 1}, NotJson)
    case(f"a key that is a number, {label}", schema, {1: 2}, NotJson)
    case(f"bytes, {label}", schema, [b"x"], NotJson)
    case(f"an object of no JSON kind, {label}", schema, {"a": object()}, NotJson)
case("uniqueItems over 20,000 objects", {"uniqueItems": True}, lambda: [{"a": n, "b": [n]} for n in range(20_000)], True)
case("uniqueItems over 20,000 objects, the last a double", {"uniqueItems": True}, lambda: [{"a": n % 19_999} for n in range(20_000)], False)
case("uniqueItems over 5,000 nested arrays", {"uniqueItems": True}, lambda: [[[[n]]] for n in range(5_000)], True)
case("100,000 items", {"items": {"type": "integer"}}, lambda: list(range(100_000)), True)
case("50,000 properties", {"additionalProperties": {"type": "integer"}}, lambda: {f"k{n}": n for n in range(50_000)}, True)
case("a string of a million characters", {"maxLength": 10}, "x" * 1_000_000, False)

# ── numbers ──────────────────────────────────────────────────────────────────────────────────────
case("multipleOf a tiny number", {"multipleOf": 1e-300}, 1e300, True)
case("multipleOf 0.01, decimal in spirit", {"multipleOf": 0.01}, 19.99, True)
case("multipleOf with huge integers", {"multipleOf": 10**300}, 10**3_000, True)
case("an integer of 4,000 digits", {"type": "integer", "minimum": 0}, 10**4_000, True)
case("1e400 as an integer bound", {"maximum": 10**400}, 10**401, False)
case("the largest float is no integer overflow", {"type": "integer"}, 1.7976931348623157e308, True)
case("multipleOf zero", {"multipleOf": 0}, 1, InvalidSchema)

# ── references that leave ────────────────────────────────────────────────────────────────────────
for uri in ("http://169.254.169.254/latest/meta-data", "https://example.com/a", "file:///etc/passwd", "ftp://example.com/a", "gopher://example.com/", "data:application/json,{}", "urn:nothing:here", "other.json", "//example.com/x", "http://[::1]/x", "jar:file:///x!/y"):
    case(f"external reference {uri}", {"$ref": uri}, 1, UnresolvableReference)
case("external reference under not", {"not": {"$ref": "http://example.com/a"}}, 1, UnresolvableReference)
case("external reference in a definition nobody uses", {"$defs": {"a": {"items": {"$ref": "http://example.com/a"}}}}, 1, UnresolvableReference)
case("external $dynamicRef", {"$dynamicRef": "http://example.com/a#x"}, 1, UnresolvableReference)
case("a relative reference made external by $id", {"$id": "http://example.com/root", "items": {"$ref": "item"}}, [], UnresolvableReference)
case("a pointer to nothing", {"$ref": "#/$defs/missing"}, 1, UnresolvableReference)
case("an anchor to nothing", {"$ref": "#missing"}, 1, UnresolvableReference)
case("an unknown dialect", {"$schema": "http://169.254.169.254/dialect"}, 1, UnsupportedDialect)


# fmt: on
def verdict(one: Case) -> bool:
    """Return what the schema says of the value, asked with all three verbs."""
    # What is stopped anyway need not be waited for.
    limits = Limits(seconds=0.2) if one.limit == "seconds" else Limits()
    schema = compile(one.schema(), limits=limits)
    value = one.value()
    outcomes: list[object] = []

    def explains(value: object) -> bool:
        return not schema.problems(value)

    verbs: list[Callable[[object], object]] = [schema.accepts, explains, schema.validate]
    for verb in verbs:
        try:
            outcomes.append(verb(value))
        except AnyshapeError as error:
            outcomes.append(error)
    accepted, explained, validated = outcomes
    if isinstance(accepted, AnyshapeError):
        assert type(explained) is type(validated) is type(accepted)
        raise accepted
    assert explained is accepted
    assert isinstance(validated, ValidationError) is not accepted
    assert isinstance(accepted, bool)
    return accepted


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_a_hostile_case_ends_in_its_verdict_within_budget(one: Case) -> None:
    started = time.process_time()
    if isinstance(one.outcome, bool):
        assert verdict(one) is one.outcome
    else:
        with pytest.raises(one.outcome) as caught:
            verdict(one)
        line = str(caught.value)
        assert "\n" not in line
        assert len(line) < 600
        if isinstance(caught.value, LimitExceeded):
            assert caught.value.limit in line
            if one.limit is not None:
                assert caught.value.limit == one.limit
    assert time.process_time() - started < 60


def test_there_are_at_least_sixty_cases() -> None:
    assert len(CASES) >= 60
    assert len({one.name for one in CASES}) == len(CASES)
