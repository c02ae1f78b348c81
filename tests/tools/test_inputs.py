"""Parameters become an input schema."""

from __future__ import annotations

import datetime
import enum
import sys
import typing
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import annotated_types
import attrs
import msgspec
import pytest
import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Context, Tool


def schema_of(function: Any, **options: Any) -> dict[str, Any]:
    return Tool.from_function(function, **options).listing.input_schema


def properties_of(function: Any) -> dict[str, Any]:
    return schema_of(function)["properties"]


def test_a_tool_without_parameters_takes_only_the_empty_object() -> None:
    def now() -> int:
        return 0

    assert schema_of(now) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_plain_parameters_make_a_closed_object_schema_in_declaration_order() -> None:
    def search(query: str, limit: int = 10, *, exact: bool = False, boost: float = 1.5) -> None: ...

    assert schema_of(search) == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "exact": {"type": "boolean", "default": False},
            "boost": {"type": "number", "default": 1.5},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert list(properties_of(search)) == ["query", "limit", "exact", "boost"]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place on the plane."""

    x: int
    y: int = 0


class Leaf(typing_extensions.TypedDict):
    name: str
    weight: typing.NotRequired[float]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (str, {"type": "string"}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (Literal[1, "a", None], {"enum": [1, "a", None]}),
        (Any, {}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (datetime.date, {"type": "string", "format": "date"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (
            Leaf,
            {
                "type": "object",
                "properties": {"name": {"type": "string"}, "weight": {"type": "number"}},
                "required": ["name"],
            },
        ),
        (
            Point,
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
                "required": ["x"],
                "description": "A place on the plane.",
            },
        ),
        (
            Annotated[int, Field(ge=1, le=5, description="Stars")],
            {"type": "integer", "minimum": 1, "maximum": 5, "description": "Stars"},
        ),
        (Annotated[str, "The words"], {"type": "string", "description": "The words"}),
        (
            Annotated[str, typing_extensions.Doc("The words")],
            {"type": "string", "description": "The words"},
        ),
    ],
    ids=str,
)
def test_an_annotation_has_its_natural_schema(annotation: Any, expected: Any) -> None:
    def tool(it: Any) -> None: ...

    tool.__annotations__["it"] = annotation
    assert properties_of(tool) == {"it": expected}


@pytest.mark.parametrize(
    "annotation",
    [
        str,
        int,
        float,
        bool,
        None,
        Any,
        object,
        list,
        list[str],
        list[list[int]],
        dict,
        dict[str, int],
        dict[str, list[bool]],
        str | None,
        int | float | None,
        list[str] | str,
        Literal["a"],
        Literal["a", "b"],
        Literal[1, 2],
        Literal[True],
        Literal["a", 1, None],
        Leaf,
        list[Leaf],
        dict[str, Leaf] | None,
        typing.NewType("Name", str),
    ],
    ids=str,
)
def test_the_quick_way_and_pydantic_describe_plain_types_alike(annotation: Any) -> None:
    from anyshape.tools.inlining import arrange
    from anyshape.tools.types import python_types
    from anyshape.tools.types.pydantic_schemas import CompactSchema

    document = TypeAdapter[Any](annotation).json_schema(schema_generator=CompactSchema)
    other = arrange(document, document.pop("$defs", {}))
    assert python_types.describe_value(annotation).schema == other


def test_names_that_models_dislike_are_names_like_any_other() -> None:
    def tool(
        schema: str,
        model_config: int,
        json: Decimal,
        _hidden: UUID,
        copy: list[int],
        self: str = "",
    ) -> None: ...

    assert list(properties_of(tool)) == [
        "schema",
        "model_config",
        "json",
        "_hidden",
        "copy",
        "self",
    ]


async def test_names_that_models_dislike_arrive_as_they_are(call: Any) -> None:
    def tool(
        schema: str, model_config: int, json: Decimal, _hidden: int, self: str = ""
    ) -> list[Any]:
        return [schema, model_config, str(json), _hidden, self]

    outcome = await call(
        tool, {"schema": "s", "model_config": 1, "json": 1.5, "_hidden": 2, "self": "me"}
    )
    assert outcome.value == ["s", 1, "1.5", 2, "me"]


def test_a_shared_type_is_defined_once_and_a_single_use_is_inlined() -> None:
    def route(start: Point, end: Point, via: Leaf) -> None: ...

    schema = schema_of(route)
    assert schema["properties"]["start"] == {"$ref": "#/$defs/Point"}
    assert schema["properties"]["end"] == {"$ref": "#/$defs/Point"}
    assert list(schema["$defs"]) == ["Point"]
    assert schema["properties"]["via"]["type"] == "object"


class Node(BaseModel):
    value: int
    children: list[Node] = []


def test_a_recursive_type_keeps_its_definition() -> None:
    def grow(node: Node) -> None: ...

    schema = schema_of(grow)
    assert schema["properties"]["node"] == {"$ref": "#/$defs/Node"}
    children = schema["$defs"]["Node"]["properties"]["children"]
    assert children == {"type": "array", "items": {"$ref": "#/$defs/Node"}, "default": []}


def test_a_description_beside_a_reference_does_not_hide_it() -> None:
    def route(start: Point, end: Point) -> None:
        """Find a way.

        Args:
            start: Where to begin.
            end: Where to end.
        """

    assert properties_of(route)["start"] == {
        "$ref": "#/$defs/Point",
        "description": "Where to begin.",
    }


class Titled(BaseModel):
    model_config = {"title": "Titled"}
    title: str = Field(title="The title", examples=["title"])
    body: Literal["title"] = "title"


def test_a_title_is_published_only_if_its_author_wrote_it() -> None:
    def tool(it: Titled, plain: Point, named: Annotated[int, Field(title="Named")]) -> None: ...

    properties = properties_of(tool)
    assert properties["it"] == {
        "type": "object",
        "title": "Titled",
        "properties": {
            "title": {"type": "string", "title": "The title", "examples": ["title"]},
            "body": {"type": "string", "const": "title", "default": "title"},
        },
        "required": ["title"],
    }
    assert "title" not in properties["plain"]
    assert properties["named"] == {"type": "integer", "title": "Named"}


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]


def test_a_discriminated_union_is_any_of_its_members_each_with_its_tag() -> None:
    def adopt(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None: ...

    assert properties_of(adopt)["pet"] == {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "const": "cat"},
                    "lives": {"type": "integer"},
                },
                "required": ["kind", "lives"],
            },
            {
                "type": "object",
                "properties": {"kind": {"type": "string", "const": "dog"}},
                "required": ["kind"],
            },
        ]
    }


def test_members_that_share_a_tag_stay_one_of() -> None:
    from anyshape.tools.inlining import arrange

    def member(*tags: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"enum": [*tags]}}, "required": ["kind"]}

    def keyword(*members: dict[str, Any]) -> set[str]:
        union = {"oneOf": [*members], "discriminator": {"propertyName": "kind"}}
        return set(arrange(union, {}))

    assert keyword(member("cat"), member("dog", "wolf")) == {"anyOf"}
    assert keyword(member("cat"), member("dog", "cat")) == {"oneOf"}
    assert keyword(member("cat"), {**member("dog"), "type": ["object", "null"]}) == {"oneOf"}
    assert keyword(member("cat"), {"type": "object", "properties": {}}) == {"oneOf"}


class Circle(BaseModel):
    kind: Literal["circle"] = "circle"
    radius: int
    inside: Shape | None = None


class Square(BaseModel):
    kind: Literal["square"] = "square"
    side: int


Shape = Annotated[Circle | Square, Field(discriminator="kind")]


class Renamed(BaseModel):
    kind: Literal["renamed"] = Field("renamed", alias="Kind")


class Other(BaseModel):
    kind: Literal["other"] = Field("other", alias="Kind")


class Solid(msgspec.Struct, tag="solid"):
    faces: int = 4


class Ball(msgspec.Struct, tag="ball"):
    radius: int = 1


@pytest.mark.parametrize(
    ("annotation", "untagged", "tag"),
    [
        (Shape, {"radius": 2}, "kind"),
        (Shape, {"kind": "circle", "radius": 2, "inside": {"side": 1}}, "kind"),
        (Annotated[Renamed | Other, Field(discriminator="kind")], {}, "Kind"),
        (Solid | Ball, {}, "type"),
    ],
    ids=str,
)
async def test_the_tag_of_a_union_is_required_by_its_schema(
    call: Any, annotation: Any, untagged: Any, tag: str
) -> None:
    def tool(it: Any) -> None: ...

    tool.__annotations__["it"] = annotation
    made = Tool.from_function(tool)
    assert "discriminator" not in repr(made.listing.input_schema)
    assert not made.input.accepts({"it": untagged})
    outcome = await call(made, {"it": untagged})
    assert outcome.is_error
    assert f'missing required property "{tag}"' in outcome.text


async def test_a_tag_is_optional_where_its_model_stands_alone(call: Any) -> None:
    async def tool(alone: Circle, either: Shape) -> int:
        return alone.radius

    made = Tool.from_function(tool)
    assert made.input.accepts({"alone": {"radius": 2}, "either": {"kind": "square", "side": 1}})
    assert not made.input.accepts({"alone": {"radius": 2}, "either": {"side": 1}})
    outcome = await call(made, {"alone": {"radius": 2}, "either": {"kind": "square", "side": 1}})
    assert outcome.value == 2


class Hidden(BaseModel):
    kind: Literal["hidden"] = Field("hidden", exclude=True)
    name: str


class Secret(BaseModel):
    kind: Literal["secret"] = Field("secret", exclude=True)
    code: int


async def test_a_tag_that_is_never_written_is_not_promised(call: Any) -> None:
    async def tool() -> Annotated[Hidden | Secret, Field(discriminator="kind")]:
        return Hidden(kind="hidden", name="Ada")

    assert (await call(tool)).value == {"name": "Ada"}


@dataclass
class Box:
    size: int
    tags: frozenset[str] = frozenset({"zebra", "apple", "mango"})


def test_defaults_are_json_and_sets_are_in_order() -> None:
    def pack(
        when: datetime.date = datetime.date(2026, 7, 28),
        colour: Colour = Colour.BLUE,
        tags: frozenset[str] = frozenset({"b", "c", "a"}),
        box: Box = Box(1),  # noqa: B008 - what this test is about
        amount: float = float("inf"),
    ) -> None: ...

    properties = properties_of(pack)
    assert {name: schema.get("default", "none") for name, schema in properties.items()} == {
        "when": "2026-07-28",
        "colour": "blue",
        "tags": ["a", "b", "c"],
        "box": {"size": 1, "tags": ["apple", "mango", "zebra"]},
        "amount": "none",
    }
    assert properties["box"]["properties"]["tags"]["default"] == ["apple", "mango", "zebra"]


def test_a_default_that_is_private_or_contradicts_its_type_is_not_published() -> None:
    missing: Any = object()
    none: Any = None

    def tool(a: str = missing, b: int = none, c: int | None = None) -> None: ...

    assert schema_of(tool) == {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
        "additionalProperties": False,
    }


def test_a_field_as_default_describes_its_parameter() -> None:
    def tool(
        a: int = Field(ge=1, description="One or more"),
        b: int = Field(default=3, le=9),
        c: list[int] = Field(default_factory=list[int]),  # noqa: B008 - pydantic's way
    ) -> None: ...

    schema = schema_of(tool)
    assert schema["properties"]["a"] == {
        "type": "integer",
        "minimum": 1,
        "description": "One or more",
    }
    assert schema["properties"]["b"] == {"type": "integer", "maximum": 9, "default": 3}
    assert schema["required"] == ["a"]


@pytest.mark.parametrize("annotated", [Field(default=5), Field(default_factory=lambda: 5)])
async def test_a_default_of_the_function_comes_before_that_of_an_annotation(annotated: Any) -> None:
    async def tool(a: Any = 6) -> int:
        return a

    tool.__annotations__["a"] = Annotated[int, annotated]
    made = Tool.from_function(tool)
    assert properties_of(tool) == {"a": {"type": "integer", "default": 6}}
    assert (await made.call(b"{}")).structured == b"6"


async def test_a_default_of_the_function_comes_first_beside_parameters_of_any_type(
    call: Any,
) -> None:
    def tool(
        day: datetime.date,
        a: Annotated[int, Field(default=3)] = 9,
        b: Annotated[list[int], Field(default_factory=list, alias="bee")] = [1],  # noqa: B006
        c: Annotated[int, Field(default=1), Field(le=5)] = 2,
    ) -> list[Any]:
        return [day.year, a, b, c]

    made = Tool.from_function(tool)
    listed = made.listing.input_schema["properties"].items()
    defaults = {name: schema["default"] for name, schema in listed if "default" in schema}
    assert defaults == {"a": 9, "bee": [1], "c": 2}
    assert (await call(made, {"day": "2026-07-28"})).value == [2026, 9, [1], 2]
    given: dict[str, Any] = {"day": "2026-07-28", "a": 3, "bee": [], "c": 1}
    assert (await call(made, given)).value == [2026, 3, [], 1]


async def test_defaults_in_fields_are_filled_and_aliases_are_the_json_names(call: Any) -> None:
    def tool(
        a: Annotated[int, Field(default=3)],
        b: list[int] = Field(default_factory=list[int]),  # noqa: B008 - pydantic's way
        source: str = Field(default="here", alias="from"),
    ) -> list[Any]:
        b.append(a)
        return [a, b, source]

    tool_value = Tool.from_function(tool)
    assert list(tool_value.listing.input_schema["properties"]) == ["a", "b", "from"]
    assert (await call(tool_value)).value == [3, [3], "here"]
    assert (await call(tool_value)).value == [3, [3], "here"]
    assert (await call(tool_value, {"from": "there", "a": 1})).value == [1, [1], "there"]


class Line(msgspec.Struct):
    """A line of an order."""

    sku: str
    count: int = 1


class Order(msgspec.Struct):
    lines: list[Line]
    due: datetime.datetime | None = None


def test_a_struct_has_a_schema_without_its_class_name_as_title() -> None:
    def place(order: Order, note: str = "") -> None: ...

    assert properties_of(place) == {
        "order": {
            "type": "object",
            "properties": {
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "description": "A line of an order.",
                        "properties": {
                            "sku": {"type": "string"},
                            "count": {"type": "integer", "default": 1},
                        },
                        "required": ["sku"],
                    },
                },
                "due": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
            "required": ["lines"],
        },
        "note": {"type": "string", "default": ""},
    }


async def test_structs_and_models_stand_side_by_side(call: Any) -> None:
    def place(order: Order, point: Point, line: Line | None = None) -> list[str]:
        return [
            type(order).__name__,
            type(order.lines[0]).__name__,
            type(point).__name__,
            repr(line),
        ]

    outcome = await call(place, {"order": {"lines": [{"sku": "a"}]}, "point": {"x": 1.0}})
    assert outcome.value == ["Order", "Line", "Point", "None"]


def test_the_context_is_never_published_wherever_it_stands() -> None:
    def tool(a: int, context: Context, b: str = "", *, also: Context | None = None) -> None: ...

    assert list(properties_of(tool)) == ["a", "b"]


def test_a_parameter_without_a_schema_is_named_with_the_fix() -> None:
    class Connection: ...

    def tool(query: str, db: Connection) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"tool\(\): parameter 'db' has no JSON Schema"):
        Tool.from_function(tool)


SELF: Any = vars(typing)["Self"]


@pytest.mark.parametrize("annotation", [SELF, list[SELF] | None])
def test_self_outside_a_class_is_told_what_to_write(annotation: Any) -> None:
    def tool(query: str, other: Any) -> None: ...

    tool.__annotations__["other"] = annotation
    with pytest.raises(ToolDefinitionError, match=r"parameter 'other' .* write the name of that"):
        Tool.from_function(tool)


def test_a_union_with_a_member_that_has_no_schema_is_not_published_without_it() -> None:
    def tool(it: int | typing.Callable[[], int]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="parameter 'it'"):
        Tool.from_function(tool)


def test_a_field_on_a_struct_is_refused_rather_than_ignored() -> None:
    def tool(it: Annotated[Line, Field(description="x")]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="use msgspec"):
        Tool.from_function(tool)


def test_a_header_annotation_is_planned_at_definition() -> None:
    def tool(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})], q: str
    ) -> None: ...

    plan = Tool.from_function(tool).headers
    assert [parameter.name for parameter in plan] == ["Mcp-Param-Region"]


@pytest.mark.parametrize("name", ["", "Two Words", "New\nLine"])
def test_a_header_annotation_that_breaks_the_rules_is_refused_at_definition(name: str) -> None:
    def tool(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": name})]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="x-mcp-header"):
        Tool.from_function(tool)


def test_a_header_annotation_on_a_number_is_refused_at_definition() -> None:
    def tool(rate: Annotated[float, Field(json_schema_extra={"x-mcp-header": "Rate"})]) -> None: ...

    with pytest.raises(ToolDefinitionError, match="x-mcp-header"):
        Tool.from_function(tool)


def test_two_parameters_with_one_alias_are_refused() -> None:
    def tool(a: Annotated[int, Field(alias="x")], b: Annotated[int, Field(alias="x")]) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"tool\(\): parameters a, b.*same alias"):
        Tool.from_function(tool)


def test_an_alias_that_is_the_name_of_a_struct_is_refused() -> None:
    def tool(a: Line, b: Annotated[int, Field(alias="a")]) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"tool\(\): two parameters are called 'a'"):
        Tool.from_function(tool)


class Loose(typing.TypedDict):
    when: datetime.date


class Bounded(typing.TypedDict):
    count: Annotated[int, Field(ge=1)]


class Forbidding(typing.TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]
    count: int


@attrs.define
class Knot:
    count: int


@attrs.define
class Tied:
    count: Annotated[int, Field(ge=1)]
    line: Line


class Counted(msgspec.Struct):
    count: Annotated[int, annotated_types.Ge(1)]


@dataclass
class Holder:
    bounded: Bounded


@dataclass
class Bag:
    line: Line


@pytest.mark.parametrize(
    "annotation",
    [
        Bounded,
        list[Bounded],
        Holder,
        Annotated[list[Loose], Field(max_length=1)],
        Annotated[Loose, Field(description="Which day.")],
        Annotated[list[Loose], annotated_types.MaxLen(1)],
        Forbidding,
    ],
    ids=str,
)
def test_what_pydantic_says_of_a_typed_dict_holds_or_the_tool_is_refused(annotation: Any) -> None:
    def takes(it: Any) -> None: ...

    def gives() -> Any: ...

    takes.__annotations__["it"] = annotation
    gives.__annotations__["return"] = annotation
    if sys.version_info >= (3, 12):
        written = TypeAdapter(annotation).json_schema()
        told = {"maxItems", "description", "additionalProperties", "minimum"}
        for published in (schema_of(takes), Tool.from_function(gives).listing.output_schema):
            assert {word for word in told if word in repr(written)} <= {
                word for word in told if word in repr(published)
            }
        return
    with pytest.raises(ToolDefinitionError, match=r"takes\(\): parameter 'it' .*typing_extensions"):
        Tool.from_function(takes)
    with pytest.raises(ToolDefinitionError, match=r"gives\(\): its return .*typing_extensions"):
        Tool.from_function(gives)


@pytest.mark.parametrize(
    "annotation", [Counted, list[Counted], Tied, Annotated[Line, Field(title="Row")]], ids=str
)
def test_notes_that_msgspec_does_not_read_are_refused_on_its_types(annotation: Any) -> None:
    def takes(it: Any) -> None: ...

    def gives() -> Any: ...

    takes.__annotations__["it"] = annotation
    gives.__annotations__["return"] = annotation
    with pytest.raises(ToolDefinitionError, match=r"takes\(\): parameter 'it' .* use msgspec.Meta"):
        Tool.from_function(takes)
    with pytest.raises(ToolDefinitionError, match=r"gives\(\): returns .* use msgspec.Meta"):
        Tool.from_function(gives)


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (Loose, {"when": "2026-01-02"}, {"when": datetime.date(2026, 1, 2)}),
        (Knot, {"count": 1.0}, Knot(1)),
        (Bag, {"line": {"sku": "a", "count": 1}}, Bag(Line("a"))),
    ],
    ids=str,
)
async def test_what_pydantic_does_not_take_msgspec_does(
    call: Any, annotation: Any, given: Any, expected: Any
) -> None:
    seen: list[Any] = []

    async def tool(it: Any, when: datetime.date) -> Any:
        seen.append(it)
        return it

    tool.__annotations__.update({"it": annotation, "return": annotation})
    outcome = await call(tool, {"it": given, "when": "2026-01-02"})
    assert seen == [expected]
    assert outcome.value == given


class Place(BaseModel):
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]


def test_a_header_annotation_inside_a_model_is_reachable() -> None:
    def tool(place: Place) -> None: ...

    assert [entry.path for entry in Tool.from_function(tool).headers] == [("place", "region")]


class Unfinished(BaseModel):
    later: Later  # type: ignore[name-defined]  # noqa: F821


def test_a_model_that_is_not_complete_yet_is_named() -> None:
    def tool(it: Unfinished) -> None: ...

    with pytest.raises(ToolDefinitionError, match=r"parameter 'it'.*not defined yet"):
        Tool.from_function(tool)


def first_twin() -> Any:
    class Twin(typing_extensions.TypedDict):
        value: int

    return Twin


def second_twin() -> Any:
    class Twin(typing_extensions.TypedDict):
        value: str

    return Twin


def test_two_types_of_one_name_stay_two_types() -> None:
    def tool(a: Any, b: Any) -> None: ...

    tool.__annotations__.update({"a": first_twin(), "b": second_twin()})
    properties = properties_of(tool)
    assert properties["a"]["properties"] == {"value": {"type": "integer"}}
    assert properties["b"]["properties"] == {"value": {"type": "string"}}


class Partial(typing_extensions.TypedDict, total=False):
    id: typing_extensions.Required[int]
    name: str
    seen: typing_extensions.ReadOnly[bool]
    next: Partial | None


def test_qualifiers_of_a_typed_dict_are_understood_even_when_it_contains_itself() -> None:
    def tool(it: Partial) -> list[Partial]:
        return []

    definition = schema_of(tool)["$defs"]["Partial"]
    assert definition["required"] == ["id"]
    assert definition["properties"]["seen"] == {"type": "boolean"}
    assert definition["properties"]["next"]["anyOf"][0] == {"$ref": "#/$defs/Partial"}


async def test_a_recursive_typed_dict_is_converted_all_the_way(call: Any) -> None:
    async def tool(it: Partial) -> Partial:
        return it

    outcome = await call(tool, {"it": {"id": 1.0, "next": {"id": 2.0, "next": None}}})
    assert repr(outcome.value) == "{'id': 1, 'next': {'id': 2, 'next': None}}"
