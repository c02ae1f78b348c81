"""Ordinary models: what a tool publishes of one is what the model's library reads and writes."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import typing
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar

import msgspec
import pytest
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    field_serializer,
)
from typing_extensions import TypedDict

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Tool

T = TypeVar("T")


class Plain(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Word(enum.StrEnum):
    CAT = "cat"
    DOG = "dog"


class Rights(enum.Flag):
    """What one may do."""

    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 2


class Pairs(enum.Flag):
    """Bits that no member has alone."""

    LOW = 3
    HIGH = 4


class Sparse(enum.IntFlag, boundary=enum.EJECT):
    LOW = 1
    HIGH = 4


class Gaps(enum.Flag):
    LOW = 1
    HIGH = 1 << 40


class Days(enum.Enum):
    FIRST = datetime.date(2024, 1, 1)


class Corner(enum.Enum):
    ORIGIN = (0, 0)


class Finding(enum.Enum):
    """Finds members for values that it does not list."""

    ORIGIN = (0, 0)

    @classmethod
    def _missing_(cls, value: object) -> Finding | None:
        return cls.ORIGIN if value == [0, 0] else None


class Unwritable(enum.Enum):
    IT = object()


class Cat(BaseModel):
    kind: Literal[Word.CAT]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal[Word.DOG] = Word.DOG
    friends: list[Cat | Dog] = []


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    first: int = Field(alias="firstName")
    second: int = Field(2, validation_alias=AliasChoices("2nd", AliasPath("all", 1)))


class ByName(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=False)
    first: int = Field(alias="firstName")


class Moment(BaseModel):
    at: datetime.datetime
    day: datetime.date | None = None
    key: uuid.UUID | None = None
    price: Annotated[Decimal, Field(gt=0, decimal_places=2)] | None = None


@dataclasses.dataclass
class Branch:
    size: int
    parts: list[Branch] = dataclasses.field(default_factory=list["Branch"])
    made_of: dataclasses.InitVar[str] = ""


class Counts(TypedDict, extra_items=int):
    name: str


class Step(TypedDict):
    kind: Literal["step"]
    next: NotRequired[Step]


class Point(NamedTuple):
    x: int
    y: int = 0


class Circle(msgspec.Struct, tag="circle", rename="camel"):
    some_radius: Annotated[float, msgspec.Meta(gt=0)]


class Square(msgspec.Struct, tag="square", omit_defaults=True):
    side: int = 1
    rights: Rights = Rights.READ
    gaps: Gaps = Gaps.LOW
    names: dict[int, str] = {}


READ: list[tuple[Any, list[Any], list[Any]]] = [
    (Annotated[Cat | Dog, Field(discriminator="kind")], [{"kind": "cat"}], [{}, {"kind": "cow"}]),
    (Page[Cat] | Page[int], [{"items": [1]}, {"items": [{"kind": "cat"}]}], [{"items": ["x"]}]),
    (Named, [{"firstName": 1, "2nd": 3}, {"firstName": 1, "all": [1, 2]}], [{"2nd": 1}]),
    (ByName, [{"first": 1}], [{"firstName": 1}]),
    (Moment, [{"at": "2024-01-01T00:00"}, {"at": "2024-01-01T00:00Z", "price": "1.25"}], [{}]),
    (Branch, [{"size": 1, "parts": [{"size": 2}]}, {"size": 1, "made_of": "x"}], [{"size": "1"}]),
    (Counts, [{"name": "x", "other": 1}], [{"name": "x", "other": "y"}]),
    (Step, [{"kind": "step", "next": {"kind": "step"}}], [{"kind": "step", "next": {}}]),
    (Point, [[1, 2], [1]], [[], [1, 2, 3]]),
    (Plain, ["red"], ["RED"]),
    (Finding, [[0, 0]], [[0, 1]]),
    (Rights, [0, 1, 3], [4, "READ"]),
    (Bits, [0, 3, 4], ["LOW"]),
    (Pairs, [0, 3, 4, 7], [8, "LOW"]),
    (Sparse, [0, 1, 5], ["LOW"]),
    (Gaps, [0, 1, 1 << 40, 1 + (1 << 40)], [2, 3]),
    (dict[Plain, int], [{"red": 1}], [{"green": 1}]),
    (dict[Literal["a", None], int], [{"a": 1}], [{"null": 1}]),
    (dict[Annotated[str, Field(pattern="^a")], int], [{"ab": 1}], [{"b": 1}]),
    (Circle | Square, [{"type": "circle", "someRadius": 1}, {"type": "square"}], [{"side": 1}]),
    (Square, [{"type": "square", "rights": 3}], [{"type": "square", "rights": 4}]),
    (Square, [{"type": "square", "gaps": 1 << 40}], [{"type": "square", "gaps": 2}]),
]


@pytest.mark.parametrize(
    ("annotation", "value", "is_right"),
    [
        pytest.param(annotation, value, is_right, id=f"{annotation}-{value}")
        for annotation, right, wrong in READ
        for is_right, values in ((True, right), (False, wrong))
        for value in values
    ],
)
async def test_a_tool_takes_and_gives_what_the_library_reads_and_writes(
    annotation: Any, value: Any, is_right: bool, call: Any
) -> None:
    async def echo(it: Any) -> Any:
        return it

    echo.__annotations__.update({"it": annotation, "return": annotation})
    tool = Tool.from_function(echo)
    assert tool.input.accepts({"it": value}) is is_right
    assert _reads(annotation, value) is is_right
    outcome = await call(tool, {"it": value})
    assert outcome.is_error is not is_right, outcome.text


def _reads(annotation: Any, value: Any) -> bool:
    text = msgspec.json.encode(value)
    try:
        if "Circle" in str(annotation) or "Square" in str(annotation):
            msgspec.json.decode(text, type=annotation)
        else:
            TypeAdapter(annotation).validate_json(text, strict=True)
    except (ValidationError, msgspec.ValidationError):
        return False
    return True


class Silent(BaseModel):
    """Its serializers do not say what they return."""

    day: datetime.date
    names: Annotated[list[str], PlainSerializer(lambda names: ",".join(names))]

    @field_serializer("day")
    def number(self, day: datetime.date):
        return day.toordinal()


async def test_a_serializer_that_does_not_say_what_it_returns_may_return_anything(
    call: Any,
) -> None:
    async def tool() -> Silent:
        return Silent(day=datetime.date(1, 1, 2), names=["a", "b"])

    outcome = await call(tool)
    assert outcome.value == {"day": 2, "names": "a,b"}


async def test_every_combination_of_flags_can_be_returned(call: Any) -> None:
    async def pydantic() -> Rights:
        return Rights.READ | Rights.WRITE

    async def structs() -> Square:
        return Square(rights=Rights.READ | Rights.WRITE)

    assert (await call(pydantic)).value == 3
    assert (await call(structs)).value == {"type": "square", "rights": 3}
    assert Tool.from_function(pydantic).listing.output_schema == {
        "type": "integer",
        "minimum": 0,
        "maximum": 3,
        "description": "What one may do.",
    }


class Inner(BaseModel):
    first: int = Field(validation_alias=AliasPath("all", 0))


class Tagged(BaseModel):
    kind: Literal[Plain.RED]


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (Literal[Plain.RED], r"never read from JSON, Plain\.RED; use a StrEnum"),
        (list[Tagged], r"never read from JSON, Plain\.RED; use a StrEnum"),
        (Days | None, "Days has a value that is never read from JSON"),
        (Corner, "Corner has a value that is never read from JSON"),
        (Unwritable, "Unable to serialize unknown type"),
        (Callable[[], int], "JsonSchema for a function"),
        (Inner, r"read from AliasPath\('all', 0\) alone; give it a name too"),
    ],
)
async def test_a_parameter_that_no_call_could_fill_is_refused_when_it_is_defined(
    annotation: Any, reason: str, call: Any
) -> None:
    async def take(it: Any) -> None: ...

    take.__annotations__["it"] = annotation
    with pytest.raises(ToolDefinitionError, match=rf"parameter 'it' has no JSON Schema .*{reason}"):
        Tool.from_function(take)


async def test_what_is_only_read_badly_can_still_be_returned(call: Any) -> None:
    async def give() -> dict[str, Days | Tagged | Corner]:
        return {"a": Days.FIRST, "b": Tagged(kind=Plain.RED), "c": Corner.ORIGIN}

    assert (await call(give)).value == {"a": "2024-01-01", "b": {"kind": "red"}, "c": [0, 0]}


async def test_a_key_that_a_struct_does_not_take_is_named_with_its_place(call: Any) -> None:
    async def take(it: Square) -> None: ...

    refused = await call(take, {"it": {"type": "square", "names": {"x": "y"}}})
    assert refused.is_error
    assert "/it/names: Expected `int`, got `str`" in refused.text


class Loose(msgspec.Struct):
    """Its fields do not say what they hold."""

    marks: set[Any]
    by_name: typing.Dict = {}  # noqa: UP006  # pyright: ignore


async def test_a_struct_may_hold_collections_of_anything_that_python_can_put_there(
    call: Any,
) -> None:
    async def echo(it: Loose) -> Loose:
        return it

    sent = {"marks": [1], "by_name": {"a": 1}}
    assert (await call(echo, {"it": sent})).value == sent
    refused = await call(echo, {"it": {"marks": [[1]]}})
    assert refused.is_error
    assert "/it: unhashable type: 'list'" in refused.text


def test_a_struct_without_required_fields_has_no_empty_list_of_them() -> None:
    class Options(msgspec.Struct):
        deep: bool = False

    async def take(options: Options) -> None: ...

    take.__annotations__["options"] = Options
    assert Tool.from_function(take).listing.input_schema["properties"]["options"] == {
        "type": "object",
        "properties": {"deep": {"type": "boolean", "default": False}},
    }
