"""What the guides about tools say, said again by running their examples."""

from __future__ import annotations

import importlib.util
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from anyshape import ABSENT, Client, Server

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str) -> Server:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where pydantic looks up the names in annotations
    spec.loader.exec_module(module)
    return module.server


SHAPES: list[tuple[str, dict[str, Any], Any, str]] = [
    (
        "forecast",
        {"days": 1},
        [{"day": "2026-07-28", "high": 24, "conditions": "sunny"}],
        '[{"day":"2026-07-28","high":24,"conditions":"sunny"}]',
    ),
    ("count_people", {}, 1, "1"),
    ("find_person", {"name": "ann"}, {"name": "Ann", "age": 41}, '{"name":"Ann","age":41}'),
    ("find_person", {"name": "bob"}, None, "null"),
    ("names", {}, ["Ann"], 'I know 1 of them.\n["Ann"]'),
    ("dot", {}, ABSENT, ""),
    ("greet", {"name": "Ann"}, ABSENT, "Hello Ann"),
]


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25", "2025-06-18"])
async def test_any_shape_out(revision: str) -> None:
    async with Client(load("any_shape_out"), revision=revision) as client:
        for name, arguments, value, text in SHAPES:
            result = await client.call_tool(name, arguments)
            assert (result.value if result.has_value else ABSENT) == value
            assert result.text == text
        tools = {tool.name: tool for tool in await client.list_tools()}
    if revision == "2026-07-28":
        assert tools["count_people"].output_schema == {"type": "integer"}
        forecast: Any = tools["forecast"].output_schema
        assert forecast["type"] == "array"


TAKEN: list[tuple[str, dict[str, Any], Any]] = [
    (
        "book_table",
        {"day": "2026-07-28", "guests": [{"name": "Ann"}]},
        "1 at the inside table on Tuesday",
    ),
    ("find_resource", {"name": "logo"}, "the resource called logo"),
    ("search", {"query": "a", "x-lang": "de"}, ["query", "x-lang"]),
    ("divide", {"number": 1, "by": 2}, 0.5),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("find_resource", {}, 'needs one of: "id"; "name"'),
    ("search", {"query": "a", "lang": "de"}, "lang"),
    ("divide", {"number": 1, "by": 0}, "Division by zero: choose another divisor."),
    ("book_table", {"day": "2026-07-28", "guests": [{"name": "Ann"}], "aera": "inside"}, "area"),
]


async def test_any_schema_in() -> None:
    async with Client(load("any_schema_in"), check_arguments=False) as client:
        for name, arguments, value in TAKEN:
            assert (await client.call_tool(name, arguments)).value == value
        for name, arguments, words in REFUSED:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert words in result.text


FAILURES: list[tuple[str, dict[str, Any], str]] = [
    (
        "order",
        {"items": [{"name": "tea", "count": 20}, {"count": 1}]},
        "/items/0/count: expected an integer ≥ 1 and ≤ 10, got 20\n"
        '/items/1: missing required property "name" (a string)',
    ),
    (
        "order",
        {"items": [{"name": "Tea", "count": 2}]},
        "/items/0/name: item names are written in lower case",
    ),
    ("order", {"items": [{"name": "rum", "count": 2}]}, "We have no rum. We do have: tea."),
    (
        "connect",
        {"host": "db"},
        "The tool failed because of an error inside it; the server's log says which.",
    ),
    (
        "read_sensor",
        {},
        "The tool returned a result that it should not; the server's log says more.",
    ),
    ("wait", {}, "The tool did not finish within 0.05 seconds."),
]


async def test_errors_a_model_can_fix(caplog: pytest.LogCaptureFixture) -> None:
    async with Client(load("errors_a_model_can_fix"), check_arguments=False) as client:
        with caplog.at_level(logging.WARNING, "anyshape.tools"):
            for name, arguments, text in FAILURES:
                result = await client.call_tool(name, arguments)
                assert (result.is_error, result.text) == (True, text)
    assert [record.getMessage() for record in caplog.records] == [
        "tool connect failed with ConnectionError",
        "tool read_sensor returned a value that is not what its output schema says: "
        'expected an integer, got "seven" (a string)',
        "tool wait was given up after 0.05 s",
    ]
