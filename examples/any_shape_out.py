"""Tools whose results are arrays, numbers, null, unions: whatever their return types say."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel

from anyshape import UNSTRUCTURED, Image, Server, ToolResult

server = Server("any-shape-out")


class Forecast(BaseModel):
    """The weather of one day."""

    day: date
    high: int
    conditions: Literal["sunny", "cloudy", "rain"]


class Person(BaseModel):
    """Someone we know."""

    name: str
    age: int


WEEK = [
    Forecast(day=date(2026, 7, 28), high=24, conditions="sunny"),
    Forecast(day=date(2026, 7, 29), high=21, conditions="rain"),
]
PEOPLE = {"ann": Person(name="Ann", age=41)}


@server.tool
def forecast(days: int = 2) -> list[Forecast]:
    """Forecast the weather: an array."""
    return WEEK[:days]


@server.tool
def count_people() -> int:
    """Count the people we know: a number."""
    return len(PEOPLE)


@server.tool
def find_person(name: str) -> Person | None:
    """Find a person: an object, or null."""
    return PEOPLE.get(name)


@server.tool(output_schema={"type": "array", "items": {"type": "string"}, "uniqueItems": True})
def names(prefix: str = "") -> ToolResult[list[str]]:
    """List names: the value for programs, a sentence for people."""
    found = [person.name for person in PEOPLE.values() if person.name.startswith(prefix)]
    return ToolResult(structured=found, content=[f"I know {len(found)} of them."])


@server.tool
def dot() -> Image:
    """Draw a dot: content, so nothing structured."""
    return Image(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;", "image/gif")


@server.tool(output_schema=UNSTRUCTURED)
def greet(name: str) -> str:
    """Greet someone: text alone."""
    return f"Hello {name}"


if __name__ == "__main__":
    server.run()
