"""strands-agents: `MCPClient`, as an agent calls its tools."""

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from report import Visit, run
from strands.tools.mcp import MCPClient


def transport(seen: Visit):
    if seen.url:
        try:
            from mcp.client.streamable_http import streamable_http_client as connect
        except ImportError:
            from mcp.client.streamable_http import streamablehttp_client as connect
        return connect(seen.url)
    program, arguments = seen.command
    return stdio_client(StdioServerParameters(command=program, args=arguments))


async def visit(seen: Visit) -> None:
    with MCPClient(lambda: transport(seen)) as client:
        offered = [tool.tool_name for tool in client.list_tools_sync()]

        def call(name, arguments):
            given = client.call_tool_sync("1", name, arguments)
            return given["content"]

        await seen.make(offered, call)


run("strands-agents", visit)
