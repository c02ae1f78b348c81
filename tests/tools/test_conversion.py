"""Plain values arrive as Python's numbers, whatever their shape, and pydantic reads alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import msgspec
import pytest
import typing_extensions
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic import ValidationError as PydanticError

from anyshape.tools import Tool
from anyshape.tools.types.numbers import Each, Fields, Number, converter
from anyshape.tools.types.pydantic_core_schemas import reads_decoded


def exactly(value: Any) -> str:
    """Return a text in which 1, 1.0 and True all differ."""
    return json.dumps(value, sort_keys=True)


def arrives(annotation: Any, value: Any) -> Any:
    """Return what a tool with one parameter of `annotation` is given for `value`."""
    received: list[Any] = []

    async def tool(it: Any) -> None:
        received.append(it)

    tool.__annotations__["it"] = annotation
    result = asyncio.run(Tool.from_function(tool).call(json.dumps({"it": value}).encode()))
    assert not result.is_error, result
    return received[0]


@dataclass(frozen=True)
class Kind:
    """A plain annotation, JSON values of it, and what they become."""

    annotation: Any
    values: st.SearchStrategy[Any]
    becomes: Callable[[Any], Any]


INTEGER = Kind(int, st.integers(-9, 9) | st.integers(-9, 9).map(float), int)
FRACTION = Kind(float, st.integers(-9, 9) | st.floats(-9, 9), float)
TEXT = Kind(str, st.text("ab", max_size=2), lambda value: value)
CHOICE = Kind(Literal[1, 2], st.sampled_from([1, 2, 1.0]), int)


def a_list(item: Kind) -> Kind:
    return Kind(
        list[item.annotation],
        st.lists(item.values, max_size=3),
        lambda values: [item.becomes(value) for value in values],
    )


def a_dict(item: Kind) -> Kind:
    return Kind(
        dict[str, item.annotation],
        st.dictionaries(st.text("ab", max_size=2), item.values, max_size=3),
        lambda values: {key: item.becomes(value) for key, value in values.items()},
    )


def optional(item: Kind) -> Kind:
    return Kind(
        item.annotation | None,
        st.none() | item.values,
        lambda value: None if value is None else item.becomes(value),
    )


def a_typed_dict(required: Kind, other: Kind) -> Kind:
    make: Any = typing_extensions.TypedDict
    cls = make(
        f"Made{id(required)}x{id(other)}",
        {"a": required.annotation, "b'\"\\": typing_extensions.NotRequired[other.annotation]},
    )
    return Kind(
        cls,
        st.fixed_dictionaries({"a": required.values}, optional={"b'\"\\": other.values}),
        lambda values: {
            key: (required if key == "a" else other).becomes(value) for key, value in values.items()
        },
    )


KINDS = st.recursive(
    st.sampled_from([INTEGER, FRACTION, TEXT, CHOICE]),
    lambda inner: st.one_of(
        inner.map(a_list),
        inner.map(a_dict),
        inner.map(lambda kind: kind if type(None) in typing_args(kind) else optional(kind)),
        st.builds(a_typed_dict, inner, inner),
    ),
    max_leaves=6,
)


def typing_args(kind: Kind) -> tuple[Any, ...]:
    return getattr(kind.annotation, "__args__", ())


@settings(max_examples=150)
@given(KINDS, st.data())
def test_numbers_arrive_as_annotated_wherever_they_stand(kind: Kind, data: st.DataObject) -> None:
    value = data.draw(kind.values)
    assert exactly(arrives(kind.annotation, value)) == exactly(kind.becomes(value))


class Tree(typing_extensions.TypedDict):
    size: int
    weight: typing_extensions.NotRequired[float]
    parts: typing_extensions.NotRequired[list[Tree]]
    above: typing_extensions.NotRequired[Forest | None]


class Forest(typing_extensions.TypedDict):
    first: Tree
    trees: dict[str, Tree]
    names: list[str]


def test_types_that_contain_each_other_are_converted_all_the_way_down() -> None:
    tree = {"size": 1.0, "weight": 2, "parts": [{"size": 3.0, "above": None}]}
    forest: dict[str, Any] = {
        "first": tree,
        "trees": {"x": {"size": 4.0, "above": None}},
        "names": [],
    }
    got = arrives(Forest, {**forest, "first": {**tree, "above": forest}})
    assert exactly(got["first"]["above"]["first"]) == exactly(
        {"size": 1, "weight": 2.0, "parts": [{"size": 3, "above": None}]}
    )
    assert exactly(got["trees"]) == '{"x": {"above": null, "size": 4}}'


class Names(typing_extensions.TypedDict):
    name: str
    others: list[Names]


def test_types_without_numbers_have_nothing_to_convert() -> None:
    names: Names = {"name": "a", "others": [{"name": "b", "others": []}]}
    assert arrives(Names, names) == names


@pytest.mark.parametrize("inner", [int, float], ids=str)
def test_lists_may_stand_in_each_other_deeper_than_blocks_of_python_may(inner: Any) -> None:
    annotation, value, expected = inner, 2.0 if inner is int else 2, inner(2)
    for _ in range(40):
        annotation, value, expected = list[annotation], [value], [expected]
    assert exactly(arrives(annotation, value)) == exactly(expected)


def test_the_same_type_in_many_places_is_written_once() -> None:
    kinds = [Fields({"n": Number.WHOLE})]
    for _ in range(40):
        kinds.append(Fields({"left": kinds[-1], "right": kinds[-1]}))
    convert = converter(Fields({"it": kinds[2]}))
    leaves = [{"n": float(number)} for number in range(4)]
    value = {
        "it": {
            "left": {"left": leaves[0], "right": leaves[1]},
            "right": {"left": leaves[2], "right": leaves[3]},
        }
    }
    convert(value)
    assert exactly(leaves) == exactly([{"n": number} for number in range(4)])
    converter(Fields({"it": kinds[-1]}))  # two to the fortieth places


def test_what_needs_no_change_is_not_copied() -> None:
    convert = converter(
        Fields({"rows": Each(Fields({"n": Number.WHOLE})), "shares": Each(Number.FRACTION)})
    )
    rows, shares = [{"n": 1}], [0.5, 1.0]
    arguments: dict[str, Any] = {"rows": rows, "shares": shares}
    assert convert(arguments) is arguments
    assert arguments["rows"] is rows
    assert arguments["shares"] is shares


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(float, 10**400), (list[float], [1, 10**400]), (Tree, {"size": 1, "weight": 10**400})],
    ids=str,
)
async def test_a_number_that_no_float_holds_is_refused_by_name(
    annotation: Any, value: Any, call: Any
) -> None:
    async def tool(big: int, it: Any, row: Tree) -> None: ...

    tool.__annotations__["it"] = annotation
    outcome = await call(tool, {"big": 10**400, "it": value, "row": {"size": 10**400}})
    assert outcome.is_error
    assert "/it" in outcome.text


# From here on: what pydantic reads.


def adapt(annotation: Any) -> TypeAdapter[Any]:
    make: Any = typing_extensions.TypedDict
    return TypeAdapter(make("Arguments", {"it": annotation}))


class Address(BaseModel):
    street: str = Field(min_length=1)
    number: int | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    weight: float


class Person(BaseModel):
    name: str
    age: int = Field(default=3, ge=0)
    height: float = 0.5
    address: Address
    friends: list[Person] = []
    tags: dict[str, float] = Field(default_factory=dict[str, float])
    extra: Any = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    label: str | int | bool | None = None

    @field_validator("name")
    @classmethod
    def _strip(cls, value: str) -> str:
        return value.strip()

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, data: Any) -> Any:
        if "called" in data:
            data["name"] = data.pop("called")  # in place, as authors do
        return data

    @model_validator(mode="after")
    def _check(self) -> Person:
        if self.name == "nobody":
            raise ValueError("nobody is no name")
        return self


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", str_strip_whitespace=True)
    count: int
    share: float = Field(alias="Share", default=1)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]  # as documented
    count: int


class Place(typing_extensions.TypedDict, total=False):
    name: typing_extensions.Required[str]
    at: Address


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 3).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", " cat ", "dog", "1", "nobody"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "kind", "count", "x"]), inner, max_size=3)
    ),
    max_leaves=4,
)
JSONS: st.SearchStrategy[Any] = JSON


def mostly(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the values that are right, and now and then any other."""
    return st.integers(0, 15).flatmap(lambda chance: values if chance else JSONS)


