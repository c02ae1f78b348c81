"""mcp-haystack: the tools of an `MCPToolset`, invoked as a component invokes them."""

import asyncio

from haystack_integrations.tools.mcp import (
    MCPToolset,
    StdioServerInfo,
    StreamableHttpServerInfo,
)
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        server = StreamableHttpServerInfo(url=seen.url)
    else:
        program, arguments = seen.command
        server = StdioServerInfo(command=program, args=arguments)
    toolset = MCPToolset(server, eager_connect=True, connection_timeout=60, invocation_timeout=60)
    try:
        tools = {tool.name: tool for tool in toolset}

        def call(name, arguments):
            return asyncio.to_thread(tools[name].invoke, **arguments)

        await seen.make(list(tools), call)
    finally:
        toolset.close()


run("mcp-haystack", visit)
