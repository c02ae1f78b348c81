from __future__ import annotations

from typing import Any

import pytest

from anyshape.demo.server import server
from anyshape.protocol.shapes.folding import fold_root


def test_alternatives_become_one_object_and_words() -> None:
    schema = server.tools["find-by-id-or-name"].listing.input_schema
    assert fold_root(schema) == {
        "type": "object",
        "properties": schema["properties"],
        "additionalProperties": False,
        "description": "Give exactly one of: (id) or (name).",
    }


def test_a_property_that_other_alternatives_leave_open_may_be_anything() -> None:
    uuid = {"type": "string", "format": "uuid"}
    assert fold_root(server.tools["find_resource"].listing.input_schema) == {
        "type": "object",
        "properties": {
            "id": {"anyOf": [uuid, {}]},
            "name": {"anyOf": [{"type": "string", "minLength": 1}, {}]},
        },
        "description": "Give exactly one of: (id) or (name).",
    }


def test_closed_alternatives_keep_their_types_and_stay_closed() -> None:
    def branch(kind: str, name: str) -> dict[str, Any]:
        return {
            "properties": {"kind": {"const": kind}, name: {"$ref": "#/$defs/size"}},
            "required": ["kind", name],
            "additionalProperties": False,
        }

    schema: dict[str, Any] = {
        "description": "A pet.",
        "type": "object",
        "anyOf": [{"$ref": "#/$defs/cat"}, branch("dog", "bark")],
        "$defs": {"cat": branch("cat", "lives"), "size": {"type": "integer"}},
    }
    alternatives = '(kind = "cat", lives) or (kind = "dog", bark)'
    assert fold_root(schema) == {
        "description": f"A pet. Give at least one of: {alternatives}.",
        "type": "object",
        "properties": {
            "kind": {"enum": ["cat", "dog"]},
            "lives": {"$ref": "#/$defs/size"},
            "bark": {"$ref": "#/$defs/size"},
        },
        "required": ["kind"],
        "additionalProperties": False,
        "$defs": {"size": {"type": "integer"}},
    }


def test_what_is_closed_twice_has_what_both_declare() -> None:
    def part(*names: str) -> dict[str, Any]:
        return {"properties": {name: {} for name in names}, "additionalProperties": False}

    assert fold_root({"type": "object", "allOf": [part("a", "b"), part("b", "c")]}) == {
        "type": "object",
        **part("b"),
    }


def test_what_holds_at_once_is_joined() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "allOf": [
            {"properties": {"a": {"minimum": 1}, "b": {}}, "required": ["b"]},
            {"if": {"required": ["c"]}, "then": {"required": ["d"]}},
        ],
        "unevaluatedProperties": False,
    }
    assert fold_root(schema) == {
        "type": "object",
        "properties": {"a": {"allOf": [{"type": "integer"}, {"minimum": 1}]}, "b": {}},
        "required": ["a", "b"],
    }


def test_alternatives_that_no_object_satisfies_do_not_count() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "anyOf": [{"type": "string"}, False, {"properties": {"a": {"type": "null"}}}],
    }
    assert fold_root(schema) == {"type": "object", "properties": {"a": {"type": "null"}}}


def test_where_schemas_cannot_be_moved_the_names_and_their_descriptions_remain() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "children": {"type": "array", "items": {"$ref": "#"}, "description": "All."}
        },
        "oneOf": [{"required": ["children"]}, {"properties": {"leaf": True}, "required": ["leaf"]}],
    }
    assert fold_root(schema) == {
        "type": "object",
        "properties": {"children": {"description": "All."}, "leaf": {}},
        "description": "Give exactly one of: (children) or (leaf).",
    }


@pytest.mark.parametrize("holder", ["properties", "$defs", "definitions"])
def test_what_is_a_schema_only_because_something_refers_to_it_is_not_moved(holder: str) -> None:
    inner = {"$ref": f"#/{holder}", "description": "how it is meant"}
    schema: dict[str, Any] = {
        "type": "object",
        holder: {"a": {}},
        "anyOf": [{"properties": {"b": inner}}],
    }

    properties = fold_root(schema)["properties"]
    assert properties["b"] == {"description": "how it is meant"}


def test_a_reference_at_the_root_is_followed_even_where_it_hides_the_rest() -> None:
    person: dict[str, Any] = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "required": ["hidden"],
        "$ref": "#/definitions/person",
        "definitions": {"person": person},
    }
    assert fold_root(schema) == {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        **person,
    }


def test_a_chain_of_references_without_end_folds_to_any_object() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "$ref": "#/$defs/0",
        "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}]} for n in range(3000)},
    }
    folded = fold_root(schema)
    assert (folded["type"], folded["properties"]) == ("object", {})


def test_definitions_that_double_each_other_leave_what_the_root_says_itself() -> None:
    def step(number: int) -> dict[str, Any]:
        next: dict[str, Any] = {"$ref": f"#/$defs/{number + 1}"}
        return {"allOf": [next], "anyOf": [next, {"properties": {"x": {"maxLength": number}}}]}

    definitions: dict[str, Any] = {str(number): step(number) for number in range(40)}
    definitions["40"] = {"properties": {"x": {"type": "string"}}}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"y": {"type": "integer"}},
        "required": ["y"],
        "allOf": [{"$ref": "#/$defs/0"}],
        "$defs": definitions,
    }
    assert fold_root(schema) == {
        "type": "object",
        "properties": {"y": {"type": "integer"}},
        "required": ["y"],
    }


def test_a_plain_schema_is_left_as_it_is() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"oneOf": [{}, True]}}}
    assert fold_root(schema) is schema
