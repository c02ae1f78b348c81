"""What Python can hold and JSON cannot say: twin keys, and integers without end."""

from __future__ import annotations

import datetime
import enum
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, cast

import msgspec
import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model
from typing_extensions import TypeAliasType

from anyshape import Tool, ToolDefinitionError
from anyshape.protocol.result import ABSENT, ToolResult


def returning(annotation: Any, value: Any) -> Callable[[], Any]:
    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    return tool


class Held(BaseModel):
    held: dict[Any, Any]


class Named(BaseModel):
    type: str = "named"
    metadata: dict[int | str, str] = {}


class Other(BaseModel):
    type: Literal["other"] = "other"


class Tagged(BaseModel):
    type: Literal["tagged"] = "tagged"
    function: dict[int | str, str]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


@dataclass
class Kept:
    held: dict[Any, Any]


class Struct(msgspec.Struct):
    held: dict[int | str, str]


TWINS: dict[Any, Any] = {1: "a", "1": "b"}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (ToolResult, TWINS),
        (ToolResult, [{"x": TWINS}]),
        (ToolResult, Held(held=TWINS)),
        (ToolResult, MappingProxyType(TWINS)),
        (Any, TWINS),
        (dict, {1.5: "a", "1.5": "b"}),
        (dict[int, str], TWINS),
        (dict[int | str, str], TWINS),
        (Counter[int | str], Counter({1: 1, "1": 2})),
        (OrderedDict[int | str, str], OrderedDict(TWINS)),
        (Held, Held(held={datetime.date(2026, 1, 2): 1, "2026-01-02": 2})),
        (list[Held], [Held(held={"a": TWINS})]),
        (Named, Named(metadata=TWINS)),
        (
            Annotated[Tagged | Other, Field(discriminator="type")],
            Tagged(function=TWINS),
        ),
        (Open, Open.model_validate({"it": TWINS})),
        (Kept, Kept(held={True: 1, "true": 2})),
        (Struct, Struct(held=TWINS)),
        (ToolResult, ToolResult(structured=1, meta=TWINS)),
    ],
    ids=repr,
)
async def test_two_keys_that_json_cannot_tell_apart_are_an_error(
    call: Any, caplog: pytest.LogCaptureFixture, annotation: Any, value: Any
) -> None:
    outcome = await call(returning(annotation, value))
    assert (outcome.is_error, outcome.value) == (True, ABSENT)
    assert "are the same key in JSON" in caplog.text


@pytest.mark.parametrize(
    ("annotation", "value", "sent"),
    [
        (ToolResult, {1: "a", "2": "b"}, {"1": "a", "2": "b"}),
        (dict[int, str], {1: "a", 2: "b"}, {"1": "a", "2": "b"}),
        (
            Held,
            Held(held={1: "a", "2": {3: 4, "5": 6}}),
            {"held": {"1": "a", "2": {"3": 4, "5": 6}}},
        ),
        (Struct, Struct(held={1: "a", "2": "b"}), {"held": {"1": "a", "2": "b"}}),
    ],
    ids=repr,
)
async def test_keys_that_are_no_strings_are_written_as_text(
    call: Any, annotation: Any, value: Any, sent: Any
) -> None:
    assert (await call(returning(annotation, value))).value == sent


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Grade(enum.Enum):
    NONE = None
    GOOD = 1.5
    BEST = "best"


class Place(enum.Enum):
    ORIGIN = (0, 0)


class Step(enum.Enum):
    """Its values are integers, as those of an `IntEnum`, but its members are none."""

    FIRST = enum.auto()
    SECOND = enum.auto()


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 4


class Board(BaseModel):
    counts: dict[Priority, int]
    first: Priority
    next: Board | None = None


UserId = TypeAliasType("UserId", int)
Moment = TypeAliasType("Moment", int | datetime.date)
Word = TypeAliasType("Word", Annotated[str, Field(min_length=2)])


@pytest.mark.parametrize(
    ("annotation", "value", "sent"),
    [
        (dict[Priority, int], {Priority.HIGH: 5}, {"2": 5}),
        (Board, Board(counts={Priority.LOW: 1}, first=Priority.HIGH), None),
        (dict[Grade, int], {Grade.GOOD: 1, Grade.BEST: 2}, {"1.5": 1, "best": 2}),
        (dict[Place, int], {Place.ORIGIN: 1}, {"0,0": 1}),
        (dict[UserId, str], {5: "a"}, {"5": "a"}),
        (dict[Moment, str], {5: "a"}, {"5": "a"}),
    ],
    ids=repr,
)
async def test_keys_of_a_named_type_satisfy_what_is_published_of_them(
    call: Any, annotation: Any, value: Any, sent: Any
) -> None:
    outcome = await call(returning(annotation, value))
    assert outcome.value == (value.model_dump(mode="json") if sent is None else sent)


