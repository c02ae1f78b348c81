"""google-adk: the tools of `McpToolset`, whose declarations it writes for its model."""

from google.adk.tools.mcp_tool.mcp_session_manager import (
    StdioConnectionParams,
    StreamableHTTPConnectionParams,
)
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from mcp import StdioServerParameters
from report import Visit, run


class NoContext:
    """As much of a tool's context as a call without credentials looks at."""

    def __getattr__(self, name):
        return None


async def visit(seen: Visit) -> None:
    if seen.url:
        where = StreamableHTTPConnectionParams(url=seen.url)
    else:
        program, arguments = seen.command
        parameters = StdioServerParameters(command=program, args=arguments)
        where = StdioConnectionParams(server_params=parameters, timeout=60)
    toolset = McpToolset(connection_params=where)
    try:
        tools = {tool.name: tool for tool in await toolset.get_tools()}
        declared = [name for name, tool in tools.items() if tool._get_declaration()]

        async def call(name, arguments):
            return await tools[name].run_async(args=arguments, tool_context=NoContext())

        await seen.make(declared, call)
    finally:
        await toolset.close()


run("google-adk", visit)
