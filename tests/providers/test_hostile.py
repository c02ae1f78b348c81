"""Schemas that are meant to make lowering explode end within its budget, one way or the other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest

from anyshape.errors import LimitExceeded, ValidationError
from anyshape.providers import PROFILES, CannotLower, Lowered, lower, lowering
from anyshape.schema._cache import Cache

SECONDS = 60.0
"""Of processor time, for one schema and profile: far more than any of these takes."""


def tool(schema: Any, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": schema}, "$defs": definitions}


def doubling() -> dict[str, Any]:
    """Each definition refers to the next one twice: 2**30 places if all were written out."""
    levels = {
        f"d{n}": {
            "type": "object",
            "properties": {"l": {"$ref": f"#/$defs/d{n + 1}"}, "r": {"$ref": f"#/$defs/d{n + 1}"}},
        }
        for n in range(30)
    }
    return tool({"$ref": "#/$defs/d0"}, **levels, d30={"type": "string"})


def choices() -> dict[str, Any]:
    """A product of 3**40 alternatives."""
    part = [{"properties": {f"p{m}": {"type": "integer"}}} for m in range(3)]
    return tool(
        {"allOf": [{"anyOf": [{**one, "title": str(n)} for one in part]} for n in range(40)]}
    )


def nested_choices() -> dict[str, Any]:
    """Alternatives within alternatives, by reference, each with a choice beside it."""
    levels = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"required": [f"a{n}"]}]}
        | {"allOf": [{"anyOf": [{"minProperties": n}, {"$ref": f"#/$defs/d{n + 1}"}]}]}
        for n in range(25)
    }
    return tool({"$ref": "#/$defs/d0"}, **levels, d25={"type": "object"})


def mutual() -> dict[str, Any]:
    """Twenty definitions, each of which may hold each other."""
    names = [f"d{n}" for n in range(20)]
    return tool(
        {"$ref": "#/$defs/d0"},
        **{
            name: {
                "type": "object",
                "properties": {other: {"$ref": f"#/$defs/{other}"} for other in names},
            }
            for name in names
        },
    )


def meeting() -> dict[str, Any]:
    """Recursive schemas that meet: the set of subschemas grows with every level."""
    return tool(
        {"allOf": [{"$ref": f"#/$defs/d{n}"} for n in range(8)]},
        **{
            f"d{n}": {
                "type": "object",
                "properties": {
                    "a": {"$ref": f"#/$defs/d{(n * 3 + 1) % 8}"},
                    "b": {"allOf": [{"$ref": f"#/$defs/d{(n + 1) % 8}"}, {"minProperties": n}]},
                },
            }
            for n in range(8)
        },
    )


def deep() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(55):
        schema = {"type": "object", "properties": {"d": schema}, "required": ["d"]}
    return schema


def long_chain() -> dict[str, Any]:
    """Two thousand definitions, each required by the one before."""
    levels = {
        f"d{n}": {
            "type": "object",
            "properties": {"d": {"$ref": f"#/$defs/d{n + 1}"}},
            "required": ["d"],
        }
        for n in range(2_000)
    }
    return tool({"$ref": "#/$defs/d0"}, **levels, d2000={"type": "string"})


def wide() -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{n}": {"enum": [n, str(n)]} for n in range(2_000)}}


def many_alternatives() -> dict[str, Any]:
    return tool(
        {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"k": {"const": n}, f"p{n}": {}},
                    "required": ["k"],
                }
                for n in range(400)
            ]
        }
    )


def patterns() -> dict[str, Any]:
    names = {f"{'a' * n}!": {"type": "string"} for n in range(1, 60)}
    return {
        "type": "object",
        "properties": names,
        "patternProperties": {f"^(a+)+{n}$": {"type": "string"} for n in range(20)},
    }


def names_and_patterns() -> dict[str, Any]:
    """A million questions whether a name matches an expression."""
    return {
        "type": "object",
        "properties": {f"n{n}": {"type": "string"} for n in range(1_000)},
        "patternProperties": {f"^m{n}$": {"type": "string"} for n in range(1_000)},
    }


def repeated_enumeration() -> dict[str, Any]:
    """Three thousand references to ten thousand listed values."""
    listed = {"enum": [f"value {n}" for n in range(10_000)]}
    places = {f"p{n}": {"$ref": "#/$defs/e"} for n in range(3_000)}
    return {"type": "object", "properties": places, "$defs": {"e": listed}}


def filtered_enumeration() -> dict[str, Any]:
    """Each of a thousand places asks another expression about a thousand listed values."""
    places = {
        f"p{n}": {"allOf": [{"$ref": "#/$defs/e"}, {"pattern": f"{n}$"}]} for n in range(1_000)
    }
    listed = {"enum": [f"value {n}" for n in range(1_000)]}
    return {"type": "object", "properties": places, "$defs": {"e": listed}}


def repeated_description() -> dict[str, Any]:
    said = {"type": "object", "properties": {"a": {"type": "string", "description": "a" * 100_000}}}
    places = {f"p{n}": {"$ref": "#/$defs/e"} for n in range(3_000)}
    return {"type": "object", "properties": places, "$defs": {"e": said}}


def repeated_one_of() -> dict[str, Any]:
    """Two thousand references to sixty alternatives that have to be compared with each other."""
    listed = {
        "oneOf": [
            {"type": "object", "properties": {"k": {"pattern": str(n)}}, "required": ["k"]}
            for n in range(60)
        ]
    }
    places = {f"p{n}": {"$ref": "#/$defs/e"} for n in range(2_000)}
    return {"type": "object", "properties": places, "$defs": {"e": listed}}


def root_alternatives() -> dict[str, Any]:
    """Alternatives at the root, each with the same large property and one more word on it."""
    large = {"properties": {f"q{n}": {"type": "string"} for n in range(300)}}
    one = [{"properties": {"v": {"minProperties": n}}} for n in range(200)]
    return {"type": "object", "properties": {"v": large}, "anyOf": one}


def names_of_alternatives() -> dict[str, Any]:
    """Alternatives at the root, each with a name of its own that all others are asked about."""
    return {"type": "object", "oneOf": [{"required": [f"p{n}"]} for n in range(9_000)]}


def conditions_of_alternatives() -> dict[str, Any]:
    """Hundreds of conditions, with names of their own, beside hundreds of alternatives."""
    conditions = [
        {"if": {"required": [f"k{n}"]}, "then": {"required": [f"v{n}"]}} for n in range(700)
    ]
    one = [{"properties": {"t": {"const": n}}} for n in range(250)]
    return {"type": "object", "allOf": conditions, "anyOf": one}


def dynamic_anchors() -> dict[str, Any]:
    """Each of hundreds of dynamic references may end at each of hundreds of anchors."""
    inner = {"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}}
    resources = {f"d{n}": {"$id": f"urn:{n}", **inner} for n in range(500)}
    return {"type": "object", "anyOf": [{"$ref": f"urn:{n}"} for n in range(500)]} | {
        "$defs": resources
    }


def alternatives_by_reference() -> dict[str, Any]:
    """Two chains of definitions that each meet the other's next one in two ways: 2**30 in all."""

    def chain(name: str, end: dict[str, Any]) -> dict[str, Any]:
        levels = {
            f"{name}{n}": {
                "type": "object",
                "properties": {side: {"$ref": f"#/$defs/{name}{n + 1}"} for side in "lr"},
                "additionalProperties": False,
            }
            for n in range(30)
        }
        last = {"type": "object", "properties": {"z": end}, "additionalProperties": False}
        return {**levels, f"{name}30": last}

    return tool(
        {"anyOf": [{"$ref": "#/$defs/a0"}, {"$ref": "#/$defs/b0"}]},
        **chain("a", {"type": "string"}),
        **chain("b", {"type": "integer"}),
    )


