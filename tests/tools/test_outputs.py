"""Every public return type, from definition to call."""

from __future__ import annotations

import collections
import datetime
import enum
import itertools
import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Generic, Literal, NamedTuple, NoReturn, TypeVar, cast
from uuid import UUID

import jsonschema
import msgspec
import pytest
import typing_extensions
from pydantic import BaseModel, Field, computed_field

from anyshape.errors import ToolDefinitionError
from anyshape.protocol.content import Audio, EmbeddedResource, Image, ResourceLink, Text
from anyshape.protocol.result import ABSENT, ToolResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import shape
from anyshape.protocol.shapes.result_reader import result_reader
from anyshape.tools import UNSTRUCTURED, Tool

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Forecast(BaseModel):
    hour: str
    temp: int


class Person(typing_extensions.TypedDict):
    name: str
    age: typing_extensions.NotRequired[int]


class Custom:
    """Something that no library has a schema for."""


class Spot(NamedTuple):
    x: int
    label: str


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list["Tree"])


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Page(BaseModel, Generic[T]):
    items: list[T]


class Account(BaseModel):
    user_id: int = Field(alias="userId")

    @computed_field
    @property
    def label(self) -> str:
        return f"#{self.user_id}"


class Line(msgspec.Struct, rename="camel"):
    unit_price: Decimal
    when: datetime.date | None = None


class Branch(msgspec.Struct):
    name: str
    branches: list[Branch] = []


NAIVE = datetime.datetime(2026, 7, 28, 10, 30)
UUID_TEXT = "12345678-1234-5678-1234-567812345678"
FORECAST: dict[str, Any] = {
    "type": "object",
    "properties": {"hour": {"type": "string"}, "temp": {"type": "integer"}},
    "required": ["hour", "temp"],
}

