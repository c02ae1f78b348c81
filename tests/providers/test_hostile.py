"""Schemas that are meant to make lowering explode end within its budget, one way or the other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest

from anyshape.errors import LimitExceeded
from anyshape.providers import PROFILES, CannotLower, Lowered, lower

SECONDS = 20.0
"""Of processor time, for one schema and profile: far more than any of these takes."""


def tool(schema: Any, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": schema}, "$defs": definitions}


def doubling() -> dict[str, Any]:
    """Each definition refers to the next one twice: 2**30 places if all were written out."""
    levels = {
        f"d{n}": {
            "type": "object",
            "properties": {"l": {"$ref": f"#/$defs/d{n + 1}"}, "r": {"$ref": f"#/$defs/d{n + 1}"}},
        }
        for n in range(30)
    }
    return tool({"$ref": "#/$defs/d0"}, **levels, d30={"type": "string"})


def choices() -> dict[str, Any]:
    """A product of 3**40 alternatives."""
    part = [{"properties": {f"p{m}": {"type": "integer"}}} for m in range(3)]
    return tool(
        {"allOf": [{"anyOf": [{**one, "title": str(n)} for one in part]} for n in range(40)]}
    )


def nested_choices() -> dict[str, Any]:
    """Alternatives within alternatives, by reference, each with a choice beside it."""
    levels = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"required": [f"a{n}"]}]}
        | {"allOf": [{"anyOf": [{"minProperties": n}, {"$ref": f"#/$defs/d{n + 1}"}]}]}
        for n in range(25)
    }
    return tool({"$ref": "#/$defs/d0"}, **levels, d25={"type": "object"})


def mutual() -> dict[str, Any]:
    """Twenty definitions, each of which may hold each other."""
    names = [f"d{n}" for n in range(20)]
    return tool(
        {"$ref": "#/$defs/d0"},
        **{
            name: {
                "type": "object",
                "properties": {other: {"$ref": f"#/$defs/{other}"} for other in names},
            }
            for name in names
        },
    )


def meeting() -> dict[str, Any]:
    """Recursive schemas that meet: the set of subschemas grows with every level."""
    return tool(
        {"allOf": [{"$ref": f"#/$defs/d{n}"} for n in range(8)]},
        **{
            f"d{n}": {
                "type": "object",
                "properties": {
                    "a": {"$ref": f"#/$defs/d{(n * 3 + 1) % 8}"},
                    "b": {"allOf": [{"$ref": f"#/$defs/d{(n + 1) % 8}"}, {"minProperties": n}]},
                },
            }
            for n in range(8)
        },
    )


def deep() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(55):
        schema = {"type": "object", "properties": {"d": schema}, "required": ["d"]}
    return schema


def long_chain() -> dict[str, Any]:
    """Two thousand definitions, each required by the one before."""
    levels = {
        f"d{n}": {
            "type": "object",
            "properties": {"d": {"$ref": f"#/$defs/d{n + 1}"}},
            "required": ["d"],
        }
        for n in range(2_000)
    }
    return tool({"$ref": "#/$defs/d0"}, **levels, d2000={"type": "string"})


def wide() -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{n}": {"enum": [n, str(n)]} for n in range(2_000)}}


def many_alternatives() -> dict[str, Any]:
    return tool(
        {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"k": {"const": n}, f"p{n}": {}},
                    "required": ["k"],
                }
                for n in range(400)
            ]
        }
    )


def patterns() -> dict[str, Any]:
    names = {f"{'a' * n}!": {"type": "string"} for n in range(1, 60)}
    return {
        "type": "object",
        "properties": names,
        "patternProperties": {f"^(a+)+{n}$": {"type": "string"} for n in range(20)},
    }


SCHEMAS = (
    *(doubling, choices, nested_choices, mutual, meeting, deep, long_chain, wide),
    *(many_alternatives, patterns),
)


@pytest.mark.parametrize("make", SCHEMAS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", PROFILES)
def test_a_hostile_schema_is_lowered_or_refused_within_its_budget(
    name: str, make: Callable[[], dict[str, Any]]
) -> None:
    schema = make()
    started = time.process_time()
    found: Lowered | None = None
    with contextlib.suppress(CannotLower, LimitExceeded):
        found = lower(schema, name)
    assert time.process_time() - started < SECONDS
    assert found is None or len(str(found.document)) < 5_000_000
