"""llama-index-tools-mcp: the function tools of `McpToolSpec`."""

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        client = BasicMCPClient(seen.url)
    else:
        program, arguments = seen.command
        client = BasicMCPClient(program, args=arguments)
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client).to_tool_list_async()}

    async def call(name, arguments):
        return (await tools[name].acall(**arguments)).content

    await seen.make(list(tools), call)


run("llama-index-tools-mcp", visit)
