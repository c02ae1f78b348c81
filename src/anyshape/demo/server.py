"""The demo server, built as anyone would build theirs.

Its tools are those of the documents that led to SEP-2106 (raw arrays, raw numbers, either/or
input, a nullable object), and a few more that show recursion, conditions, progress, log messages,
a question to the user, and failure. Beside them there are resources, a template, a prompt, and
arguments that complete.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from pydantic import Field

from anyshape import (
    Ask,
    Complete,
    Context,
    Message,
    ResourceNotFound,
    Server,
    Text,
    ToolError,
    ToolResult,
)
from anyshape.demo.records import (
    FORECAST,
    LOGO,
    PEOPLE,
    RESOURCES,
    ROOT,
    USERS,
    WEATHER,
    Booking,
    Folder,
    HourlyForecast,
    Person,
    Quote,
    Seat,
    User,
    WeatherData,
)

server = Server(
    "anyshape-demo",
    title="Anyshape demo",
    instructions="Small tools of every JSON shape. Nothing here touches the world.",
)

EITHER_ID_OR_NAME = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "The identifier"},
        "name": {"type": "string", "minLength": 1, "description": "The name"},
    },
    "oneOf": [{"required": ["id"]}, {"required": ["name"]}],
    "additionalProperties": False,
}

FIND_RESOURCE = {
    "type": "object",
    "oneOf": [
        {
            "properties": {"id": {"type": "string", "format": "uuid"}},
            "required": ["id"],
        },
        {
            "properties": {"name": {"type": "string", "minLength": 1}},
            "required": ["name"],
        },
    ],
}

USER_LIST = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "name": {"type": "string"},
            "email": {"type": "string", "format": "email"},
        },
        "required": ["id", "name"],
    },
}

PARCEL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "destination": {
            "enum": ["domestic", "international"],
            "description": "Whether the parcel crosses a border",
        },
        "kilograms": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 30,
            "description": "The weight",
        },
        "customs_code": {
            "type": "string",
            "pattern": "^[0-9]{6}$",
            "description": "Six digits, for a parcel that crosses a border",
        },
    },
    "required": ["destination", "kilograms"],
    "additionalProperties": False,
    "if": {"properties": {"destination": {"const": "international"}}},
    "then": {"required": ["customs_code"]},
    "else": {"properties": {"customs_code": {"not": {}}}},
}


@server.tool(name="get-weather-forecast")
def get_weather_forecast() -> list[HourlyForecast]:
    """Get the hourly forecast: a plain array, not an object around one."""
    return FORECAST


@server.tool(name="find-by-id-or-name", input_schema=EITHER_ID_OR_NAME)
def find_by_id_or_name(id: str | None = None, name: str | None = None) -> dict[str, str]:
    """Find a record by its id or by its name, never by both."""
    return {"found": f"record {id}" if id is not None else f"record named {name}"}


@server.tool(name="get-count")
def get_count() -> int:
    """Get a count: a plain number."""
    return 42


@server.tool(output_schema=USER_LIST)
def list_users(limit: Annotated[int, Field(ge=1, le=100)] = 100) -> ToolResult[list[User]]:
    """List the users of the system.

    Args:
        limit: How many at the most.
    """
    users: list[User] = USERS[:limit]
    told = " and ".join(f"{user['name']} ({user['id']}, {user['email']})" for user in users)
    count = f"{len(users)} user{'' if len(users) == 1 else 's'}"
    return ToolResult(structured=users, content=[Text(f"Found {count}: {told}.")])


@server.tool(input_schema=FIND_RESOURCE)
def find_resource(arguments: dict[str, Any]) -> dict[str, str]:
    """Find a resource by ID or name."""
    wanted: str | None = arguments.get("id")
    name = RESOURCES.get(wanted, "") if wanted is not None else arguments["name"]
    for identifier, known in RESOURCES.items():
        if known == name:
            return {"id": identifier, "name": known}
    raise ToolError(f"no such resource; there are {', '.join(sorted(RESOURCES.values()))}")


@server.tool
def get_weather_data(
    location: str, units: Literal["celsius", "fahrenheit"] = "celsius"
) -> WeatherData:
    """Get current weather conditions and forecast data for a location.

    Args:
        location: City name or zip code.
        units: The scale of the temperatures.
    """
    del location, units
    return WEATHER


@server.tool
def find_person(name: str) -> Person | None:
    """Find a person, or nobody: null is an answer too.

    Args:
        name: The first name, for instance "ada".
    """
    return PEOPLE.get(name.lower())


@server.tool
def folder_tree() -> Folder:
    """Get a tree of folders: a recursive type."""
    return ROOT


@server.tool(input_schema=PARCEL)
def quote_parcel(destination: str, kilograms: float, customs_code: str | None = None) -> Quote:
    """Quote the price of a parcel; one that crosses a border needs a customs code."""
    abroad = destination == "international"
    return Quote(
        price=round((12.0 if abroad else 4.0) + 1.5 * kilograms, 2), days=7 if abroad else 2
    )


@server.tool(timeout=60)
async def count_slowly(
    context: Context,
    steps: Annotated[int, Field(ge=1, le=50)] = 5,
    seconds: Annotated[float, Field(ge=0, le=1)] = 0.2,
) -> list[int]:
    """Count, reporting progress on the way, and logging what it is about to do.

    Args:
        steps: How far to count.
        seconds: How long each step takes.
    """
    context.log("info", {"steps": steps}, logger="counting")
    counted: list[int] = []
    for step in range(1, steps + 1):
        await asyncio.sleep(seconds)
        counted.append(step)
        context.progress(step, total=steps, message=f"counted to {step}")
    return counted


@server.tool
def choose_seat(flight: str, seat: Annotated[Seat, Ask("Where would you like to sit?")]) -> Booking:
    """Book a seat on a flight; the user is asked which.

    Args:
        flight: The number of the flight, for instance "AS 2106".
    """
    return Booking(flight=flight, seat=seat)


@server.tool
def always_fails(reason: str = "it was asked to") -> int:
    """Fail, with a message that a model can read.

    Args:
        reason: What to say.
    """
    raise ToolError(f"This tool failed because {reason}.")


@server.resource("demo://folders")
def folders() -> Folder:
    """The tree of folders, as JSON."""
    return ROOT


@server.resource("demo://logo.png", mime_type="image/png")
def logo() -> bytes:
    """The logo: a picture of one pixel."""
    return LOGO


FirstName = Annotated[str, Complete(sorted(PEOPLE))]


@server.resource("demo://people/{name}")
def person(name: FirstName) -> Person:
    """A person, by first name."""
    if name not in PEOPLE:
        raise ResourceNotFound(f"nobody is called {name}")
    return PEOPLE[name]


@server.prompt(title="Introduce somebody")
def introduce(
    name: FirstName, tone: Literal["plain", "grand"] = "plain", lines: int = 3
) -> list[Message]:
    """Ask for an introduction.

    Args:
        name: Who it is about, by first name.
        tone: How it should sound.
        lines: How long it may be.
    """
    known = PEOPLE.get(name)
    if known is None:
        raise ToolError(f"nobody is called {name}; there are {', '.join(sorted(PEOPLE))}")
    return [
        Message(f"Introduce {known.name}, {known.age}, in {lines} {tone} lines."),
        Message("Ladies and gentlemen," if tone == "grand" else "This is", role="assistant"),
    ]
