"""Derived schemas carry no ballast, and are the same bytes on every start."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from typing import Any

import pytest
from patience import PATIENCE
from pydantic import BaseModel

from anyshape.tools import Tool
from anyshape.tools.inlining import arrange

PROGRAM = '''
import enum, json
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from pydantic import BaseModel, Field
import msgspec
from anyshape.tools import Tool

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Kind(enum.StrEnum):
    A = "a"
    B = "b"

class Address(BaseModel):
    street: str
    tags: set[str] = {"x", "y", "z", "w", "v"}

@dataclass
class Shipping:
    to: Address
    kinds: frozenset[Kind] = frozenset({Kind.A, Kind.B})

class User(BaseModel):
    name: str
    home: Address
    work: Address | None = None
    colour: Colour = Colour.RED
    friends: list["User"] = []

class Line(msgspec.Struct):
    sku: str
    kind: Kind = Kind.A

def tool(
    user: User,
    shipping: Shipping,
    lines: list[Line],
    words: set[str] = {"delta", "alpha", "charlie", "bravo", "echo"},
    pairs: frozenset[tuple[str, int]] = frozenset({("b", 1), ("a", 2), ("c", 3)}),
    mode: Literal["x", "y"] = "x",
) -> dict[str, list[User]]:
    """Do it all."""

listing = Tool.from_function(tool).listing
print(json.dumps([listing.input_schema, listing.output_schema]))
'''


def test_the_same_bytes_come_out_on_every_start() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=PATIENCE,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len({hashlib.sha256(output).hexdigest() for output in outputs}) == 1
    published, returned = json.loads(outputs.pop())
    assert published["properties"]["words"]["default"] == [
        "alpha",
        "bravo",
        "charlie",
        "delta",
        "echo",
    ]
    assert list(published["$defs"]) == sorted(published["$defs"])
    assert set(returned["$defs"]) == {"Address", "User"}


class Address(BaseModel):
    street: str
    city: str


class Customer(BaseModel):
    name: str
    address: Address


class Order(BaseModel):
    id: int
    customer: Customer
    notes: list[str] = []


def find_orders(customer: Customer, limit: int = 10, query: str | None = None) -> list[Order]:
    """Find orders."""
    return []


def test_a_schema_is_no_larger_than_that_of_the_peers() -> None:
    from fastmcp.tools import FunctionTool
    from mcp.server.mcpserver.tools.base import Tool as OfficialTool

    mine = Tool.from_function(find_orders).listing
    fast: Any = FunctionTool.from_function(find_orders)
    official: Any = OfficialTool.from_function(find_orders)

    def size(*schemas: Any) -> int:
        return sum(len(json.dumps(schema)) for schema in schemas)

    ours = size(mine.input_schema, mine.output_schema)
    assert ours < 0.9 * size(fast.parameters, fast.output_schema)
    assert ours < 0.9 * size(official.parameters, official.output_schema)


ONE: dict[str, Any] = {"type": "object"}
TEXT: dict[str, Any] = {"type": "string"}

ARRANGED: list[tuple[Any, Any, Any]] = [
    ({"$ref": "#/$defs/A"}, {"A": ONE}, ONE),
    (
        {"$ref": "#/$defs/A", "description": "x"},
        {"A": {**ONE, "description": "y"}},
        {**ONE, "description": "x"},
    ),
    (
        {"$ref": "#/$defs/A", "minProperties": 1},
        {"A": {**ONE, "minProperties": 2}},
        {"$ref": "#/$defs/A", "minProperties": 1, "$defs": {"A": {**ONE, "minProperties": 2}}},
    ),
    (
        {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]},
        {"A": ONE},
        {"anyOf": [{"$ref": "#/$defs/A"}] * 2, "$defs": {"A": ONE}},
    ),
    ({"$ref": "#/$defs/A"}, {"A": {"items": {"$ref": "#/$defs/B"}}, "B": ONE}, {"items": ONE}),
    (
        {"$ref": "#/$defs/A"},
        {"A": {"items": {"$ref": "#/$defs/A"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}},
    ),
    (
        {"$ref": "#/$defs/A"},
        {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"not": {"$ref": "#/$defs/A"}}},
        {
            "$ref": "#/$defs/A",
            "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"not": {"$ref": "#/$defs/A"}}},
        },
    ),
    ({"type": "string"}, {"A": ONE}, {"type": "string"}),
    ({"const": {"$ref": "#/$defs/A"}}, {"A": ONE}, {"const": {"$ref": "#/$defs/A"}}),
    (
        {"default": {"$ref": "#/$defs/A"}, "properties": {"$ref": {"$ref": "#/$defs/A"}}},
        {"A": ONE},
        {"default": {"$ref": "#/$defs/A"}, "properties": {"$ref": ONE}},
    ),
    ({"$ref": "#/$defs/a~1b"}, {"a/b": ONE}, ONE),
    ({"$ref": "#/$defs/none"}, {}, {"$ref": "#/$defs/none"}),
    (
        {"anyOf": [{"anyOf": [ONE, {"anyOf": [TEXT, {"const": 1}]}]}, {"type": "null"}]},
        {},
        {"anyOf": [ONE, TEXT, {"const": 1}, {"type": "null"}]},
    ),
    (
        {"anyOf": [{"$ref": "#/$defs/A"}, TEXT]},
        {"A": {"anyOf": [ONE], "description": "x"}},
        {"anyOf": [{"anyOf": [ONE], "description": "x"}, TEXT]},
    ),
]


@pytest.mark.parametrize(("schema", "definitions", "expected"), ARRANGED)
def test_definitions_stand_where_they_cost_least(
    schema: Any, definitions: Any, expected: Any
) -> None:
    assert arrange(schema, definitions) == expected
