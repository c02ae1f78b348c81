"""CrewAI: the tools that it makes of an agent's `mcps`, run as an agent runs them."""

from types import SimpleNamespace

from crewai.mcp import MCPServerHTTP, MCPServerStdio, MCPToolResolver
from crewai.utilities.logger import Logger
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        server = MCPServerHTTP(url=seen.url)
    else:
        program, arguments = seen.command
        server = MCPServerStdio(command=program, args=arguments)
    resolver = MCPToolResolver(agent=SimpleNamespace(), logger=Logger(verbose=False))
    tools = {tool.original_tool_name: tool for tool in resolver.resolve([server])}

    def call(name, arguments):
        tool = tools[name]
        try:
            given = tool.run(**arguments)
        except ValueError as error:  # it names the tool, and so where the server is
            raise ValueError(str(error).replace(tool.name, name)) from None
        return getattr(given, "message", given)  # of a failure, which is no string

    await seen.make(list(tools), call)


run("crewai", visit)
