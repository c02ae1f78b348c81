"""langchain-mcp-adapters: the tools that `load_mcp_tools` makes, as an agent calls them."""

from langchain_mcp_adapters.tools import load_mcp_tools
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        connection = {"transport": "streamable_http", "url": seen.url}
    else:
        program, arguments = seen.command
        connection = {"transport": "stdio", "command": program, "args": arguments}
    tools = {tool.name: tool for tool in await load_mcp_tools(None, connection=connection)}

    async def call(name, arguments):
        given = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
        return (await tools[name].ainvoke(given)).content

    await seen.make(list(tools), call)


run("langchain-mcp-adapters", visit)
