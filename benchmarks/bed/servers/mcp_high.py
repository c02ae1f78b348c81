"""`mcp` MCPServer: decorated functions with pydantic models."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer

from bed import shop_pydantic
from bed.servers import hosting
from bed.tools import make_functions

if __name__ == "__main__":
    options = hosting.parse()
    server = MCPServer("shop", log_level="WARNING")
    for function in (*shop_pydantic.TOOLS, *make_functions(options.tools)):
        server.tool()(function)
    if options.transport == "http":
        application = server.streamable_http_app(stateless_http=True, json_response=True)
        hosting.serve_http(application, options.port)
    else:
        server.run("stdio")
