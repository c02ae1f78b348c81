"""FastMCP: decorated functions with pydantic models."""

from __future__ import annotations

from fastmcp import FastMCP

from bed import shop_pydantic
from bed.servers import hosting
from bed.tools import make_functions

if __name__ == "__main__":
    options = hosting.parse()
    server = FastMCP("shop")
    for function in (*shop_pydantic.TOOLS, *make_functions(options.tools)):
        server.tool(function)
    if options.transport == "http":
        application = server.http_app(stateless_http=True, json_response=True)
        hosting.serve_http(application, options.port)
    else:
        server.run("stdio", show_banner=False, log_level="WARNING")
