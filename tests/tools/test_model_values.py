"""A model that a tool returns is written as pydantic writes it, and judged as that."""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

import pytest
from pydantic import (
    AliasGenerator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    RootModel,
    SerializeAsAny,
    TypeAdapter,
    computed_field,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from anyshape.tools import Tool


def returning(annotation: Any, value: Any) -> Tool:
    """Return a tool that promises `annotation` and returns `value`."""

    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    return Tool.from_function(tool)


class Word(enum.StrEnum):
    A = "a"


class Leaf(BaseModel):
    text: str = "x"
    number: int = 1


class Grown(Leaf):
    more: float = 0.5


class Tree(BaseModel):
    name: str
    parts: list[Tree] = []


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


class Checked(BaseModel):
    model_config = ConfigDict(frozen=True, validate_assignment=True, str_strip_whitespace=True)
    name: str = Field(min_length=1, description="a name", validation_alias="called")
    _secret: int = PrivateAttr(default=3)

    @field_validator("name")
    @classmethod
    def _upper(cls, value: str) -> str:
        return value.upper()

    @model_validator(mode="after")
    def _check(self) -> Checked:
        return self

    @model_validator(mode="before")
    @classmethod
    def _before(cls, data: Any) -> Any:
        return data


class Derived(Checked):
    count: int = 0
    identifier: str = Field(default_factory=lambda: "x")


class Lazy(BaseModel):
    name: str

    @cached_property
    def length(self) -> int:
        return len(self.name)


class Aliased(BaseModel):
    name: str = Field(serialization_alias="Name")


class Generated(BaseModel):
    model_config = ConfigDict(alias_generator=AliasGenerator(serialization_alias=str.upper))
    name: str


class Hidden(BaseModel):
    name: str
    secret: str = Field(default="s", exclude=True)


class SometimesHidden(BaseModel):
    name: str
    secret: str = Field(default="s", exclude_if=lambda value: value == "s")


class Computed(BaseModel):
    name: str

    @computed_field
    @property
    def length(self) -> int:
        return len(self.name)


class OwnField(BaseModel):
    name: str

    @field_serializer("name")
    def _write(self, value: str) -> str:
        return value.upper()


class OwnModel(BaseModel):
    name: str

    @model_serializer
    def _write(self) -> dict[str, str]:
        return {"name": self.name.upper()}


class Wrapped(BaseModel):
    name: str

    @model_serializer(mode="wrap")
    def _write(self, handler: Any) -> Any:
        return handler(self)


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Floats(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")
    share: float


class UnusualDefault(BaseModel):
    share: float = 0


class When(BaseModel):
    when: datetime.date


class Coloured(BaseModel):
    word: Word


class ByValue(BaseModel):
    model_config = ConfigDict(use_enum_values=True)
    word: Word


class Loose(BaseModel):
    what: Any


class AnyLeaf(BaseModel):
    leaf: SerializeAsAny[Leaf]


class Mixed(BaseModel):
    it: int | bool


class Number(BaseModel):
    it: int | float


class EitherModel(BaseModel):
    it: Leaf | Hidden


class Tuple(BaseModel):
    it: tuple[int, str]


WRITTEN: list[tuple[Any, Any, Any]] = [
    (Page[Leaf], Page[Leaf](items=[Leaf()]), {"items": [{"text": "x", "number": 1}], "next": None}),
    (Derived, Derived(called="b"), {"name": "B", "count": 0, "identifier": "x"}),  # pyright: ignore[reportCallIssue]  # by its alias
    (dict[str, list[Leaf]], {"a": [Leaf()]}, {"a": [{"text": "x", "number": 1}]}),
    (Leaf | None, None, None),
    (list[Leaf], [Grown()], [{"text": "x", "number": 1}]),
    (Aliased, Aliased(name="a"), {"Name": "a"}),
    (Generated, Generated(name="a"), {"NAME": "a"}),
    (Hidden, Hidden(name="a"), {"name": "a"}),
    (SometimesHidden, SometimesHidden(name="a"), {"name": "a"}),
    (Computed, Computed(name="a"), {"name": "a", "length": 1}),
    (OwnField, OwnField(name="a"), {"name": "A"}),
    (OwnModel, OwnModel(name="a"), {"name": "A"}),
    (Wrapped, Wrapped(name="a"), {"name": "a"}),
    (Extra, Extra(name="a", more=1), {"name": "a", "more": 1}),  # pyright: ignore[reportCallIssue]  # extra
    (Floats, Floats(share=1.5), {"share": 1.5}),
    (UnusualDefault, UnusualDefault(), {"share": 0.0}),
    (When, When(when=datetime.date(2026, 7, 28)), {"when": "2026-07-28"}),
    (Coloured, Coloured(word=Word.A), {"word": "a"}),
    (ByValue, ByValue(word=Word.A), {"word": "a"}),
    (Loose, Loose(what=[Leaf()]), {"what": [{"text": "x", "number": 1}]}),
    (AnyLeaf, AnyLeaf(leaf=Grown()), {"leaf": {"text": "x", "number": 1, "more": 0.5}}),
    (Mixed, Mixed(it=True), {"it": True}),
    (Number, Number(it=1), {"it": 1}),
    (EitherModel, EitherModel(it=Hidden(name="a")), {"it": {"name": "a"}}),
    (Tuple, Tuple(it=(1, "a")), {"it": [1, "a"]}),
    (RootModel[list[Leaf]], RootModel[list[Leaf]]([Leaf()]), [{"text": "x", "number": 1}]),
    (list[Aliased], [Aliased(name="a")], [{"Name": "a"}]),
    (
        Annotated[Leaf, PlainSerializer(lambda leaf: leaf.text, return_type=str)],
        Leaf(),
        "x",
    ),
]


@pytest.mark.parametrize(
    ("annotation", "value", "expected"), WRITTEN, ids=lambda it: getattr(it, "__name__", "")
)
async def test_a_model_is_written_as_it_says(
    annotation: Any, value: Any, expected: Any, call: Any
) -> None:
    got = await call(returning(annotation, value))
    assert got.value == expected


ODD: list[Any] = [
    None,
    True,
    7,
    2**70,
    0.5,
    2.0,
    "\ud800",
    Word.A,
    Decimal("1.5"),
    b"a",
    datetime.date(2026, 7, 28),
    ["a"],
    {1: 1},
    Grown(),
    object(),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
async def test_a_field_may_hold_anything_and_the_schema_judges_how_it_is_written(
    odd: Any, call: Any
) -> None:
    for name in Leaf.model_fields:
        held = Leaf.model_construct(**{name: odd})
        got = await call(returning(Leaf, held))
        if not got.is_error:
            written = TypeAdapter(Leaf).dump_python(held, mode="json", warnings=False)
            assert got.value == written
            assert Leaf.model_validate(written)


async def test_what_an_instance_holds_beside_its_fields_is_never_written(call: Any) -> None:
    value = Lazy(name="abc")
    assert value.length == 3
    got = await call(returning(Lazy, value))
    assert got.value == {"name": "abc"}


async def test_a_model_that_holds_itself_is_refused(call: Any) -> None:
    tree = Tree(name="a")
    tree.parts.append(tree)
    got = await call(returning(Tree, tree))
    assert got.is_error


async def test_another_schema_judges_the_same_form(call: Any) -> None:
    async def tool(number: int) -> Leaf:
        return Leaf(number=number)

    written = {"type": "object", "properties": {"number": {"maximum": 5}}}
    made = Tool.from_function(tool, output_schema=written)
    taken = await call(made, {"number": 5})
    assert taken.value == {"text": "x", "number": 5}
    refused = await call(made, {"number": 6})
    assert refused.is_error
