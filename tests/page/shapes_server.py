"""A server with one tool for each thing that the page can show or ask for."""

from __future__ import annotations

import asyncio
import struct
import zlib
from typing import Annotated, Any, Literal

from anyshape import UNSTRUCTURED, Context, Server, Text, ToolError, ToolResult
from anyshape.protocol.content import Audio, Image, ResourceLink

server = Server("shapes", title="Every shape", version="1.2.3", instructions="Try them all.")

SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "shape": {
            "oneOf": [
                {
                    "title": "Circle",
                    "type": "object",
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
                    "required": ["kind", "radius"],
                    "additionalProperties": False,
                },
                {
                    "title": "Rectangle",
                    "type": "object",
                    "properties": {
                        "kind": {"const": "rectangle"},
                        "width": {"type": "number"},
                        "height": {"type": "number"},
                    },
                    "required": ["kind", "width", "height"],
                    "additionalProperties": False,
                },
            ]
        },
        "unit": {"enum": ["cm", "m"], "default": "cm"},
    },
    "required": ["shape"],
    "additionalProperties": False,
}
PARCEL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "destination": {"enum": ["domestic", "international"]},
        "kilograms": {"type": "number", "exclusiveMinimum": 0, "maximum": 30},
        "customs_code": {"type": "string", "pattern": "^[0-9]{6}$"},
    },
    "required": ["destination", "kilograms"],
    "if": {"properties": {"destination": {"const": "international"}}},
    "then": {"required": ["customs_code"]},
    "else": {"properties": {"customs_code": {"not": {}}}},
}
PARTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "names": {"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 2},
        "prices": {"type": "object", "additionalProperties": {"type": "number"}},
        "either": {"type": ["string", "null"]},
        "sure": {"type": "boolean"},
        "long": {"type": "string", "maxLength": 1000},
        "count": {"type": "integer"},
    },
}


def png(width: int, height: int, rgb: tuple[int, int, int]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = b"".join(b"\x00" + bytes(rgb) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@server.tool(input_schema=SHAPE, annotations={"readOnlyHint": True})
def area(arguments: dict[str, Any]) -> float:
    """Return the area of a shape."""
    shape = arguments["shape"]
    if shape["kind"] == "circle":
        return round(3.14159 * shape["radius"] ** 2, 2)
    return shape["width"] * shape["height"]


@server.tool(input_schema=PARCEL)
def send_parcel(arguments: dict[str, Any]) -> dict[str, Any]:
    """Send a parcel."""
    return {"sent": arguments}


@server.tool(input_schema=PARTS)
def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what was given."""
    return arguments


@server.tool
async def count(context: Context, to: int = 3) -> int:
    """Count, and tell of it."""
    for number in range(1, to + 1):
        context.progress(number, total=to, message=f"at {number}")
    await context.log("info", "counted")
    return to


@server.tool
async def wait_for_ever(context: Context) -> str:
    """Start, and never end."""
    context.progress(1, total=2, message="started")
    try:
        await asyncio.Event().wait()
    finally:
        CANCELLED.set()
    return "never"


CANCELLED = asyncio.Event()


@server.tool
async def wait_for_cancelling() -> str:
    """Wait until a call of the other one was cancelled."""
    await CANCELLED.wait()
    return "it was cancelled"


@server.tool
def people() -> list[dict[str, Any]]:
    """Return a table."""
    return [
        {"name": "Ada", "born": 1815, "tags": ["maths"]},
        {"name": "Grace", "born": 1906, "rank": None},
    ]


@server.tool
def deep() -> dict[str, Any]:
    """Return a tree."""
    return {"root": {"left": {"leaf": 12345678901234567890}, "right": [1, 2, None]}}


@server.tool
def nothing() -> None:
    """Return null."""


@server.tool(output_schema=UNSTRUCTURED)
def pictures() -> ToolResult[None]:
    """Return content of every kind."""
    return ToolResult(
        content=[
            Text("just text"),
            Image(png(40, 30, (67, 56, 202)), mime_type="image/png"),
            Audio(b"RIFF\x24\x00\x00\x00WAVE", mime_type="audio/wav"),
            ResourceLink(uri="https://example.com/report", name="report"),
            ResourceLink(uri="javascript:alert(1)", name="not a link"),
        ]
    )


@server.tool
def fails() -> int:
    """Fail."""
    raise ToolError("It does not work on Sundays.")


@server.prompt
def greet(name: str, mood: Literal["happy", "sad"] = "happy") -> str:
    """Greet somebody.

    Args:
        name: Whom.
        mood: How.
    """
    return f"Say hello to {name}, who is {mood}."


@server.resource("memo://today", mime_type="text/plain")
def today() -> str:
    """What is on today."""
    return "Nothing <b>much</b>."


@server.resource("memo://secret", description="Read this. \u200b\u202eNow.")
def secret() -> str:
    return "hidden"


@server.resource("memo://day/{day}")
def memo(day: Annotated[str, "The day"]) -> str:
    """What is on some day."""
    return f"On {day}: nothing."
