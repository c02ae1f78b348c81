"""`mcp` lowlevel Server: hand-written schemas, results built by hand, nothing validated."""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bed import shop
from bed.listing import make_entries
from bed.schemas_of_shop import INPUTS, OUTPUTS
from bed.servers import hosting

options = hosting.parse()
TOOLS = [
    types.Tool(
        name=name,
        description="A tool of the shop.",
        input_schema=INPUTS[name],
        output_schema=OUTPUTS[name] if OUTPUTS[name].get("type") == "object" else None,
    )
    for name in shop.TOOLS
] + [
    types.Tool(
        name=entry["name"], description=entry["description"], input_schema=entry["inputSchema"]
    )
    for entry in make_entries(options.tools)
]


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    value = shop.answer(params.name, params.arguments or {})
    structured = value if isinstance(value, dict) else {"result": value}
    text = types.TextContent(type="text", text=json.dumps(value))
    return types.CallToolResult(content=[text], structured_content=structured)


server = Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


async def run_stdio() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    if options.transport == "http":
        application = server.streamable_http_app(stateless_http=True, json_response=True)
        hosting.serve_http(application, options.port)
    else:
        anyio.run(run_stdio)
