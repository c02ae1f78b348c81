"""pydantic-ai: `MCPToolset`, as an agent calls it."""

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset
from report import Visit, run


async def visit(seen: Visit) -> None:
    async with MCPToolset(seen.url or StdioTransport(*seen.command)) as toolset:
        offered = [tool.name for tool in await toolset.list_tools()]
        await seen.make(offered, toolset.direct_call_tool)


run("pydantic-ai-slim", visit)