STRUCTURED: list[tuple[Any, Any, Any, Any]] = [
    (int, 42, {"type": "integer"}, 42),
    (str, "Paris", {"type": "string"}, "Paris"),
    (bool, False, {"type": "boolean"}, False),
    (float, 1.5, {"type": "number"}, 1.5),
    (None, None, {"type": "null"}, None),
    (list[str], [], {"type": "array", "items": {"type": "string"}}, []),
    (
        list[Forecast],
        [Forecast(hour="09:00", temp=68)],
        {"type": "array", "items": FORECAST},
        [{"hour": "09:00", "temp": 68}],
    ),
    (Forecast | None, None, {"anyOf": [FORECAST, {"type": "null"}]}, None),
    (int | str, "x", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x"),
    (
        dict[str, int],
        {"a": 1},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"a": 1},
    ),
    (dict, {"a": [None]}, {"type": "object"}, {"a": [None]}),
    (
        Any,
        {"when": NAIVE, "who": Forecast(hour="1", temp=1)},
        {},
        {"when": "2026-07-28T10:30:00", "who": {"hour": "1", "temp": 1}},
    ),
    (object, [1], {}, [1]),
    (
        Tree,
        Tree(1, [Tree(2)]),
        {
            "$ref": "#/$defs/Tree",
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "integer"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                    },
                    "required": ["value"],
                }
            },
        },
        {"value": 1, "children": [{"value": 2, "children": []}]},
    ),
    (
        Person,
        {"name": "Ann"},
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
        },
        {"name": "Ann"},
    ),
    (
        Spot,
        Spot(1, "a"),
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
        },
        [1, "a"],
    ),
    (Colour, Colour.RED, {"type": "string", "enum": ["red", "blue"]}, "red"),
    (Level, Level.LOW, {"type": "integer", "enum": [1]}, 1),
    (Literal["a", "b"], "a", {"type": "string", "enum": ["a", "b"]}, "a"),
    (datetime.date, NAIVE.date(), {"type": "string", "format": "date"}, "2026-07-28"),
    (
        datetime.datetime,
        NAIVE,
        {"type": "string", "format": "date-time"},
        "2026-07-28T10:30:00",
    ),
    (
        datetime.datetime,
        NAIVE.replace(tzinfo=datetime.UTC),
        {"type": "string", "format": "date-time"},
        "2026-07-28T10:30:00Z",
    ),
    (datetime.time, datetime.time(1, 2), {"type": "string", "format": "time"}, "01:02:00"),
    (
        datetime.timedelta,
        datetime.timedelta(days=-1),
        {"type": "string", "format": "duration"},
        "-P1D",
    ),
    (UUID, UUID(UUID_TEXT), {"type": "string", "format": "uuid"}, UUID_TEXT),
    (bytes, b"abc", {"type": "string", "format": "binary"}, "abc"),
    (Path, Path("a"), {"type": "string", "format": "path"}, "a"),
    (set[int], {3}, {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [3]),
    (
        frozenset[str],
        frozenset({"a"}),
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        ["a"],
    ),
    (tuple[int, ...], (1, 2), {"type": "array", "items": {"type": "integer"}}, [1, 2]),
    (
        tuple[int, str],
        (1, "a"),
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
        },
        [1, "a"],
    ),
    (Sequence[int], (1,), {"type": "array", "items": {"type": "integer"}}, [1]),
    (
        Mapping[str, int],
        {"a": 1},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"a": 1},
    ),
    (
        dict[int, str],
        {1: "a"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"1": "a"},
    ),
    (
        Page[Forecast],
        Page[Forecast](items=[]),
        {
            "type": "object",
            "properties": {"items": {"type": "array", "items": FORECAST}},
            "required": ["items"],
        },
        {"items": []},
    ),
    (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        Dog(),
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "kind": {"type": "string", "const": "cat", "default": "cat"},
                        "lives": {"type": "integer"},
                    },
                    "required": ["kind", "lives"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"type": "string", "const": "dog", "default": "dog"}},
                    "required": ["kind"],
                },
            ]
        },
        {"kind": "dog"},
    ),
    (
        Account,
        Account(userId=7),
        {
            "type": "object",
            "properties": {
                "userId": {"type": "integer"},
                "label": {"type": "string", "readOnly": True},
            },
            "required": ["userId", "label"],
        },
        {"userId": 7, "label": "#7"},
    ),
    (
        list[Line],
        [Line(Decimal("1.50"))],
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "unitPrice": {"type": "string", "format": "decimal"},
                    "when": {
                        "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                        "default": None,
                    },
                },
                "required": ["unitPrice"],
            },
        },
        [{"unitPrice": "1.50", "when": None}],
    ),
    (
        Branch,
        Branch("a", [Branch("b")]),
        {
            "$ref": "#/$defs/Branch",
            "$defs": {
                "Branch": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "branches": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/Branch"},
                            "default": [],
                        },
                    },
                    "required": ["name"],
                }
            },
        },
        {"name": "a", "branches": [{"name": "b", "branches": []}]},
    ),
    (ToolResult[int], ToolResult(3), {"type": "integer"}, 3),
    (int | ToolResult[int], 3, {"type": "integer"}, 3),
    (
        Forecast | ToolResult[Any],
        Forecast(hour="1", temp=1),
        {"anyOf": [FORECAST, {}]},
        {"hour": "1", "temp": 1},
    ),
]


def returning(annotation: Any, value: Any) -> Callable[[], Any]:
    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    return tool


@pytest.mark.parametrize(("annotation", "value", "schema", "sent"), STRUCTURED, ids=str)
async def test_a_value_is_published_and_sent_in_its_natural_shape(
    call: Any, annotation: Any, value: Any, schema: Any, sent: Any
) -> None:
    tool = Tool.from_function(returning(annotation, value))
    assert tool.listing.output_schema == schema
    outcome = await call(tool)
    assert not outcome.is_error
    assert (outcome.value, outcome.content) == (sent, [])
    assert type(outcome.value) is type(sent)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(outcome.value)  # pyright: ignore[reportUnknownMemberType]  # its stubs are partial


@pytest.mark.parametrize(
    ("annotation", "value", "sent"),
    [
        (Mapping[str, int], MappingProxyType({"a": 1}), {"a": 1}),
        (Mapping[str, int], collections.ChainMap({"a": 1}, {"b": 2}), {"a": 1, "b": 2}),
        (
            list[Mapping[str, Forecast]],
            [MappingProxyType({"a": Forecast(hour="1", temp=1)})],
            [{"a": {"hour": "1", "temp": 1}}],
        ),
        (
            dict[str, Mapping[str, Any]],
            {"a": MappingProxyType({"b": MappingProxyType({"c": 1})})},
            {"a": {"b": {"c": 1}}},
        ),
        (
            Sequence[datetime.date],
            collections.UserList([datetime.date(2026, 1, 2)]),
            ["2026-01-02"],
        ),
        (Mapping[str, Any], {"a": collections.UserList([1])}, {"a": [1]}),
    ],
    ids=repr,
)
async def test_mappings_and_sequences_of_any_class_are_objects_and_arrays(
    call: Any, annotation: Any, value: Any, sent: Any
) -> None:
    outcome = await call(returning(annotation, value))
    assert outcome.value == sent


