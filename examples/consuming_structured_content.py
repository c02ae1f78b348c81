"""Read `structuredContent` as SEP-2106 allows it: any JSON value, or none at all."""

from collections.abc import Mapping
from typing import Any, cast

NONE = object()

RESULTS: list[dict[str, Any]] = [
    {"content": [], "structuredContent": {"temperature": 21.5}},
    {"content": [], "structuredContent": [{"hour": "09:00"}, {"hour": "10:00"}]},
    {"content": [], "structuredContent": 0},
    {"content": [], "structuredContent": None},
    {"content": [{"type": "text", "text": "sunny"}]},
]


def temperature(result: Mapping[str, Any]) -> float | None:
    """Take a member of an object, and only of an object."""
    value = result.get("structuredContent", NONE)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get("temperature")
    return None


def describe(result: Mapping[str, Any]) -> str:
    """Tell apart what used to be one case."""
    match result.get("structuredContent", NONE):
        case value if value is NONE:
            return "no structured content: read the text"
        case None:
            return "the value null"
        case bool() | int() | float() | str() as value:
            return f"the plain value {value!r}"
        case list():
            return "a list"
        case _:
            return "an object"


if __name__ == "__main__":
    for result in RESULTS:
        print(describe(result), temperature(result))
