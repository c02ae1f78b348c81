"""A server that breaks its own schemas, lists one that nobody can use, and plays with terminals."""

from __future__ import annotations

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

OBJECT = {"type": "object"}
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
ELSEWHERE = {"type": "object", "$ref": "https://example.com/count.json"}
TRICK = "\x1b]0;owned\x07\x1b[2Jgone\u202e"


async def list_tools(context: object, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(name="lie", input_schema=OBJECT, output_schema=COUNT),
            types.Tool(name="elsewhere", input_schema=OBJECT, output_schema=ELSEWHERE),
            types.Tool(name="trick", description=f"Play a {TRICK}", input_schema=OBJECT),
            types.Tool(name="picture", input_schema=OBJECT),
        ]
    )


async def call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "lie":
        words = types.TextContent(type="text", text="many")
        return types.CallToolResult(content=[words], structured_content={"count": "many"})
    if params.name == "picture":
        image = types.ImageContent(type="image", data="R0lGODlhAQABAAAAACw=", mime_type="image/gif")
        return types.CallToolResult(content=[image])
    return types.CallToolResult(content=[types.TextContent(type="text", text=TRICK)])


server = Server("liar", on_list_tools=list_tools, on_call_tool=call_tool)


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