@pytest.mark.parametrize(
    ("annotation", "given", "taken"),
    [
        (dict[Priority, int], {"2": 5}, {Priority.HIGH: 5}),
        (dict[Priority, int], {"3": 5}, None),
        (dict[Grade, int], {"best": 5}, {Grade.BEST: 5}),
        (dict[UserId, str], {"5": "a"}, {5: "a"}),
        (dict[Word, int], {"ab": 1}, {"ab": 1}),
        (dict[Word, int], {"a": 1}, None),
        (dict[Step, int], {"1": 5}, {Step.FIRST: 5}),
        (dict[Step, int], {"3": 5}, None),
        (dict[Literal[1, 2], int], {"2": 5}, {2: 5}),
        (dict[Literal["a", None], int], {"a": 5}, {"a": 5}),
        (dict[Literal["a", None], int], {"null": 5}, None),
        (dict[Bits, int], {"4": 5}, {Bits.HIGH: 5}),
        (dict[Bits, int], {"5": 5}, None),
        (dict[Annotated[str, Field(pattern="^a")], int], {"ab": 1}, {"ab": 1}),
        (dict[Annotated[str, Field(pattern="^a")], int], {"b": 1}, None),
        (
            Board,
            {"counts": {"1": 1}, "first": 2},
            Board(counts={Priority.LOW: 1}, first=Priority.HIGH),
        ),
        (Board, {"counts": {"3": 1}, "first": 2}, None),
    ],
    ids=repr,
)
async def test_keys_of_a_named_type_are_read_as_they_are_written(
    call: Any, annotation: Any, given: Any, taken: Any
) -> None:
    seen: list[Any] = []

    async def tool(it: Any) -> None:
        seen.append(it)

    tool.__annotations__["it"] = annotation
    outcome = await call(tool, {"it": given})
    assert (outcome.is_error, seen) == ((True, []) if taken is None else (False, [taken]))


async def test_a_key_that_does_not_fit_is_told_from_its_value(call: Any) -> None:
    async def tool(it: dict[int, str]) -> None: ...

    outcome = await call(tool, {"it": {"1": "a", "x\n": "b"}})
    assert outcome.is_error
    assert outcome.text.startswith('/it: property name "x\\n": ')


class Share(enum.Enum):
    HALF = 0.5


class Steps(BaseModel):
    counts: dict[Step, int]


class Pairs(BaseModel):
    counts: dict[tuple[int, int], int]


class PairStruct(msgspec.Struct):
    counts: dict[tuple[int, int], int]


class Spot(NamedTuple):
    x: int


UNREAD = [
    dict[Share, int],
    Steps,
    list[Pairs],
    PairStruct,
    dict[tuple[int, int], str],
    list[Mapping[frozenset[int], int]],
    dict[Spot, int],
    dict[str, dict[PairStruct, int]],
]


@pytest.mark.parametrize("annotation", UNREAD, ids=repr)
def test_keys_that_are_never_read_from_json_are_refused_at_definition(annotation: Any) -> None:
    def tool(it: Any) -> None:
        pass

    tool.__annotations__["it"] = annotation
    with pytest.raises(ToolDefinitionError, match="keys of a dict are strings in JSON"):
        Tool.from_function(tool)


class Vast(BaseModel):
    number: int


class VastStruct(msgspec.Struct):
    number: int


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (ToolResult, 10**5000),
        (int, -(10**5000)),
        (list[int], [10**5000]),
        (Vast, Vast(number=10**5000)),
        (VastStruct, VastStruct(number=10**5000)),
        (ToolResult, ToolResult(structured=1, meta={"a": 10**5000})),
    ],
    ids=lambda it: type(it).__name__,
)
async def test_an_integer_that_python_does_not_write_is_named_in_the_log(
    call: Any, caplog: pytest.LogCaptureFixture, annotation: Any, value: Any
) -> None:
    outcome = await call(returning(annotation, value))
    assert (outcome.is_error, outcome.value) == (True, ABSENT)
    assert "an integer of more than 4,300 digits" in caplog.text


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def _holding_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("\ud800", "half of a surrogate pair"),
        ({"\ud800": 1}, "half of a surrogate pair"),
        (_nested(100_000), "nested too deeply"),
        (_holding_itself(), "holds itself"),
    ],
    ids=["surrogate", "surrogate in a key", "deep", "cyclic"],
)
@pytest.mark.parametrize("annotation", [Any, object, ToolResult])
async def test_a_value_without_a_text_is_named_in_the_log_for_what_it_is(
    call: Any, caplog: pytest.LogCaptureFixture, annotation: Any, value: Any, reason: str
) -> None:
    given = ToolResult(structured=value) if annotation is ToolResult else value
    outcome = await call(returning(annotation, given))
    assert (outcome.is_error, outcome.value) == (True, ABSENT)
    assert reason in caplog.text
    assert "RecursionError" not in caplog.text


@pytest.mark.parametrize(
    "name", ["choices", "default", "fields", "function", "metadata", "ref", "schema_ref", "type"]
)
async def test_a_field_may_be_called_what_pydantic_calls_parts_of_its_schemas(
    call: Any, name: str
) -> None:
    model = create_model("Model", **cast("Any", {name: (str, ...)}))
    outcome = await call(returning(list[model], [model(**{name: "x"})]))
    assert (outcome.is_error, outcome.value) == (False, [{name: "x"}])
