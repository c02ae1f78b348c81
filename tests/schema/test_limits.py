"""Every limit is named, has a value, and is a verdict of its own when it is exceeded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anyshape.errors import AnyshapeError, SchemaError, ValidationError
from anyshape.schema import LimitExceeded, Limits, compile

ROOT = Path(__file__).resolve().parent.parent.parent


def nested_object(levels: int) -> Any:
    document: Any = {"type": "string"}
    for _ in range(levels):
        document = {"properties": {"a": document}}
    return document


def nested_list(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


DOUBLING = {
    "$ref": "#/$defs/n0",
    "$defs": {
        f"n{level}": {"anyOf": [{"$ref": f"#/$defs/n{level + 1}"}] * 2} for level in range(40)
    }
    | {"n40": {"type": "string"}},
}

# The engine compiles what is beneath `unevaluatedProperties` once for every way that leads there.
SPREADING = {**DOUBLING, "unevaluatedProperties": False}

EXCEEDED: dict[str, tuple[Limits, Callable[[Limits], Any]]] = {
    "document_bytes": (
        Limits(document_bytes=100),
        lambda limits: compile({"description": "x" * 200}, limits=limits),
    ),
    "depth": (Limits(depth=10), lambda limits: compile(nested_object(6), limits=limits)),
    "subschemas": (
        Limits(subschemas=10),
        lambda limits: compile(
            {"properties": {f"p{n}": {"type": "string"} for n in range(20)}}, limits=limits
        ),
    ),
    "pattern_length": (
        Limits(pattern_length=5),
        lambda limits: compile({"pattern": "^abcdef$"}, limits=limits),
    ),
    "pattern_bytes": (
        Limits(pattern_bytes=10_000),
        lambda limits: compile({"pattern": "^[a-z]{500}$"}, limits=limits),
    ),
    "instance_depth": (
        Limits(instance_depth=5),
        lambda limits: compile({"type": "array"}, limits=limits).accepts(nested_list(9)),
    ),
    "seconds": (
        Limits(seconds=0.2),
        lambda limits: compile(DOUBLING, limits=limits).accepts(1),
    ),
    "memory": (
        Limits(memory=32_000_000),
        lambda limits: compile(SPREADING, limits=limits),
    ),
}


@pytest.mark.parametrize("name", EXCEEDED)
def test_exceeding_a_limit_names_it_its_value_and_what_was_found(name: str) -> None:
    limits, exceed = EXCEEDED[name]

    with pytest.raises(LimitExceeded) as raised:
        exceed(limits)

    assert raised.value.limit == name
    assert raised.value.allowed == getattr(limits, name)
    assert raised.value.found is None or raised.value.found > raised.value.allowed
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_limit_has_a_test_above() -> None:
    assert {field.name for field in dataclasses.fields(Limits)} == EXCEEDED.keys()


def test_exceeding_a_limit_is_neither_valid_nor_invalid() -> None:
    assert issubclass(LimitExceeded, AnyshapeError)
    assert not issubclass(LimitExceeded, (SchemaError, ValidationError))


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, "10", None, True, float("nan")])
def test_a_limit_is_a_positive_number(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})  # pyright: ignore[reportArgumentType] - the mistake


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
def test_only_seconds_come_in_fractions(name: str) -> None:
    if name == "seconds":
        assert Limits(seconds=1.5).seconds == 1.5
        return
    with pytest.raises(ValueError, match=f"{name} must be a positive integer"):
        Limits(**{name: 300_000_000.5})  # pyright: ignore[reportArgumentType] - the mistake


@pytest.mark.parametrize(
    ("name", "value", "bound"),
    [
        ("seconds", 0.001, "at least 0.01"),
        ("seconds", 61, "60 at most"),
        ("seconds", float("inf"), "60 at most"),
        ("memory", 1_000_000, "at least 16000000"),
    ],
)
def test_what_is_confined_has_room_to_start_and_an_end(name: str, value: float, bound: str) -> None:
    with pytest.raises(ValueError, match=f"{name} can be {bound}"):
        Limits(**{name: value})  # pyright: ignore[reportArgumentType] - the mistake


@pytest.mark.parametrize("name", ["depth", "instance_depth"])
def test_depths_cannot_be_raised_beyond_what_is_safe(name: str) -> None:
    assert getattr(Limits(**{name: 250}), name) == 250
    with pytest.raises(ValueError, match="250 at most"):
        Limits(**{name: 251})


def test_limits_are_values() -> None:
    assert Limits() == Limits()
    assert hash(Limits()) == hash(Limits())
    with pytest.raises(dataclasses.FrozenInstanceError):
        Limits().seconds = 5  # pyright: ignore[reportAttributeAccessIssue] - frozen
    assert dataclasses.replace(Limits(), seconds=5).seconds == 5


def test_the_deepest_allowed_of_everything_works_together() -> None:
    limits = Limits(depth=250, instance_depth=250)
    schema = compile(nested_object(120), limits=limits)
    value: Any = "x"
    for _ in range(120):
        value = {"a": value}

    assert schema.accepts(value)
    assert compile({}, limits=limits).accepts(nested_list(249))
    assert compile({"uniqueItems": True}, limits=limits).accepts([nested_list(248), 1])
    assert not compile({"uniqueItems": True}, limits=limits).accepts(
        [nested_list(248), nested_list(248)]
    )


def test_every_limit_is_documented_with_its_default() -> None:
    text = (ROOT / "docs" / "concepts" / "limits.md").read_text()

    for field in dataclasses.fields(Limits):
        assert f"| `{field.name}` | {field.default:,} |" in text


@pytest.mark.parametrize(
    "document",
    [
        {"properties": {"x" * 9_000: {"properties": {f"{n}": True for n in range(1_000)}}}},
        {
            "$id": f"urn:{'x' * 9_000}",
            "properties": {f"{n}": {"$id": f"{n}"} for n in range(1_000)},
        },
        {
            "$id": f"https://example.com/{'%2F' * 3_000}/",
            "properties": {f"{n}": {"$id": f"{n}"} for n in range(100)},
        },
        {
            "$id": f"https://example.com/{'a/' * 4_500}",
            "properties": {f"{n}": {"$ref": f"?#/$defs/{n}"} for n in range(100)},
            "$defs": {"x": {"$id": "?", "$defs": {f"{n}": True for n in range(100)}}},
        },
    ],
)
def test_names_that_count_for_all_places_beneath_them_are_bounded_together(document: Any) -> None:
    with pytest.raises(LimitExceeded, match="names of more than 8000000 characters"):
        compile(document)


def test_a_long_name_is_fine_where_little_stands_beneath_it() -> None:
    name = "x" * 200_000
    schema = compile({"properties": {name: {"properties": {"a": {"type": "string"}}}}})

    assert schema.accepts({name: {"a": "b"}})
    assert not schema.accepts({name: {"a": 1}})
