"""crewai-tools: the tools of an `MCPServerAdapter`, run as an agent of CrewAI runs them."""

from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        server = {"url": seen.url, "transport": "streamable-http"}
    else:
        program, arguments = seen.command
        server = StdioServerParameters(command=program, args=arguments)
    with MCPServerAdapter(server, connect_timeout=60) as made:
        tools = {tool.name: tool for tool in made}
        await seen.make(list(tools), lambda name, arguments: tools[name].run(**arguments))


run("crewai-tools", visit)
