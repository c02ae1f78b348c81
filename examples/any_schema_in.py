"""Tools that say what they take: by their parameters, or by a schema written out in full."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from anyshape import Context, Server, Tool, ToolError

server = Server("any-schema-in")


class Guest(BaseModel):
    """Someone who comes along."""

    name: str
    vegetarian: bool = False


@server.tool
def book_table(
    day: date,
    guests: Annotated[list[Guest], Field(min_length=1, max_length=8)],
    context: Context,
    area: Literal["inside", "terrace"] = "inside",
) -> str:
    """Book a table.

    Args:
        day: The day of the visit.
        guests: Who is coming.
        area: Where to sit.
    """
    return f"{len(guests)} at the {area} table on {day:%A}"


@server.tool(
    input_schema={
        "type": "object",
        "oneOf": [
            {"properties": {"id": {"type": "string", "format": "uuid"}}, "required": ["id"]},
            {"properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]},
        ],
    }
)
def find_resource(id: str | None = None, name: str | None = None) -> str:
    """Find a resource by its id or by its name, but not by both."""
    return f"the resource with id {id}" if id is not None else f"the resource called {name}"


@server.tool(
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    }
)
def search(arguments: dict[str, Any]) -> list[str]:
    """Search, with any number of `x-` options."""
    return sorted(arguments)


async def divide(arguments: dict[str, Any]) -> float:
    if arguments["by"] == 0:
        raise ToolError("Division by zero: choose another divisor.")
    return arguments["number"] / arguments["by"]


server.add_tool(
    Tool(
        name="divide",
        description="Divide a number.",
        handler=divide,
        input_schema={
            "type": "object",
            "properties": {"number": {"type": "number"}, "by": {"type": "number"}},
            "required": ["number", "by"],
        },
        output_schema={"type": "number"},
    )
)


if __name__ == "__main__":
    server.run()
