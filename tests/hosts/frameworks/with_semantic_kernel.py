"""semantic-kernel: the functions of an MCP plugin."""

from report import Visit, run
from semantic_kernel import Kernel
from semantic_kernel.connectors.mcp import MCPStdioPlugin, MCPStreamableHttpPlugin
from semantic_kernel.functions import KernelArguments


async def visit(seen: Visit) -> None:
    if seen.url:
        plugin = MCPStreamableHttpPlugin(name="demo", url=seen.url)
    else:
        program, arguments = seen.command
        plugin = MCPStdioPlugin(name="demo", command=program, args=arguments)
    async with plugin:
        kernel = Kernel()
        functions = kernel.add_plugin(plugin).functions

        async def call(name, arguments):
            given = await kernel.invoke(functions[name], KernelArguments(**arguments))
            return [{"text": content.text} for content in given.value]

        await seen.make(list(functions), call)


run("semantic-kernel", visit)
