"""autogen-ext: the tools of `mcp_server_tools`."""

from autogen_core import CancellationToken
from autogen_ext.tools.mcp import (
    StdioServerParams,
    StreamableHttpServerParams,
    mcp_server_tools,
)
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        where = StreamableHttpServerParams(url=seen.url)
    else:
        program, arguments = seen.command
        where = StdioServerParams(command=program, args=arguments, read_timeout_seconds=60)
    tools = {tool.name: tool for tool in await mcp_server_tools(where)}

    async def call(name, arguments):
        tool = tools[name]
        return tool.return_value_as_string(await tool.run_json(arguments, CancellationToken()))

    await seen.make(list(tools), call)


run("autogen-ext", visit)
