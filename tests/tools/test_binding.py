"""Arguments become Python values, and nothing is coerced behind the author's back."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import annotated_types
import msgspec
import pytest
import typing_extensions
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, field_validator

from anyshape.errors import ToolError
from anyshape.schema import Limits
from anyshape.tools import Tool


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Person(BaseModel):
    name: str
    born: datetime.date | None = None


@dataclass
class Pair:
    left: int
    right: float


class Spot(NamedTuple):
    x: int
    y: int


class Row(typing_extensions.TypedDict):
    count: int
    share: typing_extensions.NotRequired[float]
    parts: typing_extensions.NotRequired[list[Row]]


class Item(msgspec.Struct):
    count: int
    when: datetime.date | None = None


def received(annotation: Any) -> tuple[Tool, list[Any]]:
    """Return a tool that takes one value of `annotation`, and the list of what it was given."""
    values: list[Any] = []

    async def tool(it: Any) -> None:
        values.append(it)

    tool.__annotations__["it"] = annotation
    return Tool.from_function(tool), values


@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (str, b'"123"', "123"),
        (str | None, b'"123"', "123"),
        (str | None, b'"null"', "null"),
        (str | None, b'"{\\"a\\": 1}"', '{"a": 1}'),
        (str | int, b'"1"', "1"),
        (int | str, b'"1"', "1"),
        (str | list[str], b'"[1, 2]"', "[1, 2]"),
        (dict[str, Any], b'{"a": "1", "b": "[]"}', {"a": "1", "b": "[]"}),
        (Any, b'"1"', "1"),
        (Any, b"1.0", 1.0),
        (int, b"1.0", 1),
        (int, b"1e3", 1000),
        (int, b"12345678901234567890", 12345678901234567890),
        (int | None, b"2.0", 2),
        (int | float, b"1.0", 1.0),
        (int | float, b"1", 1),
        (float, b"1", 1.0),
        (float | None, b"1", 1.0),
        (list[int], b"[1, 2.0, 3]", [1, 2, 3]),
        (list[float], b"[1, 2.5]", [1.0, 2.5]),
        (dict[str, int], b'{"a": 1.0}', {"a": 1}),
        (dict[str, list[float]], b'{"a": [1]}', {"a": [1.0]}),
        (list[int] | None, b"[2.0]", [2]),
        (Literal[1, 2], b"2.0", 2),
        (Row, b'{"count": 1.0, "share": 1}', {"count": 1, "share": 1.0}),
        (
            Row,
            b'{"count": 1, "parts": [{"count": 2.0}]}',
            {"count": 1, "parts": [{"count": 2}]},
        ),
        (bool, b"true", True),
        (datetime.date, b'"2026-07-28"', datetime.date(2026, 7, 28)),
        (
            datetime.datetime,
            b'"2026-07-28T10:00:00"',
            datetime.datetime(2026, 7, 28, 10),
        ),
        (
            datetime.datetime,
            b'"2026-07-28T10:00:00Z"',
            datetime.datetime(2026, 7, 28, 10, tzinfo=datetime.UTC),
        ),
        (datetime.time, b'"10:00:00"', datetime.time(10)),
        (datetime.timedelta, b'"PT0.5S"', datetime.timedelta(seconds=0.5)),
        (
            UUID,
            b'"12345678-1234-5678-1234-567812345678"',
            UUID("12345678" + "1234" + "5678" + "1234" + "567812345678"),
        ),
        (Decimal, b'"1.10"', Decimal("1.10")),
        (Decimal, b"1.5", Decimal("1.5")),
        (Path, b'"a/b"', Path("a/b")),
        (Level, b"2", Level.HIGH),
        (bytes, b'"abc"', b"abc"),
        (set[int], b"[1, 2.0]", {1, 2}),
        (tuple[int, str], b'[1.0, "a"]', (1, "a")),
        (Spot, b"[1, 2.0]", Spot(1, 2)),
        (Pair, b'{"left": 1.0, "right": 1}', Pair(1, 1.0)),
        (
            Person,
            b'{"name": "1", "born": "1990-01-02"}',
            Person(name="1", born=datetime.date(1990, 1, 2)),
        ),
        (list[Person], b'[{"name": "a"}]', [Person(name="a")]),
        (Sequence[int], b"[1.0]", [1]),
        (Mapping[str, int], b'{"a": 1}', {"a": 1}),
        (Item, b'{"count": 1.0, "when": "2026-01-02"}', Item(1, datetime.date(2026, 1, 2))),
        (dict[int, str], b'{"1": "a"}', {1: "a"}),
    ],
    ids=str,
)
async def test_a_value_arrives_as_its_annotation_says(
    call: Any, annotation: Any, given: bytes, expected: Any
) -> None:
    tool, values = received(annotation)
    outcome = await call(tool, b'{"it": %b}' % given)
    assert not outcome.is_error, outcome.text
    (value,) = values
    assert value == expected
    assert type(value) is type(expected)
    if not isinstance(value, datetime.datetime):  # time zones of one offset look different
        assert repr(value) == repr(expected)


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (int, b'"1"'),
        (int, b"true"),
        (int, b"1.5"),
        (str, b"1"),
        (bool, b"1"),
        (bool, b'"true"'),
        (float, b'"1.5"'),
        (int | None, b'"1"'),
        (list[int], b'"[1]"'),
        (list[str], b"[1]"),
        (dict[str, Any], b'"{}"'),
        (datetime.date, b'"yesterday"'),
        (datetime.date, b"1700000000"),
        (datetime.datetime, b"1700000000"),
        (UUID, b'"123"'),
        (Level, b"3"),
        (Person, b'{"name": 1}'),
        (Person, b'{"name": "a", "born": 3}'),
        (Pair, b'{"left": "1", "right": 1}'),
        (Item, b'{"count": "1"}'),
        (Item, b'{"count": 1, "when": "soon"}'),
        (set[int], b"[1, 1]"),
        (float, b"1" + b"0" * 400),
    ],
    ids=str,
)
async def test_a_value_of_another_type_is_refused_not_coerced(
    call: Any, annotation: Any, given: bytes
) -> None:
    tool, values = received(annotation)
    outcome = await call(tool, b'{"it": %b}' % given)
    assert outcome.is_error
    assert values == []
    assert "/it" in outcome.text


@pytest.mark.parametrize(
    "arguments", [b"[]", b"1", b"null", b"{", b'{"it": NaN}', b'{"it": "\xff"}', b'"it"']
)
async def test_arguments_that_are_no_json_object_are_refused(call: Any, arguments: bytes) -> None:
    tool, values = received(Any)
    assert (await call(tool, arguments)).is_error
    assert values == []


async def test_the_last_of_duplicate_keys_counts_for_check_and_value_alike(call: Any) -> None:
    tool, values = received(Person)
    outcome = await call(tool, b'{"it": {"name": 1}, "it": {"name": 2, "name": "b"}}')
    assert not outcome.is_error
    assert values == [Person(name="b")]


async def test_one_line_per_problem_tells_the_model_where(call: Any) -> None:
    async def tool(count: int, names: list[str], mode: Literal["a", "b"] = "a") -> None: ...

    outcome = await call(tool, {"count": "x", "names": ["a", 2], "mode": "c", "extra": 1})
    lines = outcome.text.splitlines()
    assert outcome.is_error
    assert len(lines) == 4
    assert [line.partition(":")[0] for line in lines if line.startswith("/")][:3] == [
        "/count",
        "/names/1",
        "/mode",
    ]
    assert any("extra" in line for line in lines)


async def test_a_missing_argument_is_named(call: Any) -> None:
    async def tool(count: int) -> None: ...

    outcome = await call(tool)
    assert outcome.is_error
    assert "count" in outcome.text


async def test_an_unknown_argument_is_refused_not_dropped(call: Any) -> None:
    tool, values = received(int)
    outcome = await call(tool, {"it": 1, "itt": 2})
    assert outcome.is_error
    assert "itt" in outcome.text
    assert values == []


class Even(BaseModel):
    number: int

    @field_validator("number")
    @classmethod
    def check(cls, number: int) -> int:
        if number % 2:
            raise ValueError("has to be even")
        if number == 4:
            raise ToolError("four is taken")
        if number == 6:
            raise KeyError("secret")
        return number


async def test_what_an_authors_validator_says_reaches_the_model(call: Any) -> None:
    tool, _ = received(list[Even])
    outcome = await call(tool, {"it": [{"number": 2}, {"number": 3}]})
    assert (outcome.is_error, outcome.text) == (True, "/it/1/number: has to be even")
    outcome = await call(tool, {"it": [{"number": 4}]})
    assert (outcome.is_error, outcome.text) == (True, "four is taken")
    outcome = await call(tool, {"it": [{"number": 6}]})
    assert outcome.is_error
    assert "secret" not in outcome.text


async def test_an_input_value_is_never_repeated_by_a_validator(call: Any) -> None:
    tool, _ = received(Annotated[UUID, Field(description="x")])
    outcome = await call(tool, {"it": "s3cret" * 50})
    assert outcome.is_error
    assert "s3cret" * 20 not in outcome.text


@pytest.mark.parametrize("annotation", [list[int], dict[str, int], set[int], Person], ids=str)
async def test_a_mutable_default_is_fresh_for_every_call(call: Any, annotation: Any) -> None:
    default: Any = {list[int]: [1], dict[str, int]: {"a": 1}, set[int]: {1}}.get(
        annotation, Person(name="a")
    )

    async def tool(it: Any = default) -> int:
        seen.append(it)
        return id(it)

    seen: list[Any] = []
    tool.__annotations__["it"] = annotation
    made = Tool.from_function(tool)
    await call(made)
    await call(made)
    assert seen == [default, default]
    assert seen[0] is not seen[1]
    assert default is not seen[0]


async def test_a_sentinel_default_stays_the_same_object(call: Any) -> None:
    missing: Any = object()

    async def tool(it: str = missing) -> bool:
        return it is missing

    assert (await call(tool)).value is True


async def test_defaults_are_not_validated(call: Any) -> None:
    async def tool(it: datetime.date = "tomorrow") -> str:  # type: ignore[assignment]
        return str(it)

    assert (await call(tool)).value == "tomorrow"


async def test_arguments_beyond_a_limit_are_refused_clearly(call: Any) -> None:
    deep = b"[" * 200 + b"]" * 200

    async def tool(it: Any) -> None: ...

    made = Tool.from_function(tool, limits=Limits(instance_depth=50))
    outcome = await call(made, b'{"it": %b}' % deep)
    assert outcome.is_error
    assert "limit" in outcome.text


async def test_arguments_too_deep_for_any_decoder_are_an_error_result(call: Any) -> None:
    tool, values = received(Any)
    outcome = await call(tool, b'{"it": %b' % (b"[" * 100_000))
    assert outcome.is_error
    assert outcome.text == "nested more than 200 levels deep (limit: instance_depth)"
    assert values == []


class Narrow(typing_extensions.TypedDict):
    count: Annotated[int, Field(ge=1)]
    name: Annotated[str, Field(min_length=1, pattern="^[a-z]+$", description="A name")]
    share: Annotated[float, annotated_types.Le(1)]


class Metered(typing_extensions.TypedDict):
    count: Annotated[int, msgspec.Meta(ge=1)]


GOOD: dict[str, Any] = {"count": 1.0, "name": "a", "share": 1}


@pytest.mark.parametrize(
    ("annotation", "good", "expected", "bad"),
    [
        (Annotated[int, Field(ge=1)], 2.0, 2, 0),
        (Annotated[int, msgspec.Meta(ge=1)], 2.0, 2, 0),
        (Annotated[list[int], Field(max_length=1)], [2.0], [2], [1, 2]),
        (Annotated[str, StringConstraints(to_upper=True, min_length=1)], "a", "A", ""),
        (Annotated[str, AfterValidator(str.upper)], "a", "A", 1),
        (Narrow, GOOD, {"count": 1, "name": "a", "share": 1.0}, {**GOOD, "count": 0}),
        (Narrow, GOOD, {"count": 1, "name": "a", "share": 1.0}, {**GOOD, "name": "A"}),
        (Narrow, GOOD, {"count": 1, "name": "a", "share": 1.0}, {**GOOD, "share": 2}),
        (Metered, {"count": 1.0}, {"count": 1}, {"count": 0}),
    ],
    ids=str,
)
async def test_a_constraint_is_enforced_whoever_wrote_it_and_changes_no_value(
    call: Any, annotation: Any, good: Any, expected: Any, bad: Any
) -> None:
    tool, values = received(annotation)
    assert not (await call(tool, {"it": good})).is_error
    assert repr(values) == repr([expected])
    assert (await call(tool, {"it": bad})).is_error
    assert len(values) == 1


async def test_a_constraint_on_a_result_is_enforced(call: Any) -> None:
    def tool(count: int) -> list[Narrow]:
        return [{"count": count, "name": "a", "share": 0.5}]

    made = Tool.from_function(tool)
    assert (await call(made, {"count": 1})).value == [{"count": 1, "name": "a", "share": 0.5}]
    assert (await call(made, {"count": 0})).is_error


def odd(value: int) -> int:
    raise ValueError(f"{value} is odd")


@pytest.mark.parametrize(
    ("annotation", "wrong"),
    [(list[datetime.timedelta], "P"), (list[Annotated[int, AfterValidator(odd)]], 1)],
    ids=["from text", "as decoded"],
)
async def test_of_very_many_items_that_only_their_type_refuses_the_first_is_told(
    call: Any, annotation: Any, wrong: Any
) -> None:
    tool, values = received(annotation)
    refused = await call(tool, {"it": [wrong] * 50_000})
    assert values == []
    assert [line.partition(":")[0] for line in refused.text.splitlines()] == ["/it/0"]
