"""smolagents: the tools of `MCPClient`."""

from mcp import StdioServerParameters
from report import Visit, run
from smolagents import MCPClient


async def visit(seen: Visit) -> None:
    if seen.url:
        where = {"url": seen.url, "transport": "streamable-http"}
    else:
        program, arguments = seen.command
        where = StdioServerParameters(command=program, args=arguments)
    with MCPClient(where, structured_output=True) as listed:
        tools = {tool.name: tool for tool in listed}
        await seen.make(list(tools), lambda name, arguments: tools[name](**arguments))


run("smolagents", visit)
