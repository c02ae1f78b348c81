"""Schemas in compact notation: what people read of a type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.schema.notation import notation, signature


@pytest.mark.parametrize(
    ("document", "written"),
    [
        (True, "any"),
        ({}, "any"),
        (False, "never"),
        ({"not": {}}, "never"),
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "uuid"}, "string uuid"),
        ({"type": "string", "minLength": 1}, "string ≥1 chars"),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "string 2 chars"),
        ({"type": "string", "minLength": 0, "maxLength": 9}, "string ≤9 chars"),
        ({"type": "string", "pattern": "^a+$"}, "string /^a+$/"),
        ({"type": "integer", "minimum": 1, "maximum": 10}, "integer 1..10"),
        ({"type": "integer", "minimum": 0}, "integer ≥0"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 30}, "number >0 ≤30"),
        ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, "number >0"),
        ({"type": "number", "maximum": 5, "exclusiveMaximum": True}, "number <5"),
        ({"type": "number", "multipleOf": 0.5}, "number in steps of 0.5"),
        ({"type": ["integer", "null"]}, "integer | null"),
        ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
        ({"const": {"a": 1}}, "{…}"),
        ({"enum": list(range(10))}, "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | … 2 more"),
        ({"type": "array"}, "any[]"),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"type": "integer", "minimum": 1}}, "(integer ≥1)[]"),
        ({"items": {"type": ["string", "null"]}, "minItems": 1}, "(string | null)[≥1]"),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {}], "items": False},
            "[string, any]",
        ),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "[string, …]"),
        ({"type": "array", "items": [{"type": "string"}], "additionalItems": False}, "[string]"),
        ({"type": "object"}, "object"),
        ({"type": "object", "additionalProperties": False}, "{}"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "{[any]: string}"),
        (
            {"properties": {"a": {"type": "string"}, "b c": False}, "required": ["a", "d"]},
            '{a: string, "b c"?: never, d}',
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}, "string | null"),
        (
            {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "object & ({a} | {b})",
        ),
        ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "string & any"),
        ({"not": {"type": ["null", "array"]}}, "not (null | any[])"),
        (
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": False},
            "if {a} then {b} else never",
        ),
        ({"patternProperties": {"^x": True}}, "any & …"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "null"}}}, "null"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}, "null"),
        ({"$ref": "#/allOf/0", "allOf": [{"type": "null"}]}, "null & null"),
        ({"$ref": "https://example.com/order.json"}, "order.json"),
        ({"$ref": "#/$defs/missing"}, "missing"),
        ({"type": "array", "items": {"$ref": "#"}}, "root root[]"),
        ({"title": "Tree", "properties": {"kids": {"$ref": "#"}}}, "Tree {kids?: Tree}"),
    ],
)
def test_a_schema_is_written_compactly(document: dict[str, Any] | bool, written: str) -> None:
    assert notation(document) == written


def test_a_part_of_a_document_can_be_written_alone() -> None:
    document = {
        "properties": {"result": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"properties": {"next": {"$ref": "#/$defs/A"}}}},
    }
    assert notation(document, "#/properties/result") == "A {next?: A}"


@pytest.mark.parametrize(
    ("given", "returned", "written"),
    [
        ({"type": "object"}, None, "() → content"),
        (
            {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            {"type": "array", "items": {"type": "number"}},
            "(city: string) → number[]",
        ),
        (
            {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            True,
            "({a} | {b}) → any",
        ),
        (
            {"type": "object", "properties": {"a": {}}, "dependentRequired": {"a": ["b"]}},
            False,
            "(a?: any) & … → never",
        ),
    ],
)
def test_a_tool_has_a_signature(given: dict[str, Any], returned: Any, written: str) -> None:
    assert signature(given, returned) == written


@pytest.mark.parametrize(
    "repeated",
    [
        {"properties": {f"p{n}": True for n in range(5_000)}},
        {"required": [f"p{n}" for n in range(5_000)]},
        {"properties": {"p" * 50_000: True}},
        {"prefixItems": [True] * 5_000},
        {"allOf": [True] * 5_000},
        {"enum": ["x" * 5_000 + str(n) for n in range(100)]},
    ],
)
def test_what_is_repeated_does_not_make_the_line_endless(repeated: dict[str, Any]) -> None:
    document = {
        "$defs": {"a": repeated},
        "properties": {f"q{n}": {"$ref": "#/$defs/a"} for n in range(400)},
    }
    assert len(notation(document)) < 100_000


def test_hostile_schemas_end_in_an_ellipsis() -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"items": deep}
    assert "…" in notation(deep)
    doubling = {
        "$ref": "#/$defs/0",
        "$defs": {
            str(n): {
                "anyOf": [{"$ref": f"#/$defs/{n + 1}"}, {"items": {"$ref": f"#/$defs/{n + 1}"}}]
            }
            for n in range(40)
        },
    }
    assert len(notation(doubling)) < 20_000


@pytest.mark.parametrize("keyword", ["prefixItems", "allOf", "anyOf"])
def test_a_long_list_of_schemas_is_cut(keyword: str) -> None:
    many = [{"minimum": number} for number in range(5_000)]
    assert len(notation({keyword: many})) < 10_000
    assert len(notation({keyword: [True] * 5_000})) < 10_000


keywords = st.sampled_from(
    ["type", "items", "properties", "$ref", "anyOf", "enum", "required", "minimum", "if", "not"]
) | st.text(max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("#"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(keywords, json_values, max_size=5))
def test_whatever_claims_to_be_a_schema_can_be_written(document: dict[str, Any]) -> None:
    assert notation(document)
    assert signature(document, document)
