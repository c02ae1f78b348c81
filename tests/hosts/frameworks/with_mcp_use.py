"""mcp-use: the LangChain tools of its adapter."""

from mcp_use import MCPClient
from mcp_use.agents.adapters import LangChainAdapter
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        server = {"url": seen.url}
    else:
        program, arguments = seen.command
        server = {"command": program, "args": arguments}
    client = MCPClient.from_dict({"mcpServers": {"demo": server}})
    await client.create_all_sessions()
    try:
        adapter = LangChainAdapter()
        made = await adapter.create_tools(client)
        tools = {tool.name: tool for tool in made or adapter.tools}
        await seen.make(list(tools), lambda name, arguments: tools[name].ainvoke(arguments))
    finally:
        await client.close_all_sessions()


run("mcp-use", visit)
