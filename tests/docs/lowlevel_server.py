"""Tools of the official SDK's low-level server, schemas and values by hand."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
LIMIT: dict[str, Any] = {
    "type": "object",
    "properties": {"limit": {"type": "integer"}},
    "additionalProperties": False,
}
TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": ["string", "null"]}}}
NOTHING: dict[str, Any] = {"type": "object"}
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "names": (NOTHING, NAMES),
    "nobody": (NOTHING, {"type": ["string", "null"]}),
    "empty": (NOTHING, NAMES),
    "wrong": (NOTHING, {"type": "integer"}),
    "limit": (LIMIT, {}),
    "kind": (TEXT, {"type": "string"}),
}


def answer(name: str, arguments: dict[str, Any]) -> Any:
    values: dict[str, Any] = {
        "names": ["Ada", "Grace"],
        "nobody": None,
        "empty": [],
        "wrong": "seven",
        "limit": arguments,
        "kind": type(arguments.get("text")).__name__,
    }
    return values[name]


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, input_schema=given, output_schema=returned)
            for name, (given, returned) in TOOLS.items()
        ]
    )


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    words = types.TextContent(type="text", text="in the author's words")
    value = answer(params.name, params.arguments or {})
    return types.CallToolResult(content=[words], structured_content=value)


server = Server("low", on_list_tools=list_tools, on_call_tool=call_tool)


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