WHOLE = mostly(st.integers(0, 9) | st.integers(-(2**70), 2**70))
NUMBERS = mostly(
    st.integers(-3, 3)
    | st.integers(-3, 3).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**1100), 2**1100)
)
WORDS = mostly(st.text(max_size=3))
ADDRESSES = st.fixed_dictionaries(
    {"street": mostly(st.text(min_size=1, max_size=3))}, optional={"number": WHOLE}
)
CATS = st.fixed_dictionaries({"kind": st.just("cat")}, optional={"lives": WHOLE})
DOGS = st.fixed_dictionaries({"kind": st.just("dog"), "weight": NUMBERS})
PEOPLE: st.SearchStrategy[Any] = st.deferred(
    lambda: st.fixed_dictionaries(
        {"address": ADDRESSES, "name": WORDS},
        optional={
            "called": WORDS,
            "age": WHOLE,
            "height": NUMBERS,
            "friends": st.lists(PEOPLE, max_size=1),
            "tags": st.dictionaries(st.text(max_size=2), NUMBERS, max_size=2),
            "extra": JSONS,
            "pet": mostly(CATS | DOGS | st.none()),
            "label": mostly(st.none() | st.booleans() | st.integers() | st.text(max_size=2)),
        },
    )
)
READ_DECODED: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "person": (Person, PEOPLE),
    "strict": (
        Strict,
        st.fixed_dictionaries({"count": WHOLE}, optional={"Share": NUMBERS}),
    ),
    "open": (
        Open,
        st.fixed_dictionaries({"count": WHOLE}, optional={"x": WHOLE, "y": WHOLE}),
    ),
    "place": (Place, st.fixed_dictionaries({"name": WORDS}, optional={"at": ADDRESSES, "x": JSON})),
    "root": (RootModel[list[Address]], st.lists(ADDRESSES, max_size=2)),
    "numbers": (list[Annotated[float, Field(le=5)] | None], st.lists(NUMBERS, max_size=3)),
    "scalars": (
        dict[str, Literal["a", 1, True, None] | str],
        st.dictionaries(st.text(max_size=1), mostly(st.sampled_from(["a", "b", 1, True, None]))),
    ),
    "choices": (list[bool | float | str], st.lists(st.booleans() | NUMBERS | WORDS, max_size=3)),
    "anything": (Annotated[Any, AfterValidator(lambda value: value)], JSON),
    "before": (Annotated[int, BeforeValidator(lambda value: value)], WHOLE),
}


