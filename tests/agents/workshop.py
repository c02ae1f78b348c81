"""A server with a tool for everything that can come back, and schemas that no provider takes."""

from __future__ import annotations

from typing import Any

from anyshape import (
    UNSTRUCTURED,
    Audio,
    EmbeddedResource,
    Image,
    ResourceLink,
    Server,
    Text,
    ToolError,
    ToolResult,
)

PICTURE = b"\x89PNG\r\n\x1a\n and so on \xff\xfe"
PAYMENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "note": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["amount"],
    "oneOf": [{"required": ["note"]}, {"required": ["labels"]}],
    "additionalProperties": False,
}

SCRIPT: list[list[tuple[str, dict[str, Any]]]] = [
    [("pay", {"amount": "a lot", "note": "x"}), ("nobody", {})],
    [("pay", {"amount": 3, "note": "x", "labels": None}), ("draw", {}), ("everything", {})],
]
"""What a model calls in a conversation: two mistakes, then what it wants."""


def make_server() -> Server:
    server = Server("workshop")

    @server.tool
    def draw() -> Image:
        """Draw a picture."""
        return Image(PICTURE, "image/png")

    @server.tool(input_schema=PAYMENT)
    def pay(arguments: dict[str, Any]) -> dict[str, Any]:
        """Pay somebody, with a note or with labels."""
        return arguments

    @server.tool
    def fail(reason: str) -> str:
        """Fail for a reason."""
        raise ToolError(reason)

    @server.tool(name="odd.name")
    def odd() -> int:
        """Count."""
        return 7

    @server.tool
    def everything() -> ToolResult[dict[str, int]]:
        """Return every kind of content."""
        return ToolResult(
            structured={"n": 1},
            content=[
                Text("words"),
                Image(PICTURE, "image/png"),
                Image(b"<svg/>", "image/svg+xml"),
                Audio(b"sound", "audio/wav"),
                ResourceLink("file:///a.txt", "a.txt", description="a file"),
                EmbeddedResource("file:///b.txt", text="inside b"),
                EmbeddedResource("file:///c.png", blob=PICTURE, mime_type="image/png"),
                EmbeddedResource("file:///d.bin", blob=b"123"),
            ],
        )

    @server.tool(output_schema=UNSTRUCTURED)
    def nothing() -> ToolResult[Any]:
        """Return nothing at all."""
        return ToolResult(content=[])

    return server
