"""A server of ours for what the demo has no occasion to show to peers.

    python odd_server.py          on stdio
    python odd_server.py http     over HTTP, with its port on the first line

Values that other programs take for nothing, schemas that others do not write, arguments that travel
in headers, a listing that changes, calls that are given up, and a lie.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import MutableMapping
from typing import Any

import uvicorn

from anyshape import Server, Tool
from anyshape.server import ServerOptions

server = Server(
    "odd", options=ServerOptions(page_size=int(os.environ.get("PAGE_SIZE", "1000")), grace=1.0)
)
cancelled: list[str] = []

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"

NUMBERS = {
    "$id": "https://example.com/numbers",
    "type": "array",
    "items": {"$ref": "#/$defs/n"},
    "$defs": {"n": {"type": "integer"}},
}
"""Two tools may promise the same, and a third something else under the same name."""

CONSTANTS: dict[str, tuple[Any, Any]] = {
    "zero": ({"type": "integer"}, 0),
    "no": ({"type": "boolean"}, False),
    "blank": ({"type": "string"}, ""),
    "empty_list": ({"type": "array"}, []),
    "empty_object": ({"type": "object"}, {}),
    "null": ({"type": "null"}, None),
    "anything": (True, ["x", {"result": 1}]),
    "looks_wrapped": ({"type": "object"}, {"result": 1}),
    "text": ({"type": "string"}, 'two\nlines, "quoted", \u2028 ☃ 𝄞'),
    "says_dialect": ({"$schema": DIALECT, "type": "array", "prefixItems": [{"const": 1}]}, [1]),
    "says_draft_07": ({"$schema": DRAFT_07, "type": "array", "items": [{"const": 1}]}, [1]),
    "has_id": (NUMBERS, [1, 2]),
    "has_that_id_too": (NUMBERS, [3]),
    "takes_that_id": ({"$id": NUMBERS["$id"], "type": "array", "items": {"type": "string"}}, ["a"]),
    "is_an_object_with_id": (
        {
            "$id": "https://example.com/object",
            "type": "object",
            "properties": {"n": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "integer"}},
        },
        {"n": 1},
    ),
    "has_definitions": (
        {
            "$schema": DRAFT_07,
            "type": "array",
            "items": {"$ref": "#/definitions/n"},
            "definitions": {"n": {"type": "integer"}},
        },
        [1],
    ),
    "has_anchor": (
        {"type": "array", "items": {"$ref": "#n"}, "$defs": {"n": {"$anchor": "n", "const": 1}}},
        [1],
    ),
    "has_dynamic_anchor": (
        {"$dynamicAnchor": "tree", "type": "array", "items": {"$dynamicRef": "#tree"}},
        [[], [[]]],
    ),
    "refers_to_itself": ({"type": "array", "items": {"$ref": "#"}}, [[], [[]]]),
    "composed": (
        {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
        {"a": 1},
    ),
    "leaves_nothing": (
        {
            "type": "object",
            "allOf": [{"properties": {"a": {"type": "integer"}}}],
            "unevaluatedProperties": False,
        },
        {"a": 1},
    ),
    "letters": ({"type": "string", "pattern": r"^\p{L}+$"}, "é"),
    "large": ({"type": "integer"}, 9007199254740993),
    "lied_about": ({"const": "honest"}, "honest"),
}


def _constant(value: Any) -> Any:
    def handler(arguments: dict[str, Any]) -> Any:
        return value

    return handler


for name, (schema, value) in CONSTANTS.items():
    server.add_tool(
        Tool(
            name=name,
            handler=_constant(value),
            input_schema={"type": "object"},
            output_schema=schema,
        )
    )


@server.tool(
    input_schema={
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limit": {"type": "integer", "x-mcp-header": "Limit"},
        },
    }
)
async def routed(arguments: dict[str, Any]) -> dict[str, Any]:
    """Take arguments that travel in headers too."""
    return arguments


@server.tool
async def change(name: str) -> bool:
    """Add a tool of that name, or remove it; tell whether it is there now."""
    if name in server.tools:
        server.remove_tool(name)
        return False
    server.add_tool(Tool(name=name, handler=_constant(name), input_schema={"type": "object"}))
    return True


@server.tool
async def wait(tag: str) -> str:
    """Wait until the caller gives up."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        cancelled.append(tag)
        raise
    return tag


@server.tool
async def given_up() -> list[str]:
    """List the calls that were given up."""
    return cancelled


@server.tool
async def repeat(text: str, times: int) -> list[str]:
    """Repeat a text, for long answers."""
    return [text] * times


application = server.asgi()


async def lie(scope: Any, receive: Any, send: Any) -> None:
    """Serve, and break the promise of one tool, as none of ours can."""

    async def twist(message: MutableMapping[str, Any]) -> None:
        body: bytes = message.get("body", b"")
        if b'"tools"' not in body:
            message["body"] = body.replace(b"honest", b"a liar")
        await send(message)

    await application(scope, receive, twist)


def main() -> None:
    if sys.argv[1:] != ["http"]:
        server.run()
        return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        configuration = uvicorn.Config(
            lie, log_level="warning", access_log=False, timeout_graceful_shutdown=1
        )
        uvicorn.Server(configuration).run([listener])


if __name__ == "__main__":
    main()