@pytest.mark.parametrize("name", READ_DECODED)
def test_decoded_json_is_read_as_its_text_is(name: str) -> None:
    annotation, values = READ_DECODED[name]
    adapter = adapt(annotation)
    assert reads_decoded(cast("Any", adapter.core_schema))

    @settings(max_examples=150)
    @given(values)
    def check(value: Any) -> None:
        text = msgspec.json.encode({"it": value})
        try:
            read = adapter.validate_python(msgspec.json.decode(text), strict=True)
        except PydanticError:
            return  # then the text decides
        expected = adapter.validate_json(text, strict=True)
        assert read == expected
        assert repr(read) == repr(expected)  # 1 and 1.0 are equal

    check()


def _with_info(value: int, info: ValidationInfo) -> int:
    return value


class OwnInit(BaseModel):
    count: int

    def __init__(self, **data: Any) -> None:
        super().__init__(**data)


@dataclass
class Pair:
    left: int


@pytest.mark.parametrize(
    "annotation",
    [
        tuple[int, ...],
        set[str],
        dict[int, str],
        bytes,
        Pair,
        OwnInit,
        int | float,
        Address | dict[str, Any],
        list[Address] | Address,
        Annotated[int, AfterValidator(_with_info)],
        "datetime",
    ],
    ids=lambda it: getattr(it, "__name__", ""),
)
def test_text_is_read_where_the_two_may_differ(annotation: Any) -> None:
    import datetime

    adapter = adapt(datetime.datetime if annotation == "datetime" else annotation)
    assert not reads_decoded(cast("Any", adapter.core_schema))


async def test_a_refusal_is_the_same_as_from_the_text(call: Any) -> None:
    seen: list[Any] = []

    async def tool(person: Person) -> None:
        seen.append(person)

    address = {"street": "x"}
    refused = await call(tool, {"person": {"name": "x", "called": "nobody", "address": address}})
    assert refused.is_error
    assert "nobody is no name" in refused.text
    assert "/person" in refused.text
    given = {"name": "x", "called": "a", "age": 4.0, "address": address}
    taken = await call(tool, {"person": given})
    assert not taken.is_error, taken
    (person,) = seen
    assert (person.name, person.age, type(person.age)) == ("a", 4, int)
