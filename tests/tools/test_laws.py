"""Laws that hold for every value and every type, found out by Hypothesis."""

from __future__ import annotations

import asyncio
import datetime
import json
from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from anyshape.errors import SchemaError
from anyshape.schema import compile
from anyshape.tools import Tool
from anyshape.tools.inlining import arrange

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4)
)


def exactly(value: Any) -> str:
    """Return a text in which 1, 1.0, True and "1" all differ."""
    return json.dumps(value, sort_keys=True)


async def echo(it: Any) -> Any:
    return it


ECHO = Tool.from_function(echo)


@given(VALUES)
def test_any_json_value_goes_in_and_comes_out_unchanged(value: Any) -> None:
    arguments = json.dumps({"it": value}).encode()
    result = asyncio.run(ECHO.call(arguments))
    assert result.structured is not None
    assert exactly(json.loads(result.structured)) == exactly(value)


JSON_TEXTS = VALUES.map(json.dumps)


async def words(it: str | None, others: list[str | int]) -> list[Any]:
    return [it, *others]


WORDS = Tool.from_function(words)


@given(JSON_TEXTS, st.lists(JSON_TEXTS, max_size=3))
def test_a_string_stays_a_string_whatever_is_in_it(text: str, texts: list[str]) -> None:
    arguments = json.dumps({"it": text, "others": texts}).encode()
    result = asyncio.run(WORDS.call(arguments))
    assert json.loads(result.structured or b"null") == [text, *texts]


class Row(BaseModel):
    name: str
    count: int
    share: float
    when: datetime.date | None = None
    parts: list[Row] = []


ROWS = st.recursive(
    st.builds(
        Row,
        name=TEXT,
        count=st.integers(),
        share=st.floats(allow_nan=False, allow_infinity=False),
        when=st.none() | st.dates(),
    ),
    lambda inner: st.builds(
        Row, name=TEXT, count=st.integers(), share=st.just(1.0), parts=st.lists(inner, max_size=2)
    ),
    max_leaves=5,
)


async def echo_rows(rows: list[Row]) -> list[Row]:
    return rows


ECHO_ROWS = Tool.from_function(echo_rows)


@given(st.lists(ROWS, max_size=3))
def test_models_go_in_and_come_out_unchanged(rows: list[Row]) -> None:
    sent = [row.model_dump(mode="json") for row in rows]
    result = asyncio.run(ECHO_ROWS.call(json.dumps({"rows": sent}).encode()))
    assert not result.is_error, result
    assert json.loads(result.structured or b"null") == sent


@given(VALUES)
def test_arguments_are_accepted_exactly_when_the_published_schema_accepts_them(value: Any) -> None:
    async def tool(a: int, b: list[str] | None = None, c: float = 0.0) -> None: ...

    made = Tool.from_function(tool)
    arguments = {"a": value, "b": [value], "c": 1}
    result = asyncio.run(made.call(json.dumps(arguments).encode()))
    validator = jsonschema.Draft202012Validator(made.listing.input_schema)
    accepted: bool = validator.is_valid(arguments)  # pyright: ignore[reportUnknownMemberType]  # its stubs are partial
    assert result.is_error is not accepted


NAMES = ("A", "B", "C")


def schemas() -> st.SearchStrategy[Any]:
    leaves = (
        st.sampled_from(NAMES).map(lambda name: {"$ref": f"#/$defs/{name}"})
        | st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": "null"}])
        | st.just({"const": {"$ref": "#/$defs/A"}})
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(lambda item: {"type": "array", "items": item}),
            st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"anyOf": parts}),
            st.dictionaries(st.sampled_from(["a", "$ref"]), inner, max_size=2).map(
                lambda parts: {"type": "object", "properties": parts}
            ),
        ),
        max_leaves=4,
    )


@settings(max_examples=200)
@given(schemas(), st.fixed_dictionaries({name: schemas() for name in NAMES}), VALUES)
def test_arranging_definitions_changes_no_verdict(
    schema: Any, definitions: dict[str, Any], value: Any
) -> None:
    whole = {**schema, "$defs": definitions}
    if not _is_sound(whole):
        return
    before = jsonschema.Draft202012Validator(whole)
    after = jsonschema.Draft202012Validator(arrange(schema, definitions))
    assert before.is_valid(value) == after.is_valid(value)  # pyright: ignore[reportUnknownMemberType]  # its stubs are partial


def _is_sound(schema: Any) -> bool:
    """Tell whether a schema can be judged at all: some refer to themselves in place."""
    try:
        compile(schema)
    except SchemaError:
        return False
    return True
