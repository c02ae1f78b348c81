"""The calls that every host and framework makes, and what they come to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

DEMO = Path(__file__).resolve().parent.parent / "peers" / "demo_calls.json"

OTHERS: list[Json] = [
    {"id": "greeting", "tool": "greet", "arguments": {"name": "Ada"}, "value": "Hello, Ada!"},
    {
        "id": "area",
        "tool": "measure",
        "arguments": {"shape": {"kind": "square", "side": 1.5}},
        "value": 2.25,
    },
    {
        "id": "no-area",
        "tool": "measure",
        "arguments": {"shape": {"kind": "circle", "radius": 1}},
        "value": "round",
    },
    {
        "id": "no-shape",
        "tool": "measure",
        "arguments": {"shape": {"kind": "square", "radius": 1}},
        "refusal": ["side"],
    },
]

SHOWN = {
    "object": "weather",
    "array": "forecast",
    "prose and array": "users",
    "number": "count",
    "string": "greeting",
    "null": "nobody",
    "object or null": "somebody",
    "number or string": "no-area",
    "failure": "failing",
    "wrong call": "record-by-both",
}
"""The calls that the page shows, by what they come to."""


def calls() -> list[Json]:
    """Return every call: of the demo's tools, and of those beside them."""
    demo: list[Json] = json.loads(DEMO.read_text())
    # Nobody is there to be asked.
    return [call for call in demo if "unknown" not in call and "asks" not in call] + OTHERS


def tools() -> set[str]:
    """Return the names of all tools."""
    return {call["tool"] for call in calls()}


def tells(texts: list[str], value: Any) -> bool:
    """Tell whether the last text is the value: as JSON, in the envelope, or a string as it is."""
    if not texts:
        return False
    if texts[-1] == value:
        return True
    try:
        told = json.loads(texts[-1])
    except ValueError:
        return False
    return told in (value, {"result": value})