class Array:
    """What numpy's numbers and arrays, and pandas' columns, have in common: it says what it is."""

    def __init__(self, holds: Any) -> None:
        self._holds = holds

    def __repr__(self) -> str:
        return f"Array({self._holds})"

    def tolist(self) -> Any:
        return self._holds


class Frame:
    """A table, which Python takes for a collection of the names of its columns."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __contains__(self, name: object) -> bool:
        return name == "a"


@dataclass
class Measured:
    count: int
    parts: list[float]


@pytest.mark.parametrize(
    ("annotation", "value", "sent"),
    [
        (int, Array(3), 3),
        (bool, Array(True), True),
        (list[list[int]], Array([[1], [2]]), [[1], [2]]),
        (dict[str, Any], {"a": Array(1.5), "b": [Array([1])]}, {"a": 1.5, "b": [[1]]}),
        (dict[str, int], {"a": Array(1)}, {"a": 1}),
        (list[datetime.date], Array([datetime.date(2026, 1, 2)]), ["2026-01-02"]),
        (Measured, Measured(cast("Any", Array(1)), cast("Any", Array([0.5]))), None),
    ],
    ids=str,
)
async def test_numbers_and_arrays_of_other_libraries_are_what_they_hold(
    call: Any, annotation: Any, value: Any, sent: Any
) -> None:
    outcome = await call(returning(annotation, value))
    assert outcome.value == (sent or {"count": 1, "parts": [0.5]})
    assert type(outcome.value) is type(sent or {})


@pytest.mark.parametrize("annotation", [Any, list[str], dict[str, Any], "none"], ids=str)
async def test_a_collection_that_holds_more_than_it_lists_is_refused(
    call: Any, annotation: Any, caplog: pytest.LogCaptureFixture
) -> None:
    value = {"a": Frame()} if annotation == dict[str, Any] else Frame()
    tool = untyped(value) if annotation == "none" else returning(annotation, value)
    assert (await call(tool)).is_error
    assert "Frame is no JSON type; make a dict, a list or a model" in caplog.text


def test_a_decimal_is_a_string(call: Any) -> None:
    schema: Any = Tool.from_function(returning(Decimal, Decimal(1))).listing.output_schema
    assert schema["type"] == "string"


IMAGE = Image(b"\x89PNG", "image/png")
CONTENT: list[tuple[Any, Any, list[str]]] = [
    (Text, Text("a"), ["text"]),
    (Image, IMAGE, ["image"]),
    (Audio, Audio(b"x", "audio/wav"), ["audio"]),
    (ResourceLink, ResourceLink("file:///a", "a"), ["resource_link"]),
    (EmbeddedResource, EmbeddedResource("file:///a", text="x"), ["resource"]),
    (list[Image], [IMAGE, IMAGE], ["image", "image"]),
    (list[Image], [], []),
    (list[Text | Image], [Text("a"), IMAGE], ["text", "image"]),
    (list[str | Image], ["a", IMAGE], ["text", "image"]),
    (list[str | Image], ["a", "b"], ["text", "text"]),
    (tuple[Text, Image], (Text("a"), IMAGE), ["text", "image"]),
    (Sequence[Image], (IMAGE,), ["image"]),
    (Text | Image, IMAGE, ["image"]),
    (str | Image, "a", ["text"]),
    (Image | None, None, []),
    (list[Image] | None, [IMAGE], ["image"]),
    (Annotated[Image, "a picture"], IMAGE, ["image"]),
]


@pytest.mark.parametrize(("annotation", "value", "kinds"), CONTENT, ids=str)
async def test_content_is_unstructured(
    call: Any, annotation: Any, value: Any, kinds: list[str]
) -> None:
    tool = Tool.from_function(returning(annotation, value))
    assert tool.listing.output_schema is ABSENT
    assert tool.output is None
    outcome = await call(tool)
    assert not outcome.is_error
    assert outcome.value is ABSENT
    assert [block["type"] for block in outcome.content] == kinds


async def test_a_tool_that_promised_content_and_returns_none_of_it_fails(call: Any) -> None:
    outcome = await call(returning(list[Image], [1]))
    assert outcome.is_error


@pytest.mark.parametrize("annotation", [Any, list, list[Any]], ids=str)
async def test_content_from_a_tool_that_promised_a_value_is_an_error_with_the_fix(
    call: Any, annotation: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await call(returning(annotation, [IMAGE]))).is_error
    assert "ToolResult(structured=" in caplog.text


@pytest.mark.parametrize(
    "annotation",
    [Image | int, list[Image | int], Forecast | Text, dict[str, Image], list[dict[str, Text]]],
    ids=str,
)
def test_content_and_values_do_not_mix_in_one_annotation(annotation: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"tool\(\).*return ToolResult"):
        Tool.from_function(returning(annotation, None))


def untyped(value: Any) -> Any:
    async def tool():  # the point
        return value

    return tool


class Words(str):
    __slots__ = ()


class Count(int):
    pass


class Share(float):
    pass


BY_VALUE: list[tuple[Any, Any, list[Any]]] = [
    ("Hello", ABSENT, [{"type": "text", "text": "Hello"}]),
    (None, None, []),
    ([], [], []),
    (0, 0, []),
    (["a", "b"], ["a", "b"], []),
    ({"a": NAIVE}, {"a": "2026-07-28T10:30:00"}, []),
    (Forecast(hour="1", temp=1), {"hour": "1", "temp": 1}, []),
    (Tree(1), {"value": 1, "children": []}, []),
    (Line(Decimal(1)), {"unitPrice": 1, "when": None}, []),
    (Text("a"), ABSENT, [{"type": "text", "text": "a"}]),
    (["a", Text("b")], ABSENT, [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    (ToolResult(structured=None), None, []),
    ({1, 2}, [1, 2], []),
    (collections.deque([1]), [1], []),
    (MappingProxyType({"a": 1}), {"a": 1}, []),
    (collections.OrderedDict(a=1), {"a": 1}, []),
    ({"n": Decimal("1.5")}, {"n": 1.5}, []),
    ({"n": Decimal("1.5"), "when": NAIVE}, {"n": 1.5, "when": "2026-07-28T10:30:00"}, []),
    ({"b": b"\xff"}, {"b": "/w=="}, []),
    ({1: "a"}, {"1": "a"}, []),
    (10**30, 10**30, []),
    (Colour.RED, "red", []),
]


@pytest.mark.parametrize(("value", "sent", "content"), BY_VALUE, ids=str)
async def test_without_an_annotation_a_value_is_what_it_is(
    call: Any, value: Any, sent: Any, content: Any
) -> None:
    tool = Tool.from_function(untyped(value))
    assert tool.listing.output_schema is ABSENT
    outcome = await call(tool)
    assert (outcome.value, outcome.content, outcome.is_error) == (sent, content, False)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (str, "Hello", "Hello"),
        (int, 3, "3"),
        (dict[str, int], {"a": 1}, '{"a":1}'),
        (list[Forecast], [], "[]"),
        (Forecast, Forecast(hour="1", temp=1), '{"hour":"1","temp":1}'),
        (Custom, "x", "x"),
    ],
    ids=str,
)
async def test_unstructured_publishes_no_schema_and_sends_text_alone(
    call: Any, annotation: Any, value: Any, text: str
) -> None:
    tool = Tool.from_function(returning(annotation, value), output_schema=UNSTRUCTURED)
    assert tool.listing.output_schema is ABSENT
    outcome = await call(tool)
    assert (outcome.value, outcome.text, outcome.is_error) == (ABSENT, text, False)


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        (ToolResult(structured={"a": 1}), ['{"a":1}']),
        (ToolResult(structured=None), ["null"]),
        (ToolResult(structured="a"), ["a"]),
        (ToolResult(structured={"a": 1}, content=[Text("One.")]), ["One.", '{"a":1}']),
        (ToolResult(structured=[1], content=[Text("[1]")]), ["[1]"]),
        (ToolResult(structured=[1], is_error=True), ["[1]"]),
        (ToolResult[Any](content=[Text("One.")]), ["One."]),
    ],
    ids=repr,
)
async def test_an_unstructured_tool_sends_no_structured_content_whatever_it_returns(
    call: Any, result: ToolResult[Any], texts: list[str]
) -> None:
    outcome = await call(returning(ToolResult, result), output_schema=UNSTRUCTURED)
    assert outcome.value is ABSENT
    assert [block["text"] for block in outcome.content] == texts
    assert outcome.is_error is result.is_error


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "array"},
        {"type": ["object", "null"]},
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        {"const": None},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "integer"},
    ],
    ids=str,
)
def test_any_schema_document_is_an_output_schema_as_written(schema: Any) -> None:
    tool = Tool.from_function(returning(Any, 1), output_schema=schema)
    assert tool.listing.output_schema == schema
    assert type(tool.listing.output_schema) is type(schema)


@pytest.mark.parametrize(
    "schema",
    [None, 3, 1.5, "string", [], [{"type": "string"}], {"type": "nothing"}, {"$ref": "#/x"}],
)
def test_what_is_no_schema_document_is_refused_at_definition(schema: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"tool\(\).*output_schema"):
        Tool.from_function(returning(Any, 1), output_schema=schema)


def test_a_class_is_no_output_schema_but_a_return_type() -> None:
    with pytest.raises(ToolDefinitionError, match=r"output_schema .* a class; .* return type"):
        Tool.from_function(returning(Any, 1), output_schema=cast("Any", Forecast))


async def test_a_written_output_schema_judges_the_serialized_value(call: Any) -> None:
    schema = {"type": "object", "properties": {"temp": {"maximum": 50}}, "required": ["hour"]}
    good = returning(Forecast, Forecast(hour="1", temp=10))
    bad = returning(Forecast, Forecast(hour="1", temp=100))
    assert (await call(good, output_schema=schema)).value == {"hour": "1", "temp": 10}
    assert (await call(bad, output_schema=schema)).is_error


async def test_nothing_satisfies_false_and_everything_true(call: Any) -> None:
    assert (await call(returning(int, 1), output_schema=False)).is_error
    assert (await call(returning(int, None), output_schema=True)).value is None


def test_a_function_that_never_returns_promises_nothing() -> None:
    assert Tool.from_function(returning(NoReturn, None)).listing.output_schema is False


@pytest.mark.parametrize(
    "annotation",
    [Custom, list[Custom], Custom | int, Callable[[], int], dict[str, Custom], type[int], type],
    ids=str,
)
def test_a_return_type_without_a_schema_is_refused_with_the_fix(annotation: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"tool\(\): return type.*output_schema="):
        Tool.from_function(returning(annotation, None))


def test_content_with_an_output_schema_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="no output_schema describes"):
        Tool.from_function(returning(Image, None), output_schema={"type": "object"})


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "3"),
        (int, None),
        (list[int], [1, "2"]),
        (Forecast, {"hour": "1"}),
        (Forecast, Forecast.model_construct(hour=3, temp="x")),
        (Person, {"age": 3}),
        (Line, {"unitPrice": 3}),
        (Literal["a"], "b"),
        (Annotated[int, Field(le=3)], 4),
    ],
    ids=str,
)
async def test_a_value_that_breaks_its_schema_is_a_generic_error_and_a_log_entry(
    call: Any, annotation: Any, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "anyshape.tools"):
        outcome = await call(returning(annotation, value))
    assert outcome.is_error
    assert outcome.value is ABSENT
    assert outcome.text == (
        "The tool returned a result that it should not; the server's log says more."
    )
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "tool tool returned a value that is not what its output schema says: "
    )


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize("annotation", [Any, list[Any], dict[str, Any], "none"], ids=str)
@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, "\ud800", object(), CYCLE, itertools.count()],
    ids=["nan", "inf", "surrogate", "object", "cycle", "iterator"],
)
async def test_a_value_that_is_not_json_is_a_generic_error(
    call: Any, annotation: Any, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    wrapped = {list[Any]: [value], dict[str, Any]: {"a": value}}.get(annotation, value)
    tool = untyped(wrapped) if annotation == "none" else returning(annotation, wrapped)
    outcome = await call(tool)
    assert outcome.is_error, outcome
    assert outcome.value is ABSENT
    assert "server's log" in outcome.text
    assert [record.levelname for record in caplog.records] == ["ERROR"]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (float, math.nan),
        (list[float], [math.inf]),
        (datetime.date | float, math.nan),
        (bytes, b"\xff"),
    ],
    ids=str,
)
async def test_a_typed_value_that_is_not_json_is_never_sent_as_something_else(
    call: Any, annotation: Any, value: Any
) -> None:
    assert (await call(returning(annotation, value))).is_error


class Measure(msgspec.Struct):
    value: float


async def test_a_struct_with_nan_is_not_sent_as_null(call: Any) -> None:
    assert (await call(returning(Measure, Measure(math.nan)))).is_error


async def test_a_tool_result_carries_all_it_says(call: Any) -> None:
    result: ToolResult[Any] = ToolResult(
        structured=[1], content=["one", IMAGE], meta={"example.com/a": 1}
    )
    outcome = await call(returning(ToolResult, result))
    assert outcome.value == [1]
    assert [block["type"] for block in outcome.content] == ["text", "image"]
    assert (outcome.meta, outcome.is_error) == ({"example.com/a": 1}, False)


async def test_absent_and_null_are_different(call: Any) -> None:
    assert (await call(returning(ToolResult, ToolResult()))).value is ABSENT
    assert (await call(returning(ToolResult, ToolResult(structured=None)))).value is None


async def test_a_tool_result_is_checked_against_the_schema(
    call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "integer"}

    async def of(result: ToolResult[Any]) -> Any:
        return await call(returning(ToolResult, result), output_schema=schema)

    assert (await of(ToolResult(structured=3))).value == 3
    assert (await of(ToolResult(structured="3"))).is_error
    assert (await of(ToolResult(content=["x"]))).is_error
    assert "promises" in caplog.text


async def test_an_error_result_is_never_judged_by_the_output_schema(call: Any) -> None:
    for result in (
        ToolResult[Any](content=["no such user"], is_error=True),
        ToolResult[Any](structured={"code": 3}, is_error=True),
    ):
        outcome = await call(
            returning(int | ToolResult[Any], result), output_schema={"type": "integer"}
        )
        assert outcome.is_error
        assert outcome.value == (ABSENT if result.structured is ABSENT else {"code": 3})
        assert "log" not in outcome.text


EVERY: list[tuple[Any, Any]] = [
    *((annotation, value) for annotation, value, _, _ in STRUCTURED),
    *((annotation, value) for annotation, value, _ in CONTENT),
    (Decimal, Decimal("1.5")),
]


@pytest.mark.parametrize("revision", list(Revision), ids=lambda revision: revision.value)
@pytest.mark.parametrize(("annotation", "value"), EVERY, ids=str)
async def test_what_each_revision_is_listed_validates_what_it_is_then_sent(
    annotation: Any, value: Any, revision: Revision
) -> None:
    tool = Tool.from_function(returning(annotation, value))
    natural = await tool.call()
    shaping = shape(revision)
    entry = shaping.entry(tool.listing)
    result: dict[str, Any] = json.loads(shaping.result_encoder(tool.listing.output_schema)(natural))
    assert "isError" not in result
    if "outputSchema" in entry:
        listed: Any = entry["outputSchema"]
        jsonschema.Draft202012Validator.check_schema(listed)
        jsonschema.Draft202012Validator(listed).validate(result["structuredContent"])  # pyright: ignore[reportUnknownMemberType]  # its stubs are partial
    else:
        assert "structuredContent" not in result
    if natural.structured is not None:
        text = natural.structured.decode()
        if text.startswith('"') and not revision.is_natural:
            text = json.loads(text)
        assert result["content"][-1] == {"type": "text", "text": text}
    read = result_reader(revision, entry.get("outputSchema", ABSENT))(result)
    if natural.structured is not None and revision.has_structured_content:
        assert read.value == json.loads(natural.structured)


async def test_every_value_comes_back_natural_through_a_client_of_any_age() -> None:
    from anyshape import Client, Server

    server = Server("every")
    for number, (annotation, value, _, _) in enumerate(STRUCTURED):
        server.tool(name=f"tool{number}")(returning(annotation, value))
    for revision in ("2026-07-28", "2025-11-25", "2025-06-18"):
        async with Client(server, revision=revision) as client:
            listed = await client.list_tools()
            assert not client.rejected
            assert len(listed) == len(STRUCTURED)
            for number, (_, _, _, sent) in enumerate(STRUCTURED):
                result = await client.call_tool(f"tool{number}")
                assert (result.is_error, result.has_value, result.value) == (False, True, sent)
