"""What a plain server publishes for the shop and for the functions of `tools.make_functions`."""

from __future__ import annotations

from typing import Any

from bed.schemas_of_shop import INPUTS, OUTPUTS

_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
        "order": {"enum": ["newest", "oldest", "relevance"], "default": "relevance"},
        "filters": {"anyOf": [{"$ref": "#/$defs/Filters"}, {"type": "null"}], "default": None},
    },
    "required": ["query"],
    "$defs": {
        "Filters": {
            "type": "object",
            "properties": {
                "owner": {"type": ["string", "null"], "default": None},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
                "archived": {"type": "boolean", "default": False},
            },
        }
    },
}
_OUTPUT = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "title": {"type": "string"},
            "score": {"type": "number"},
        },
        "required": ["id", "title", "score"],
    },
}


def _input_schema(number: int) -> dict[str, Any]:
    query = {"type": "string", "minLength": 1, "description": f"What to look for in {number}"}
    return {**_INPUT, "properties": {"query": query, **_INPUT["properties"]}}


def make_entries(count: int) -> list[dict[str, Any]]:
    """Return hand-made entries for `count` such functions."""
    return [
        {
            "name": f"lookup_{number}",
            "description": (
                f"Look things up in collection {number} and return the best matches first."
            ),
            "inputSchema": _input_schema(number),
            "outputSchema": _OUTPUT,
        }
        for number in range(count)
    ]


def shop_entries() -> list[dict[str, Any]]:
    """Return the natural entries of the shop's three tools."""
    return [
        {
            "name": name,
            "description": "A tool of the shop.",
            "inputSchema": INPUTS[name],
            "outputSchema": OUTPUTS[name],
        }
        for name in INPUTS
    ]
