"""openai-agents: the function tools that the SDK makes of a server's."""

import json

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        server = MCPServerStreamableHttp({"url": seen.url})
    else:
        program, arguments = seen.command
        server = MCPServerStdio({"command": program, "args": arguments})
    async with server:
        tools = await MCPUtil.get_function_tools(server, False, None, None)
        by_name = {tool.name: tool for tool in tools}

        async def call(name, arguments):
            text = json.dumps(arguments)
            context = ToolContext(
                context=None, tool_name=name, tool_call_id="1", tool_arguments=text
            )
            return await by_name[name].on_invoke_tool(context, text)

        await seen.make(list(by_name), call)


run("openai-agents", visit)
