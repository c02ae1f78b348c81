"""Fences change no verdict about JSON, and let nothing else through."""

from __future__ import annotations

from typing import Any, cast

import hypothesis.strategies as st
import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings

from anyshape.schema import NotJson, compile

NAMES = st.sampled_from(["a", "b", "c", "kind"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "b", "0.5", "é"])
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def members(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES, inner, max_size=3)


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(inner, max_size=3), members(inner))


def _bury(value: Any, keys: list[str | None]) -> Any:
    for key in keys:
        value = [value] if key is None else {key: value}
    return value


VALUES: st.SearchStrategy[Any] = st.recursive(SCALARS, containers, max_leaves=12)
DEEP_VALUES: st.SearchStrategy[Any] = st.builds(
    _bury, VALUES, st.lists(st.one_of(st.none(), NAMES), max_size=8)
)


def _kinds(value: object) -> tuple[type, object]:
    return type(value), value


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {**one, **other}


def _refer(target: str) -> dict[str, Any]:
    return {"$ref": target}


def _define(root: dict[str, Any], one: Any, two: Any) -> dict[str, Any]:
    return {**root, "$defs": {"one": one, "two": two}}


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
            "properties": members(inner),
            "required": st.lists(NAMES, max_size=3, unique=True),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(
                st.sampled_from(["^a", "k.nd"]), inner, max_size=2
            ),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 2),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(0, 3),
            "enum": st.lists(SCALARS, min_size=1, max_size=3, unique_by=_kinds),
            "const": SCALARS,
            "minLength": st.integers(0, 2),
            "minimum": st.integers(-2, 2),
        },
    )


def compositions(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({"anyOf": several}),
        st.fixed_dictionaries({"oneOf": several}),
        st.fixed_dictionaries({"allOf": several}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}),
        st.fixed_dictionaries({"contains": inner}),
        st.fixed_dictionaries({"dependentSchemas": members(inner)}),
        st.fixed_dictionaries({"unevaluatedProperties": inner}, optional={"allOf": several}),
        st.fixed_dictionaries({"unevaluatedItems": inner}, optional={"anyOf": several}),
        st.builds(_merge, objects(inner), objects(inner)),
        st.sampled_from(["#/$defs/one", "#/$defs/two"]).map(_refer),
    )


def subschemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(objects(inner), compositions(inner))


FLAT: st.SearchStrategy[Any] = st.one_of(st.booleans(), objects(st.booleans()))
SUBSCHEMAS: st.SearchStrategy[Any] = st.recursive(FLAT, subschemas, max_leaves=8)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.builds(
    _define, st.one_of(objects(SUBSCHEMAS), compositions(SUBSCHEMAS)), FLAT, FLAT
)
POISON: st.SearchStrategy[Any] = st.sampled_from(
    [float("nan"), "\ud800", {1: 2}, object(), b"x", {"\udfff": 1}]
)

THOROUGH = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@given(SCHEMAS, st.lists(DEEP_VALUES, min_size=1, max_size=4))
@THOROUGH
def test_fences_change_no_verdict_about_json(document: dict[str, Any], values: list[Any]) -> None:
    schema = compile(document)
    engine = jsonschema_rs.validator_for(document, validate_formats=True)

    for value in values:
        valid = engine.is_valid(value)
        assert schema.accepts(value) is valid
        assert (schema.problems(value) == []) is valid


def _spoil(value: Any, name: str, poison: Any) -> Any:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value) | {name: poison}
    if isinstance(value, list):
        return [*cast("list[Any]", value), poison]
    return poison


@given(SCHEMAS, DEEP_VALUES, POISON, st.lists(st.one_of(st.none(), NAMES), max_size=6), NAMES)
@THOROUGH
def test_no_schema_accepts_what_is_not_json(
    document: dict[str, Any], value: Any, poison: Any, way: list[str | None], name: str
) -> None:
    schema = compile(document)

    with pytest.raises(NotJson):
        schema.accepts(_spoil(value, name, _bury(poison, way)))


@pytest.mark.parametrize(
    ("document", "fenced"),
    [
        ({"type": "object", "properties": {"a": {"type": "string"}}}, True),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}, True),
        ({"oneOf": [{"type": "string"}, {"type": "object"}]}, True),
        ({"oneOf": [{"type": "object"}, {"type": ["object", "null"]}]}, True),
        ({"not": {"type": "object"}}, True),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, False),
        ({"properties": {"a": True}, "unevaluatedProperties": False}, False),
        (
            {"$ref": "#/$defs/a", "not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "object"}}},
            False,
        ),
    ],
)
def test_fences_stand_where_they_are_safe(document: Any, fenced: bool) -> None:
    assert (compile(document)._core.fences is not None) is fenced


OPEN = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
PARTS = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
]


@pytest.mark.parametrize(
    "document",
    [
        OPEN,
        {**OPEN, "required": ["a", "b"]},
        {"anyOf": [OPEN, {"type": "null"}]},
        {"allOf": [OPEN]},
        {"allOf": PARTS},
        {"allOf": [{"$ref": "#/$defs/a"}, PARTS[1]], "$defs": {"a": PARTS[0]}},
        {"$ref": "#/$defs/a", "properties": {"b": True}, "$defs": {"a": PARTS[0]}},
        {**PARTS[0], "anyOf": [PARTS[1], {"required": ["c"]}]},
        {**PARTS[0], "dependentSchemas": {"a": PARTS[1]}},
    ],
)
def test_the_first_test_accepts_what_is_usual(document: dict[str, Any]) -> None:
    schema = compile(document)

    assert schema._quick({"a": 1, "b": 2})
    assert schema.accepts({"a": 1, "b": 2, "c": [{"d": None}]})
    with pytest.raises(NotJson):
        schema.accepts({"a": 1, "b": 2, "c": [{"d": float("nan")}]})
