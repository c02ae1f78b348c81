"""The official Python SDK, low level: schemas and values written by hand.

Natural ones, which it can carry only at 2026-07-28; or, with `older` as the last argument, in the
envelope that its authors put them into for clients of the 2025 revisions.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import hosting
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

USER: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["id", "name"],
}
NOTHING: dict[str, Any] = {"type": "object"}
BY_ID: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}},
    "required": ["id"],
}
TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "get_count": (NOTHING, {"type": "integer"}),
    "list_users": (NOTHING, {"type": "array", "items": USER}),
    "no_users": (NOTHING, {"type": "array", "items": USER}),
    "find_user": (BY_ID, USER),
    "greet": (
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        {"type": "string"},
    ),
    "is_even": (
        {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
        {"type": "boolean"},
    ),
    "fail": (
        {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]},
        None,
    ),
}


def answer(name: str, arguments: dict[str, Any]) -> Any:
    match name:
        case "get_count":
            return 42
        case "list_users":
            return hosting.USERS
        case "no_users":
            return []
        case "find_user":
            return hosting.find(arguments["id"])
        case "greet":
            return f"Hello, {arguments['name']}"
        case _:
            return arguments["number"] % 2 == 0


OLDER = sys.argv[-1] == "older"


def shaped(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    if not OLDER or schema is None or schema["type"] == "object":
        return schema
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, input_schema=given, output_schema=shaped(returned))
            for name, (given, returned) in TOOLS.items()
        ]
    )


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    arguments = params.arguments or {}
    if params.name == "fail":
        words = types.TextContent(type="text", text=arguments["reason"])
        return types.CallToolResult(content=[words], is_error=True)
    value = answer(params.name, arguments)
    text = types.TextContent(type="text", text=json.dumps(value))
    structured = {"result": value} if OLDER and params.name != "find_user" else value
    return types.CallToolResult(content=[text], structured_content=structured)


server = Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)


async def run_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    if hosting.is_http():
        hosting.serve(server.streamable_http_app())
    else:
        anyio.run(run_stdio)
