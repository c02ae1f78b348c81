"""A schema that the author wrote: published as written, enforced in full, typed parameters."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, cast

import msgspec
import pytest
from pydantic import BaseModel, Field

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Context, Tool

FIND_RESOURCE: dict[str, Any] = {
    "type": "object",
    "oneOf": [
        {"properties": {"id": {"type": "string", "format": "uuid"}}, "required": ["id"]},
        {"properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]},
    ],
}
ID = "12345678-1234-5678-1234-567812345678"


def find_resource(id: str | None = None, name: str | None = None) -> str:
    return f"id {id}" if id is not None else f"name {name}"


def test_it_is_published_exactly_as_written() -> None:
    written: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Kept",
        "type": "object",
        "$defs": {"unused": {"const": None}},
        "properties": {"id": {"default": None, "$comment": "x"}},
        "x-anything": [1, None],
    }
    before = copy.deepcopy(written)

    def tool(id: Any = None) -> None: ...

    listed = Tool.from_function(tool, input_schema=written).listing.input_schema
    assert listed == before
    assert list(listed) == list(before)
    written["properties"]["id"]["default"] = 1
    assert listed == before


async def test_the_composition_of_the_specification_is_enforced(call: Any) -> None:
    tool = Tool.from_function(find_resource, input_schema=FIND_RESOURCE)
    assert tool.listing.input_schema == FIND_RESOURCE
    assert (await call(tool, {"id": ID})).value == f"id {ID}"
    assert (await call(tool, {"name": "x"})).value == "name x"
    for refused in ({}, {"id": ID, "name": "x"}, {"name": ""}, {"id": "x"}, {"name": 1}):
        assert (await call(tool, refused)).is_error, refused


async def test_a_condition_is_enforced(call: Any) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"kind": {"enum": ["card", "cash"]}, "number": {"type": "string"}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "card"}}},
        "then": {"required": ["number"]},
        "additionalProperties": False,
    }

    def pay(kind: str, number: str | None = None) -> str:
        return kind

    tool = Tool.from_function(pay, input_schema=schema)
    assert (await call(tool, {"kind": "cash"})).value == "cash"
    assert (await call(tool, {"kind": "card"})).is_error
    assert (await call(tool, {"kind": "card", "number": "1"})).value == "card"


class Point(BaseModel):
    x: int
    y: int


async def test_the_function_still_gets_its_types(call: Any) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"when": {"type": "string"}, "at": {"type": "object"}},
        "required": ["when", "at"],
    }

    def tool(when: datetime.date, at: Point, count: int = 0) -> list[Any]:
        return [type(when).__name__, type(at).__name__, count]

    made = Tool.from_function(tool, input_schema=schema)
    good: dict[str, Any] = {"when": "2026-01-02", "at": {"x": 1.0, "y": 2}}
    assert (await call(made, good)).value == ["date", "Point", 0]
    assert (await call(made, {**good, "when": "soon"})).is_error
    assert (await call(made, {**good, "at": {"x": "1", "y": 2}})).is_error
    assert (await call(made, {**good, "count": "3"})).is_error


async def test_a_looser_schema_does_not_loosen_the_types(call: Any) -> None:
    def tool(number: int) -> int:
        return number

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"number": {}},
        "required": ["number"],
    }
    made = Tool.from_function(tool, input_schema=schema)
    assert (await call(made, {"number": 1.0})).value == 1
    others: list[Any] = ["1", None, True, 1.5, []]
    for refused in others:
        outcome = await call(made, {"number": refused})
        assert outcome.is_error, refused
        assert "/number" in outcome.text


class Step(BaseModel):
    x: int
    y: int


async def test_what_only_a_type_misses_is_named(call: Any) -> None:
    def tool(step: Step, pair: tuple[int, int] = (0, 0)) -> int:
        return step.x

    made = Tool.from_function(tool, input_schema={"type": "object", "required": ["step"]})
    outcome = await call(made, {"step": {"x": 1}, "pair": [1]})
    assert (outcome.is_error, outcome.text) == (
        True,
        '/step: missing required property "y"\n/pair: missing required item 1',
    )


class Line(msgspec.Struct):
    count: int
    parts: list[Line] = []


async def test_a_looser_schema_does_not_loosen_structs(call: Any) -> None:
    def tool(line: Line) -> int:
        return line.count

    schema: dict[str, Any] = {"type": "object", "required": ["line"]}
    made = Tool.from_function(tool, input_schema=schema)
    assert (await call(made, {"line": {"count": 1.0}})).value == 1
    outcome = await call(made, {"line": {"count": 1, "parts": [{"count": "x"}]}})
    assert (outcome.is_error, outcome.text) == (
        True,
        "/line/parts/0/count: Expected `int`, got `str`",
    )
    assert (await call(made, {"line": {"count": 1.5}})).is_error


@pytest.mark.parametrize("annotation", [dict, dict[str, Any], Mapping[str, object]], ids=str)
async def test_one_dict_takes_all_arguments(call: Any, annotation: Any) -> None:
    def tool(arguments: Any, context: Context) -> list[str]:
        return sorted(arguments)

    tool.__annotations__["arguments"] = annotation
    made = Tool.from_function(tool, input_schema=FIND_RESOURCE)
    assert (await call(made, {"id": ID, "other": 1})).value == ["id", "other"]
    assert (await call(made, {})).is_error


async def test_a_dict_that_the_schema_names_is_a_parameter(call: Any) -> None:
    def tool(filters: dict[str, Any]) -> list[str]:
        return list(filters)

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"filters": {"type": "object"}},
        "required": ["filters"],
    }
    made = Tool.from_function(tool, input_schema=schema)
    assert (await call(made, {"filters": {"a": 1}})).value == ["a"]


def test_a_dict_that_the_schema_names_beside_others_is_told_to_take_another_name() -> None:
    def evaluate(args: dict[str, Any]) -> None:
        pass

    schema = {"type": "object", "properties": {"args": {"type": "object"}, "page": {}}}
    with pytest.raises(ToolDefinitionError, match="one dict under a name that no argument has"):
        Tool.from_function(evaluate, input_schema=schema)


async def test_a_dict_that_an_alternative_names_is_a_parameter(call: Any) -> None:
    def tool(filters: dict[str, Any]) -> list[str]:
        return list(filters)

    alternative = {"properties": {"filters": {"type": "object"}}, "required": ["filters"]}
    schema: dict[str, Any] = {"type": "object", "anyOf": [alternative, dict(alternative)]}
    made = Tool.from_function(tool, input_schema=schema)
    assert (await call(made, {"filters": {"a": 1}})).value == ["a"]


async def test_double_star_takes_the_names_the_schema_leaves_open(call: Any) -> None:
    def tool(id: int, **labels: str) -> dict[str, Any]:
        return {"id": id, **labels}

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
        "additionalProperties": {"type": "string"},
    }
    made = Tool.from_function(tool, input_schema=schema)
    assert (await call(made, {"id": 1, "a": "x"})).value == {"id": 1, "a": "x"}
    assert (await call(made, {"id": 1, "a": 2})).is_error


async def test_a_name_that_only_an_open_schema_admits_is_refused_when_it_comes(call: Any) -> None:
    made = Tool.from_function(find_resource, input_schema=FIND_RESOURCE)
    outcome = await call(made, {"name": "x", "nmae": "y"})
    assert outcome.is_error
    assert outcome.text == (
        "/nmae: expected an argument this tool takes, got an unknown one; did you mean 'name'?"
    )


async def test_an_alias_is_the_name_the_schema_knows(call: Any) -> None:
    def tool(source: Annotated[str, Field(alias="from")]) -> str:
        return source

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"from": {"type": "string"}},
        "required": ["from"],
        "additionalProperties": False,
    }
    assert (await call(tool, {"from": "here"}, input_schema=schema)).value == "here"


def one(a: str) -> None: ...
def maybe(a: str | None = None) -> None: ...
def two(a: str | None = None, b: str | None = None) -> None: ...


REQUIRED: dict[str, Any] = {"required": ["a"]}
CLOSED_A: dict[str, Any] = {"properties": {"a": {}}, "additionalProperties": False}


AGREEING: list[tuple[Any, dict[str, Any]]] = [
    (one, {"properties": {"a": {}}, **REQUIRED}),
    (one, {"properties": {"a": {}}, "allOf": [REQUIRED]}),
    (one, {"anyOf": [REQUIRED, {"required": ["a"], "properties": {"a": {"const": 1}}}]}),
    (one, {"$ref": "#/$defs/a", "$defs": {"a": REQUIRED}}),
    (one, {"$ref": "#a", "$defs": {"a": {"$anchor": "a", **REQUIRED}}}),
    (one, {"if": {"properties": {"a": {"const": 1}}}, "then": REQUIRED, "else": REQUIRED}),
    (one, {"if": REQUIRED, "else": REQUIRED}),
    (one, {"not": {}, **CLOSED_A, "required": ["a"]}),
    (maybe, CLOSED_A),
    (maybe, {}),
    (maybe, {"patternProperties": {"^a$": {}}, "additionalProperties": False}),
    (maybe, {"patternProperties": {"^[ab]$": {}}, "additionalProperties": False}),
    (maybe, {"properties": {"a": {}, "b": False}}),
    (maybe, {"properties": {"a": {}}, "not": {"required": ["b"]}}),
    (maybe, {"properties": {"a": {}, "b": {}}, "propertyNames": {"enum": ["a"]}}),
    (maybe, {"allOf": [{"properties": {"b": {}}}, CLOSED_A]}),
    (maybe, {"properties": {"a": {}}, "additionalProperties": True}),
    (maybe, {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}),
    (two, {"dependentRequired": {"a": ["b"]}}),
    (two, {"dependentSchemas": {"a": {"properties": {"b": {}}}}}),
    (two, {"oneOf": [CLOSED_A, {"properties": {"b": {}}, "additionalProperties": False}]}),
    (
        maybe,
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "allOf": [{"$ref": "#/definitions/x", "properties": {"b": {}}}],
            "definitions": {"x": {"properties": {"a": {}}}},
        },
    ),
]


@pytest.mark.parametrize(("function", "schema"), AGREEING)
def test_a_schema_and_a_function_that_agree_are_accepted(
    function: Any, schema: dict[str, Any]
) -> None:
    Tool.from_function(function, input_schema={"type": "object", **schema})


DISAGREEING: list[tuple[Any, dict[str, Any], str]] = [
    (
        maybe,
        {"properties": {"a": {}, "b": {}}},
        r"maybe\(\): input_schema admits 'b'.*takes a\)",
    ),
    (maybe, {"oneOf": [{"properties": {"b": {}}}, {}]}, "admits 'b'"),
    (maybe, {"then": {"properties": {"b": {}}}, "if": True}, "admits 'b'"),
    (maybe, {"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"b": {}}}}}, "admits 'b'"),
    (maybe, {"required": ["b"]}, "admits 'b'"),
    (maybe, {"dependentRequired": {"a": ["b"]}}, "admits 'b'"),
    (maybe, {"dependentSchemas": {"a": {"properties": {"b": {}}}}}, "admits 'b'"),
    (maybe, {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, "any kind"),
    (maybe, {"unevaluatedProperties": {"type": "string"}}, "through unevaluatedProperties"),
    (maybe, {"patternProperties": {"^x-": {}}}, "any kind through patternProperties"),
    (maybe, {"patternProperties": {"_at$": {}}}, "any kind through patternProperties"),
    (maybe, {"patternProperties": {".*": {"type": "string"}}}, "through patternProperties"),
    (maybe, {"patternProperties": {"^b$": {}}}, "admits 'b'"),
    (one, {"properties": {"a": {}}}, r"parameter 'a' has no default.*add it to required"),
    (one, {"anyOf": [REQUIRED, {}]}, "parameter 'a' has no default"),
    (one, {"if": {}, "then": REQUIRED}, "parameter 'a' has no default"),
    (one, {"allOf": [{"oneOf": [REQUIRED, {"minProperties": 1}]}]}, "parameter 'a' has no"),
    (maybe, {"additionalProperties": False}, r"parameter 'a' can never be given"),
    (maybe, {"properties": {"a": False}}, "parameter 'a' can never be given"),
    (maybe, {"maxProperties": 0}, "parameter 'a' can never be given"),
    (maybe, {"propertyNames": {"const": "z"}}, "parameter 'a' can never be given"),
    (maybe, {"not": {"required": ["a"]}}, "parameter 'a' can never be given"),
    (maybe, {"unevaluatedProperties": False}, "parameter 'a' can never be given"),
    (maybe, {"allOf": [{"additionalProperties": False}]}, "parameter 'a' can never be given"),
    (
        maybe,
        {"patternProperties": {"^x": {}}, "additionalProperties": False},
        "parameter 'a' can never be given",
    ),
    (
        maybe,
        {"if": {"properties": {"a": False}}, "else": {"maxProperties": 0}},
        "parameter 'a' can never be given",
    ),
    (two, CLOSED_A, "parameter 'b' can never be given"),
]


@pytest.mark.parametrize(("function", "schema", "message"), DISAGREEING)
def test_a_schema_and_a_function_that_disagree_are_refused_at_definition(
    function: Any, schema: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        Tool.from_function(function, input_schema={"type": "object", **schema})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "array"},
        {"type": ["object", "null"]},
        {"type": "object", "properties": 3},
        {"type": "object", "$ref": "#/$defs/none"},
        {"type": "object", "$ref": "https://example.com/schema.json"},
        {"type": "object", "$schema": "https://example.com/dialect"},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
        True,
        None,
        [],
        "object",
    ],
    ids=str,
)
def test_a_document_that_is_no_input_schema_is_refused_at_definition(schema: Any) -> None:
    def tool(arguments: dict[str, Any]) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"tool\(\)"):
        Tool(name="tool", handler=tool, input_schema=schema)
    if schema is not None:
        with pytest.raises(ToolDefinitionError, match=r"tool\(\)"):
            Tool.from_function(tool, input_schema=schema)


def test_a_class_is_no_input_schema_but_parameters() -> None:
    def tool(arguments: dict[str, Any]) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"input_schema .* a class; take its fields"):
        Tool.from_function(tool, input_schema=cast("Any", Step))


def test_any_mapping_will_do_as_a_document() -> None:
    properties: Mapping[str, Any] = MappingProxyType[str, Any]({"a": {}})
    document: Mapping[str, Any] = MappingProxyType(
        {"type": "object", "properties": properties, "required": ("a",)}
    )
    expected: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "required": ["a"]}
    assert Tool.from_function(one, input_schema=document).listing.input_schema == expected
    tool = Tool.from_function(lambda: 1, name="a", output_schema=document)
    assert tool.listing.output_schema == expected


def test_what_is_not_json_inside_a_document_is_named() -> None:
    for keyword in ("input_schema", "output_schema"):
        written: dict[str, Any] = {keyword: {"type": "object", "x-lock": object()}}
        with pytest.raises(ToolDefinitionError, match=rf"maybe\(\): {keyword}: .* /x-lock:"):
            Tool.from_function(maybe, **written)


def test_a_document_changed_later_changes_no_tool() -> None:
    document: dict[str, Any] = {"type": "object", "properties": {"a": {}}}
    tool = Tool.from_function(maybe, input_schema=document, output_schema=document)
    document["properties"]["b"] = {}
    assert tool.listing.input_schema == {"type": "object", "properties": {"a": {}}}
    assert tool.listing.output_schema == {"type": "object", "properties": {"a": {}}}


async def test_a_header_annotation_in_a_written_schema_is_planned(call: Any) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"type": "string", "x-mcp-header": "Region"}},
    }
    assert [entry.header for entry in Tool.from_function(maybe, input_schema=schema).headers] == [
        "mcp-param-region"
    ]
    schema["properties"]["a"]["x-mcp-header"] = "not a token"
    with pytest.raises(ToolDefinitionError, match="x-mcp-header"):
        Tool.from_function(maybe, input_schema=schema)


async def test_a_tool_made_by_hand_is_checked_and_called_alike(call: Any) -> None:
    async def handler(arguments: dict[str, Any], context: Context) -> Any:
        return [arguments, context.request_id]

    tool = Tool(
        name="by.hand",
        title="By hand",
        handler=handler,
        input_schema=FIND_RESOURCE,
        output_schema={"type": "array", "prefixItems": [{"type": "object"}]},
    )
    assert tool.listing.input_schema == FIND_RESOURCE
    assert tool.listing.output_schema == {"type": "array", "prefixItems": [{"type": "object"}]}
    outcome = await call(tool, {"name": "x"}, context=Context(request_id=5))
    assert outcome.value == [{"name": "x"}, 5]
    assert (await call(tool, {})).is_error


def test_a_handler_with_several_parameters_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match=r"Tool\.from_function"):
        Tool(name="tool", handler=two, input_schema={"type": "object"})


@pytest.mark.parametrize("uri", ["https://example.com/user.json", "user.json"])
def test_a_reference_out_of_the_document_is_refused_with_what_an_author_can_do(uri: str) -> None:
    def tool(**arguments: Any) -> None: ...

    schema = {"type": "object", "properties": {"user": {"$ref": uri}}}
    with pytest.raises(
        ToolDefinitionError, match=r"/properties/user/\$ref: .* under \$defs"
    ) as raised:
        Tool.from_function(tool, input_schema=schema)
    assert uri in str(raised.value)
    assert "resources=" not in str(raised.value)
    with pytest.raises(ToolDefinitionError, match=r"output_schema at /\$ref: .* under \$defs"):
        Tool.from_function(tool, input_schema={"type": "object"}, output_schema={"$ref": uri})


@pytest.mark.parametrize("part", [{"type": "strin"}, {"pattern": "("}, {"minimum": "x"}])
def test_the_place_of_a_mistake_is_said_once(part: dict[str, Any]) -> None:
    def tool(a: str) -> None: ...

    schema = {"type": "object", "properties": {"a": part}, "required": ["a"]}
    (keyword,) = part
    with pytest.raises(ToolDefinitionError) as caught:
        Tool.from_function(tool, input_schema=schema)
    assert str(caught.value).count(f"/properties/a/{keyword}") == 1
