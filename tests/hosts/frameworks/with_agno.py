"""agno: the functions of `MCPTools`, called as an agent calls them."""

from agno.tools.function import FunctionCall
from agno.tools.mcp import MCPTools, StreamableHTTPClientParams
from mcp.client.stdio import StdioServerParameters
from report import Visit, run


async def visit(seen: Visit) -> None:
    if seen.url:
        transport, server = "streamable-http", StreamableHTTPClientParams(url=seen.url)
    else:
        program, arguments = seen.command
        transport, server = "stdio", StdioServerParameters(command=program, args=arguments)
    async with MCPTools(transport=transport, server_params=server, timeout_seconds=60) as toolkit:
        functions = toolkit.get_async_functions() or toolkit.functions

        async def call(name, arguments):
            made = FunctionCall(function=functions[name], arguments=arguments)
            done = await made.aexecute()
            if done.status != "success":
                raise RuntimeError(done.error)
            return getattr(done.result, "content", done.result)

        await seen.make(list(functions), call)


run("agno", visit)
