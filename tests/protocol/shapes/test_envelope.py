from __future__ import annotations

from typing import Any

import pytest

from anyshape.protocol.shapes.envelope import envelop, root_is_referred_to

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def inside(schema: dict[str, Any] | bool) -> Any:
    return envelop(schema)["properties"]["result"]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#", "#/properties/result"),
        ("", "#/properties/result"),
        ("#/items", "#/properties/result/items"),
        ("#/properties/result", "#/properties/result/properties/result"),
        ("#/properties/a~1b~0c%25", "#/properties/result/properties/a~1b~0c%25"),
        ("#%2Fitems", "#/properties/result%2Fitems"),
        ("#/$defs/A", "#/$defs/A"),
        ("#/%24defs/A", "#/%24defs/A"),
        ("#/$defs/A/properties/x", "#/$defs/A/properties/x"),
        ("#/definitions/A", "#/properties/result/definitions/A"),
        ("#/items/$defs/A", "#/properties/result/items/$defs/A"),
        ("#anchor", "#anchor"),
        ("https://example.com/x#/items", "https://example.com/x#/items"),
        ("other", "other"),
        ("urn:uuid:1#/x", "urn:uuid:1#/x"),
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_reference_leads_where_it_led(keyword: str, reference: str, expected: str) -> None:
    schema: dict[str, Any] = {
        "type": "array",
        "items": {keyword: reference, "title": "t"},
        "$defs": {"A": {}},
    }
    assert inside(schema) == {"type": "array", "items": {keyword: expected, "title": "t"}}


def test_what_moves_to_the_root_is_not_left_behind() -> None:
    envelope = envelop(
        {
            "$schema": DRAFT_7,
            "type": "array",
            "definitions": {"A": {"$ref": "#"}},
            "$defs": {"B": {"$ref": "#/definitions/A"}},
        }
    )
    assert envelope == {
        "$schema": DRAFT_7,
        "type": "object",
        "properties": {"result": {"type": "array"}},
        "required": ["result"],
        "definitions": {"A": {"$ref": "#/properties/result"}},
        "$defs": {"B": {"$ref": "#/definitions/A"}},
    }


def test_nothing_that_is_no_schema_is_touched() -> None:
    data = {"$ref": "#", "$id": "x", "$defs": {"A": {"$ref": "#/items"}}}
    schema: dict[str, Any] = {
        "type": "array",
        "const": data,
        "enum": [data],
        "default": data,
        "examples": [data],
        "x-unknown": data,
        "required": ["$ref"],
        "items": {"properties": {"$ref": {"const": data}, "default": {"enum": [data]}}},
    }
    assert inside(schema) == schema


def test_properties_named_as_data_keywords_hold_schemas() -> None:
    names = ["const", "enum", "default", "examples", "$ref"]
    schema = {"type": "array", "items": {"properties": {name: {"$ref": "#"} for name in names}}}
    rewritten = {name: {"$ref": "#/properties/result"} for name in names}
    assert inside(schema)["items"]["properties"] == rewritten


def test_a_place_that_only_a_reference_makes_a_schema_is_walked() -> None:
    schema = {
        "items": {"$ref": "#/components/a"},
        "components": {
            "a": {"$ref": "#/components/b"},
            "b": {"items": {"$ref": "#"}},
            "c": {"$ref": "#"},
        },
    }
    assert inside(schema)["components"] == {
        "a": {"$ref": "#/properties/result/components/b"},
        "b": {"items": {"$ref": "#/properties/result"}},
        "c": {"$ref": "#"},
    }


def test_a_reference_into_data_does_not_make_it_a_schema() -> None:
    schema = {"items": {"$ref": "#/default"}, "default": {"items": {"$ref": "#"}}}
    assert inside(schema)["default"] == {"items": {"$ref": "#"}}


def test_a_resource_inside_keeps_its_own_pointers() -> None:
    resource = {"$id": "https://example.com/r", "items": {"$ref": "#"}, "$ref": "#/$defs/x"}
    schema = {"type": "array", "$defs": {"r": resource}, "items": {"$defs": {"s": resource}}}
    envelope = envelop(schema)
    assert envelope["$defs"]["r"] == resource
    assert envelope["properties"]["result"]["items"]["$defs"]["s"] == resource


@pytest.mark.parametrize(
    ("schema", "whole"),
    [
        ({"$id": "https://example.com/r", "items": {"$ref": "#"}, "$defs": {"A": {}}}, True),
        ({"$id": "relative", "items": {"$ref": "#"}, "$defs": {"A": {}}}, True),
        ({"$id": "#", "items": {"$ref": "#"}, "$defs": {"A": {}}}, False),
        ({"$schema": DRAFT_7, "$id": "#name", "items": {"$ref": "#"}, "definitions": {}}, False),
        ({"$schema": DRAFT_7, "id": "https://example.com/r", "items": {"$ref": "#"}}, False),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "id": "https://example.com/r",
                "items": {"$ref": "#"},
                "definitions": {},
            },
            True,
        ),
    ],
)
def test_a_root_with_an_id_of_its_own_is_embedded_whole(
    schema: dict[str, Any], whole: bool
) -> None:
    embedded = {keyword: value for keyword, value in schema.items() if keyword != "$schema"}
    assert (inside(schema) == embedded) is whole


def test_an_id_that_is_void_beside_a_reference_moves_up() -> None:
    schema = {"$schema": DRAFT_7, "$id": "https://example.com/r", "$ref": "#/definitions/A"}
    envelope = envelop({**schema, "definitions": {"A": {"type": "array"}}})
    assert envelope["$id"] == "https://example.com/r"
    assert envelope["properties"]["result"] == {"$ref": "#/definitions/A"}
    assert envelope["definitions"] == {"A": {"type": "array"}}


@pytest.mark.parametrize("dialect", ["https://json-schema.org/draft/2020-12/schema", DRAFT_7])
def test_keywords_of_other_dialects_are_not_walked(dialect: str) -> None:
    schema = {"$schema": dialect, "type": "array", "items": {"$recursiveRef": "#"}}
    assert inside(schema) == {"type": "array", "items": {"$recursiveRef": "#"}}


def test_an_invalid_base_is_no_accident() -> None:
    schema = {"type": "array", "items": {"$id": "http://[", "$ref": "#"}, "$defs": {}}
    assert inside(schema)["items"] == {"$id": "http://[", "$ref": "#"}


@pytest.mark.parametrize(
    ("schema", "referred"),
    [
        ({"type": "object"}, False),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}}}, False),
        ({"properties": {"a": {"$ref": "#"}}}, True),
        ({"$anchor": "me", "properties": {"a": {"$ref": "#me"}}}, True),
        ({"$id": "https://example.com/r", "items": {"$ref": "https://example.com/r"}}, True),
        ({"$dynamicAnchor": "n", "items": {"$dynamicRef": "#n"}}, True),
        ({"const": {"$ref": "#"}}, False),
    ],
)
def test_a_root_that_is_referred_to_is_known(schema: dict[str, Any], referred: bool) -> None:
    assert root_is_referred_to(schema) is referred
