"""What is long is read as what is short is, and told of in fewer words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from anyshape.typed_reading import LONG, TypedReader, flaws_of


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["leaf"] = "leaf"
    sizes: list[int] = []
    tags: dict[str, list[int]] = {}


class Branch(BaseModel):
    kind: Literal["branch"] = "branch"
    parts: list[Annotated[Leaf | Branch, Field(discriminator="kind")]] = []


class Titled(TypedDict, total=False):
    title: str
    type: list[int]


@dataclass
class Point:
    x: int
    y: tuple[int, ...] = ()


def even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


TYPES: list[Any] = [
    *(list[int], list[float], dict[str, int], set[int], frozenset[str], tuple[int, str]),
    *(tuple[int, ...], list[int] | list[str], list[Leaf], Branch, Leaf | Branch, Titled, Point),
    *(list[Annotated[int, AfterValidator(even)]], list[date], dict[str, Decimal | None], list[Any]),
    Annotated[list[int], Field(max_length=2)],
]
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "2026-07-28", 1.5])
KEYS = st.sampled_from(["kind", "sizes", "tags", "parts", "title", "type", "x", "y", "a"])
VALUES = st.recursive(
    SCALARS | st.sampled_from(["leaf", "branch"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def outcome(reader: TypedReader, size: int, text: bytes, strict: bool) -> Any:
    try:
        return reader.of(size).validate_json(text, strict=strict)
    except ValidationError:
        return ValidationError


@given(st.sampled_from(TYPES), VALUES, st.booleans())
def test_long_text_is_read_as_short_text_is(kind: Any, value: Any, strict: bool) -> None:
    reader, text = TypedReader(TypeAdapter(kind)), json.dumps(value).encode()
    assert reader.of(LONG + 1) is not reader.of(LONG)
    short, long = (outcome(reader, size, text, strict) for size in (LONG, LONG + 1))
    assert (type(long), long) == (type(short), short)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (list[int], ["a"] * 20_000),
        (list[Leaf], [{"sizes": ["a"] * 20_000}]),
        (Leaf, {"tags": {str(key): ["a"] for key in range(20_000)}}),
        (set[date], [str(each) for each in range(20_000)]),
        (Leaf, {str(key): 1 for key in range(20_000)}),
    ],
)
def test_of_many_flaws_few_are_told(kind: Any, wrong: Any) -> None:
    text = json.dumps(wrong).encode()
    with pytest.raises(ValidationError) as raised:
        TypedReader(TypeAdapter(kind)).of(len(text)).validate_json(text)
    assert len(flaws_of(raised.value)) == 1


def test_of_short_text_every_flaw_is_told() -> None:
    text = json.dumps(["a"] * 500).encode()
    with pytest.raises(ValidationError) as raised:
        TypedReader(TypeAdapter(list[int])).of(len(text)).validate_json(text)
    assert len(flaws_of(raised.value)) == 500


def test_a_type_with_a_configuration_of_its_own_keeps_it() -> None:
    adapter = TypeAdapter(list[str], config=ConfigDict(str_to_upper=True))
    text = json.dumps(["a" * LONG]).encode()
    assert TypedReader(adapter).of(len(text)).validate_json(text) == ["A" * LONG]
