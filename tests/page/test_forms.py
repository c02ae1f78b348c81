"""The form of a schema: which fields a value has, and what choosing and adding make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anyshape.page.forms import SchemaForm

Json = dict[str, Any]


def fields(form: Json) -> dict[str, Json]:
    """Return every field of a form by its path."""
    found = {form["path"]: form}
    for each in (*form.get("fields", ()), *form.get("items", ())):
        found |= fields(each)
    return found


def described(schema: Json, value: Any) -> dict[str, Json]:
    return fields(SchemaForm(schema).describe(value, {}))


def test_plain_types_are_plain_fields() -> None:
    found = described(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name", "description": "Whose"},
                "age": {"type": "integer", "minimum": 0, "default": 7},
                "size": {"enum": ["s", "l"]},
                "sure": {"type": "boolean"},
                "text": {"type": "string", "maxLength": 5000},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        {},
    )
    assert (found["/name"]["kind"], found["/name"]["title"]) == ("string", "Name")
    assert [path for path, each in found.items() if path and each["required"]] == ["/name"]
    assert (found["/age"]["kind"], found["/age"]["default"]) == ("integer", 7)
    assert found["/age"]["type"] == "integer ≥0"
    assert found["/size"]["options"] == ["s", "l"]
    assert found["/sure"]["kind"] == "boolean"
    assert found["/text"]["long"] is True
    assert found[""]["open"] is False


def test_a_wrong_value_does_not_change_what_is_asked_for() -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}}
    assert described(schema, {"age": "many"})["/age"]["kind"] == "integer"
    assert described(schema, "nothing like it")[""]["kind"] == "object"


@pytest.mark.parametrize(
    ("dialect", "definitions"),
    [
        ("https://json-schema.org/draft/2020-12/schema", "$defs"),
        ("http://json-schema.org/draft-07/schema#", "definitions"),
    ],
)
def test_conditions_follow_references_in_every_dialect(dialect: str, definitions: str) -> None:
    schema = {
        "$schema": dialect,
        definitions: {"abroad": {"properties": {"to": {"const": "abroad"}}, "required": ["to"]}},
        "type": "object",
        "properties": {"to": {"type": "string"}},
        "if": {"$ref": f"#/{definitions}/abroad"},
        "then": {"properties": {"code": {"type": "string"}}, "required": ["code"]},
    }
    assert "/code" not in described(schema, {"to": "home"})
    assert described(schema, {"to": "abroad"})["/code"]["required"] is True


def test_what_depends_on_a_property_is_there_with_it() -> None:
    schema = {
        "type": "object",
        "properties": {"card": {"type": "string"}, "street": {"type": "string"}},
        "dependentRequired": {"card": ["street"]},
        "dependentSchemas": {"card": {"properties": {"until": {"type": "string"}}}},
    }
    before, after = described(schema, {}), described(schema, {"card": "1"})
    assert (before["/street"]["required"], "/until" in before) == (False, False)
    assert (after["/street"]["required"], "/until" in after) == (True, True)


def test_what_holds_at_once_is_put_together() -> None:
    schema = {
        "allOf": [
            {"$ref": "#/$defs/named"},
            {"properties": {"name": {"minLength": 2}, "age": {"type": ["integer", "null"]}}},
        ],
        "$defs": {"named": {"properties": {"name": {"type": "string"}}, "required": ["name"]}},
        "type": "object",
    }
    found = described(schema, {"age": None})
    assert (found["/name"]["kind"], found["/name"]["required"]) == ("string", True)
    assert (found["/age"]["kind"], found["/age"]["kinds"]) == ("null", ("integer", "null"))


UNION: Json = {
    "type": "object",
    "properties": {
        "pet": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
                    "required": ["kind", "lives"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "dog"}, "trick": {"type": "string"}},
                    "required": ["kind", "trick"],
                },
                {"type": "string"},
                {"type": "null"},
            ]
        },
        "note": {"type": "string"},
    },
    "required": ["pet"],
}


@pytest.mark.parametrize(
    ("value", "chosen"),
    [
        ({"kind": "dog", "trick": "sit"}, 1),
        ({"kind": "dog"}, 1),
        ({"lives": 9}, 0),
        ({"trick": 3}, 1),
        ("Tom", 2),
        (None, 3),
    ],
)
def test_the_alternative_shown_is_the_one_that_fits_or_comes_closest(
    value: Any, chosen: int
) -> None:
    found = described(UNION, {"pet": value})["/pet"]
    assert [each["chosen"] for each in found["alternatives"]] == [chosen]


def test_choosing_another_alternative_keeps_what_is_not_its_own() -> None:
    form = SchemaForm(UNION)
    value = {"pet": {"kind": "cat", "lives": 9}, "note": "loud"}
    place = fields(form.describe(value, {}))["/pet"]["alternatives"][0]["place"]
    changed = form.choose(value, {}, ("pet",), place, 1)
    assert changed == {"pet": {"kind": "dog"}, "note": "loud"}
    assert form.choose(value, {}, ("pet",), place, 2) == {"pet": "", "note": "loud"}
    assert form.choose(changed, {}, ("pet",), place, 3) == {"pet": None, "note": "loud"}


def test_choosing_what_says_nothing_of_objects_keeps_the_members() -> None:
    form = SchemaForm({"anyOf": [{"type": "object"}, {"minLength": 1}, {"default": 3}]})
    for chosen in (1, 2):
        assert form.choose({"a": 1}, {"/anyOf": 0}, (), "/anyOf", chosen) == {"a": 1}


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        ({"type": "string", "enum": [1, "x", None]}, ["x"]),
        ({"type": "integer", "enum": [1, 1.5, 2.0, True]}, [1, 2.0]),
        ({"allOf": [{"enum": [1, 2, "3"]}, {"enum": [True, "3", 2.0]}]}, ["3", 2.0]),
        ({"enum": [2], "oneOf": [{"const": 1, "title": "One"}, {"const": 2, "title": "Two"}]}, [2]),
        ({"allOf": [{"const": 1}, {"const": 2}, {"const": 3}]}, []),
    ],
    ids=str,
)
def test_only_values_that_fit_all_that_is_said_are_offered(
    schema: Json, options: list[Any]
) -> None:
    found = described({"type": "object", "properties": {"v": schema}}, {})["/v"]
    assert json.dumps(found["options"]) == json.dumps(options)
    if "oneOf" in schema:
        assert found["titles"] == {"0": "Two"}


def test_an_item_is_added_to_a_list_that_is_not_there_yet() -> None:
    items = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    form = SchemaForm({"type": "object", "properties": {"rows": items}, "required": ["rows"]})
    assert form.add({}, {}, ("rows", "0")) == {"rows": [[]]}
    assert form.add({}, {}, ("rows", "0", "0")) == {"rows": [[0]]}
    assert form.add({"rows": {"a": 1}}, {}, ("rows", "0")) == {"rows": [[]]}


def test_what_is_left_unevaluated_is_read_like_what_is_additional() -> None:
    closed = SchemaForm({"type": "object", "unevaluatedProperties": False})
    assert closed.describe({}, {})["open"] is False
    schema = {"type": "object", "unevaluatedProperties": {"type": "integer"}}
    assert SchemaForm(schema).add({}, {}, ("n",)) == {"n": 0}


def test_values_with_titles_are_one_choice() -> None:
    schema = {"oneOf": [{"const": 1, "title": "One"}, {"const": 2, "description": "Two"}]}
    found = described({"type": "object", "properties": {"number": schema}}, {})["/number"]
    assert (found["options"], found["titles"]) == ([1, 2], {"0": "One", "1": "Two"})


def test_lists_grow_by_what_their_schema_says_and_not_beyond_it() -> None:
    schema: Json = {
        "type": "object",
        "properties": {
            "point": {
                "type": "array",
                "prefixItems": [{"type": "number"}, {"enum": ["north", "south"]}],
                "items": False,
            },
            "rows": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
        },
    }
    form = SchemaForm(schema)
    value: Any = form.add({}, {}, ("point",))
    for index in ("0", "1"):
        assert fields(form.describe(value, {}))["/point"]["open"] is True
        value = form.add(value, {}, ("point", index))
    assert value == {"point": [0, "north"]}
    assert fields(form.describe(value, {}))["/point"]["open"] is False
    value = form.add(form.add(value, {}, ("rows",)), {}, ("rows", "0"))
    assert value["rows"] == [{}]
    assert fields(form.describe(value, {}))["/rows/0/a"]["kinds"][0] == "string"


def test_maps_take_names_of_any_kind() -> None:
    schema = {"type": "object", "patternProperties": {"^x": {"type": "integer"}}}
    form = SchemaForm(schema)
    value = form.add({}, {}, ("x-1",))
    assert value == {"x-1": 0}
    found = fields(form.describe(value, {}))
    assert (found["/x-1"]["extra"], found["/x-1"]["kind"]) == (True, "integer")
    assert form.add({"x-1": 7}, {}, ("x-1",)) == {"x-1": 7}  # a name that is there keeps its value


def test_a_schema_that_leads_back_to_itself_ends() -> None:
    schema: Json = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}},
                "required": ["next"],
                "oneOf": [{"$ref": "#/$defs/node"}, {"$ref": "#"}],
            }
        },
    }
    found = described(schema, {})
    assert max(path.count("/") for path in found) <= 12
    assert any(each.get("beyond") for each in found.values())


def test_a_form_that_would_be_too_long_is_left_to_json() -> None:
    many = {f"p{number}": {"type": "string"} for number in range(5000)}
    found = described({"type": "object", "properties": many}, {})
    assert found[""]["beyond"] is True
    assert described({"type": "object"}, {"list": [0] * 5000})["/list"]["beyond"] is True


def test_lists_of_older_dialects_are_read_as_they_were_meant() -> None:
    schema: Json = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": {
                "type": "array",
                "items": [{"type": "string"}, {"type": "boolean"}],
                "additionalItems": {"type": "integer"},
            },
            "other": {"$ref": "#/definitions/name", "type": "integer"},
        },
        "definitions": {"name": {"type": "string"}},
    }
    found = described(schema, {"pair": ["a", True, 3]})
    kinds = [found[f"/pair/{index}"]["kind"] for index in range(3)]
    assert kinds == ["string", "boolean", "integer"]
    # What stands beside a reference counts for nothing in that dialect.
    assert found["/other"]["kinds"] == ("string",)


@pytest.mark.parametrize(
    ("one", "other", "kinds"),
    [
        (["integer", "string"], "number", ("integer",)),
        ("number", "integer", ("integer",)),
        (["string", "null"], ["null", "string"], ("string", "null")),
    ],
)
def test_types_that_hold_at_once_are_those_in_common(
    one: Any, other: Any, kinds: tuple[str, ...]
) -> None:
    schema = {"type": "object", "properties": {"x": {"type": one, "allOf": [{"type": other}]}}}
    assert described(schema, {})["/x"]["kinds"] == kinds


def test_conditions_can_be_as_plain_as_true_and_refused_as_beyond_knowing() -> None:
    always: Json = {"type": "object", "if": True, "then": {"required": ["a"]}}
    assert described(always, {})["/a"]["required"] is True
    unknown: Json = {
        "type": "object",
        "if": {"$ref": "https://example.com/elsewhere"},
        "then": {"required": ["a"]},
    }
    assert "/a" not in described(unknown, {})


def test_of_several_patterns_none_is_taken_for_a_new_member() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^a": {"type": "integer"}, "^b": {"type": "string"}},
    }
    found = described(schema, {"b": 1})
    assert found[""]["open"] is True
    assert found["/b"]["kinds"] == ("string", "number", "boolean", "object", "array", "null")


def test_what_is_not_allowed_is_hidden_until_it_is_there() -> None:
    schema: Json = {"type": "object", "properties": {"old": False, "new": True}}
    assert "/old" not in described(schema, {})
    assert described(schema, {"old": 1})["/old"]["forbidden"] is True


def test_a_value_to_start_from_is_the_default_if_there_is_one() -> None:
    schema: Json = {
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "properties": {"kind": {"const": "town"}, "name": {"type": "string"}},
                "required": ["kind", "name"],
            },
            "tags": {"type": "array", "default": ["new"]},
        },
    }
    form = SchemaForm(schema)
    assert form.add({}, {}, ("place",)) == {"place": {"kind": "town"}}
    assert form.add({}, {}, ("tags",)) == {"tags": ["new"]}
    assert form.add({"tags": []}, {}, ("tags", "0")) == {"tags": [""]}


def test_a_schema_with_more_branches_than_can_be_judged_has_a_form_all_the_same() -> None:
    branches = [
        {"properties": {"kind": {"const": f"{a}-{b}"}}, "required": ["kind", "x"]}
        for a in range(100)
        for b in range(20)
    ]
    unions = {f"u{number}": {"anyOf": branches} for number in range(50)}
    value = {name: {"kind": "99-19"} for name in unions}
    found = described({"type": "object", "properties": unions}, value)
    assert all(found[f"/{name}"]["alternatives"] for name in unions)