def alternatives_of_alternatives() -> dict[str, Any]:
    """Sixty alternatives of 140 ranges each, no two of which have a number in common."""
    ranges = [
        [{"type": "integer", "minimum": n, "maximum": n} for n in range(first, first + 140)]
        for first in range(0, 60_000, 1_000)
    ]
    return tool({"oneOf": [{"anyOf": one} for one in ranges]})


SCHEMAS = (
    *(doubling, choices, nested_choices, mutual, meeting, deep, long_chain, wide),
    *(many_alternatives, patterns, names_and_patterns, repeated_enumeration),
    *(filtered_enumeration, repeated_description, repeated_one_of, root_alternatives),
    *(names_of_alternatives, conditions_of_alternatives, dynamic_anchors),
    *(alternatives_by_reference, alternatives_of_alternatives),
)


KINDS = ("groq", "openai-strict", "gemini", "llguidance", "outlines")
"""One profile of each kind: kept, closed, without references, with patterns, unrolled."""


@pytest.mark.parametrize("make", SCHEMAS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", KINDS)
def test_a_hostile_schema_is_lowered_or_refused_within_its_budget(
    name: str, make: Callable[[], dict[str, Any]]
) -> None:
    schema = make()
    started = time.process_time()
    found: Lowered | None = None
    with contextlib.suppress(CannotLower, LimitExceeded):
        found = lower(schema, name)
    assert time.process_time() - started < SECONDS
    assert found is None or len(str(found.document)) < 5_000_000


TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}},
    "additionalProperties": False,
}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"kids": [value]}
    return value


@pytest.mark.parametrize("name", PROFILES)
def test_a_value_that_is_nested_too_deeply_is_an_error_of_ours(name: str) -> None:
    lowered = lower(TREE, name)
    for deep_value in (nested(90), nested(2_000)):
        with contextlib.suppress(LimitExceeded):
            lowered.restore(deep_value)
        with contextlib.suppress(LimitExceeded, ValidationError):
            lowered.rewrite(deep_value)


def test_bounds_that_no_float_can_hold_are_compared_all_the_same() -> None:
    number = {"type": "number", "minimum": 10**400, "exclusiveMinimum": 1.5}
    document = lower(tool(number), "llguidance").document
    assert "exclusiveMinimum" not in document["properties"]["v"]


def test_what_is_kept_of_lowered_schemas_is_bounded_in_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = Cache[Lowered](most=200_000)
    monkeypatch.setattr(lowering, "_cache", small)
    for number in range(40):
        lower(tool({"type": "string", "description": f"{number}" * 1_000}), "openai-strict")
    assert 0 < len(small._kept) < 40


def test_a_refusal_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Cache[Any](most=200_000)
    monkeypatch.setattr(lowering, "_cache", kept)
    impossible = {"type": "object", "properties": {"v": False}, "required": ["v"]}
    refusals: list[str] = []
    for _ in range(3):
        with pytest.raises(CannotLower) as refused:
            lower(impossible, "openai")
        refusals.append(str(refused.value))
    assert len(set(refusals)) == len(kept._kept) == 1
