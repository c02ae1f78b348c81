from __future__ import annotations

from typing import Any

import pytest

from anyshape.documents.types import Types, admits

O, N, A = Types.OBJECT, Types.NULL, Types.ARRAY  # noqa: E741
S, B, M = Types.STRING, Types.BOOLEAN, Types.NUMBER
ALL = Types.ANYTHING
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


CASES: list[tuple[dict[str, Any] | bool, Types]] = [
    (True, ALL),
    (False, Types.NOTHING),
    ({}, ALL),
    ({"type": "object"}, O),
    ({"type": ["object"]}, O),
    ({"type": ["object", "null"]}, O | N),
    ({"type": "integer"}, M),
    ({"type": "mystery"}, ALL),
    ({"const": {}}, O),
    ({"const": None}, N),
    ({"const": 0}, M),
    ({"const": False}, B),
    ({"enum": [{}, {"a": 1}]}, O),
    ({"enum": [{}, None, "x"]}, O | N | S),
    ({"enum": []}, Types.NOTHING),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}}, O),
    ({"$ref": "#/$defs/A", "type": ["object", "null"], "$defs": {"A": {"type": "object"}}}, O),
    ({"$ref": "#a", "$defs": {"A": {"$anchor": "a", "type": "object"}}}, O),
    ({"$ref": "#/nowhere"}, ALL),
    ({"$ref": "https://example.com/elsewhere"}, ALL),
    ({"$ref": "#"}, ALL),
    ({"$ref": "#", "type": "object"}, O),
    ({"allOf": [{"$ref": "#"}, {"type": "object"}]}, O),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "object"}}}, O),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, ALL),
    ({"allOf": [{}, {"type": "object"}]}, O),
    ({"allOf": [{"type": ["object", "null"]}, {"type": ["object", "string"]}]}, O),
    ({"allOf": [{"type": "object"}, {"type": "array"}]}, Types.NOTHING),
    ({"anyOf": [{"type": "object"}, {"const": {}}]}, O),
    ({"anyOf": [{"type": "object"}, {}]}, ALL),
    ({"anyOf": [{"type": "object"}, False]}, O),
    ({"oneOf": [{"type": "object"}, {"type": "null"}]}, O | N),
    ({"oneOf": [True, {"type": "object"}]}, ALL),
    ({"anyOf": []}, ALL),
    ({"if": {}, "then": {"type": "object"}, "else": {"type": "object"}}, O),
    ({"if": {"type": "object"}, "else": {"type": "object"}}, O),
    ({"if": {"type": "object"}, "else": False}, O),
    ({"if": {}, "then": {"type": "object"}}, ALL),
    ({"then": {"type": "object"}, "else": {"type": "object"}}, ALL),
    ({"not": {"type": "null"}}, ALL & ~N),
    ({"not": {"type": ["null", "array", "string", "number", "boolean"]}}, O),
    ({"not": {"type": "integer"}}, ALL),
    ({"not": {"type": ["null", "array", "string", "integer", "boolean"]}}, O | M),
    ({"not": {"type": "null", "title": "x"}}, ALL),
    ({"not": {}}, Types.NOTHING),
    ({"not": True}, Types.NOTHING),
    ({"not": False}, ALL),
    ({"type": ["object", "null"], "not": {"type": "null"}}, O),
    ({"properties": {"a": {}}, "required": ["a"]}, ALL),
    ({"$dynamicRef": "#n", "$defs": {"a": {"$dynamicAnchor": "n", "type": "object"}}}, O),
    (
        {
            "$dynamicRef": "#n",
            "$defs": {
                "a": {"$dynamicAnchor": "n", "type": "object"},
                "b": {"$id": "b", "$dynamicAnchor": "n", "type": "array"},
            },
        },
        O | A,
    ),
    ({"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, O),
    ({"$dynamicRef": "#gone"}, ALL),
    (
        {
            "$ref": "https://example.com/r#/$defs/A",
            "$defs": {
                "r": {"$id": "https://example.com/r", "$defs": {"A": {"type": "object"}}},
                "A": {"type": "array"},
            },
        },
        O,
    ),
    (
        {
            "$id": "https://example.com/root",
            "$ref": "https://example.com/root#/$defs/A",
            "$defs": {"A": {"type": "object"}},
        },
        O,
    ),
    ({"$ref": "#/components/A", "components": {"A": {"type": "object"}}}, O),
    # Dialects: what is void beside `$ref`, and keywords that do not exist yet.
    (
        {
            "$schema": DRAFT_7,
            "$ref": "#/definitions/A",
            "type": "object",
            "definitions": {"A": {"type": "array"}},
        },
        A,
    ),
    ({"$schema": DRAFT_7, "if": True, "then": {"type": "object"}, "else": False}, O),
    ({"$schema": DRAFT_4, "const": {}}, ALL),
    ({"$schema": DRAFT_4, "if": {}, "then": {"type": "object"}, "else": {}}, ALL),
    ({"$schema": DRAFT_7, "$dynamicRef": "#/definitions/A", "definitions": {"A": {}}}, ALL),
]


@pytest.mark.parametrize(("schema", "types"), CASES)
def test_the_types_a_schema_can_admit(schema: dict[str, Any] | bool, types: Types) -> None:
    assert admits(schema) == types


def test_a_schema_too_deep_to_follow_proves_nothing() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(2_000):
        schema = {"allOf": [schema]}
    assert admits(schema) in (Types.ANYTHING, Types.OBJECT)


def test_shared_branches_are_looked_at_once() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "object"}}
    for level in range(1, 60):
        branch = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"anyOf": [branch, branch]}
    assert admits({"$ref": "#/$defs/d59", "$defs": definitions}) == Types.OBJECT
