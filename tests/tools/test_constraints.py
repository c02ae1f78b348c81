"""Constraints that pydantic checks by functions: on unions, on any value, behind validators."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

import annotated_types
import pytest
from pydantic import AfterValidator, BaseModel, Field

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Tool

INTEGER, NUMBER, STRING = {"type": "integer"}, {"type": "number"}, {"type": "string"}
ARRAY = {"type": "array", "items": {"type": "string"}}
DAY = datetime.date(2026, 1, 1)
WRONG: Any = "x"


def tenfold(number: int) -> int:
    return number * 10


class Reading(BaseModel):
    level: Annotated[int | float, Field(ge=0, lt=10)]


STATED: list[tuple[Any, Any, list[Any], list[Any]]] = [
    (
        Annotated[int | float, Field(ge=0, le=100)],
        {"anyOf": [INTEGER, NUMBER], "minimum": 0, "maximum": 100},
        [0, 99.5],
        [-5, 100.5],
    ),
    (
        Annotated[int | float | None, annotated_types.Interval(gt=0, lt=1)],
        {
            "anyOf": [
                {"anyOf": [INTEGER, NUMBER], "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                {"type": "null"},
            ]
        },
        [0.5, None],
        [0, 1],
    ),
    (
        Annotated[int | Literal["auto"], Field(multiple_of=5)],
        {"anyOf": [INTEGER, {"const": "auto", **STRING}], "multipleOf": 5},
        [10, "auto"],
        [12],
    ),
    (
        Annotated[str | list[str], Field(min_length=2)],
        {"anyOf": [STRING, ARRAY], "minLength": 2, "minItems": 2, "minProperties": 2},
        ["ab", ["a", "b"]],
        ["a", ["ab"]],
    ),
    (
        Annotated[Mapping[str, int], Field(max_length=1)],
        {"type": "object", "additionalProperties": INTEGER, "maxProperties": 1},
        [{}, {"a": 1}],
        [{"a": 1, "b": 2}],
    ),
    (
        Annotated[str | int, Field(pattern="^a")],
        {"anyOf": [STRING, INTEGER], "pattern": "^a"},
        ["ab", 3],
        ["b"],
    ),
    (Annotated[Any, Field(ge=1)], {"minimum": 1}, [1, "a"], [0]),
    (
        Annotated[int, Field(ge=5), annotated_types.Predicate(bool), Field(ge=1)],
        {"type": "integer", "minimum": 5, "allOf": [{"minimum": 1}]},
        [5],
        [4],
    ),
    (
        Reading,
        {
            "type": "object",
            "properties": {
                "level": {"anyOf": [INTEGER, NUMBER], "minimum": 0, "exclusiveMaximum": 10}
            },
            "required": ["level"],
        },
        [{"level": 9.5}],
        [{"level": 10}, {"level": -1}],
    ),
]


@pytest.mark.parametrize(("annotation", "schema", "good", "bad"), STATED)
async def test_a_constraint_on_a_union_is_published_and_enforced(
    call: Any, annotation: Any, schema: Any, good: list[Any], bad: list[Any]
) -> None:
    async def take(it: Any) -> None: ...

    take.__annotations__["it"] = annotation
    tool = Tool.from_function(take)
    assert tool.listing.input_schema["properties"]["it"] == schema
    assert [(await call(tool, {"it": value})).is_error for value in good] == [False] * len(good)
    assert [(await call(tool, {"it": value})).is_error for value in bad] == [True] * len(bad)


@pytest.mark.parametrize(("annotation", "schema", "good", "bad"), STATED)
async def test_a_constraint_on_a_union_holds_for_results(
    call: Any, annotation: Any, schema: Any, good: list[Any], bad: list[Any]
) -> None:
    async def give(it: Any) -> Any:
        return it

    give.__annotations__["return"] = annotation
    tool = Tool.from_function(give)
    assert tool.listing.output_schema == schema
    assert [(await call(tool, {"it": value})).is_error for value in good] == [False] * len(good)
    assert [(await call(tool, {"it": value})).is_error for value in bad] == [True] * len(bad)


@pytest.mark.parametrize(
    ("annotation", "schema", "good", "bad"),
    [
        (Annotated[str, AfterValidator(len), Field(ge=2)], STRING, "ab", "a"),
        (Annotated[int, AfterValidator(tenfold), Field(ge=10)], INTEGER, 1, 0),
        (Annotated[int, AfterValidator(str), Field(pattern="^1")], INTEGER, 1, 2),
        (
            Annotated[Decimal, annotated_types.Predicate(bool), Field(decimal_places=1)],
            {"anyOf": [NUMBER, STRING]},
            "1.5",
            "1.55",
        ),
        (
            Annotated[datetime.date | int, Field(ge=DAY)],
            {"anyOf": [{"type": "string", "format": "date"}, INTEGER]},
            "2026-01-01",
            "2025-12-31",
        ),
    ],
)
async def test_what_no_keyword_can_say_is_enforced_all_the_same(
    call: Any, annotation: Any, schema: Any, good: Any, bad: Any
) -> None:
    async def take(it: Any) -> None: ...

    take.__annotations__["it"] = annotation
    tool = Tool.from_function(take)
    assert tool.listing.input_schema["properties"]["it"] == schema
    assert not (await call(tool, {"it": good})).is_error
    assert (await call(tool, {"it": bad})).is_error


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (Annotated[str, Field(ge=1)], "ge means nothing for str"),
        (Annotated[int, Field(min_length=1)], "min_length means nothing for int"),
        (Annotated[list[int], Field(lt=1)], "lt means nothing for list"),
        (Annotated[datetime.timedelta, Field(max_length=9)], "max_length means .* timedelta"),
        (Annotated[float, Field(decimal_places=2)], "decimal_places means nothing for float"),
        (Annotated[int, Field(pattern="^1")], "pattern means nothing for int"),
        (Annotated[int, Field(ge=WRONG)], "'ge' must be coercible to an integer"),
        (Annotated[Literal["a"], Field(strict=True)], "Unable to apply constraint 'strict'"),
        (Annotated[str, Field(pattern="(")], r"unclosed group; write Field\(json_schema_extra"),
        (Annotated[str, Field(pattern="(?!a)")], r"look-around.* write Field\(json_schema_extra"),
        ({"type": "string"}, "a dict is no type"),
    ],
)
def test_a_constraint_that_cannot_be_is_refused_at_definition(annotation: Any, reason: str) -> None:
    def take(first: int, it: Any) -> None: ...

    take.__annotations__["it"] = annotation
    with pytest.raises(ToolDefinitionError, match=rf"^take\(\): parameter 'it' .*\(.*{reason}"):
        Tool.from_function(take)


async def test_a_pattern_that_pydantic_cannot_read_is_written_as_a_keyword(call: Any) -> None:
    async def take(
        it: Annotated[str, Field(json_schema_extra={"pattern": "^(?!a)"})], price: Decimal
    ) -> None: ...

    assert not (await call(take, {"it": "b", "price": "1.5"})).is_error
    assert (await call(take, {"it": "a", "price": "1.5"})).is_error
