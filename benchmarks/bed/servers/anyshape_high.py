"""Anyshape: decorated functions with pydantic models, TypedDicts or msgspec structs."""

from __future__ import annotations

import importlib

from anyshape import Server
from bed.servers import hosting

if __name__ == "__main__":
    options = hosting.parse()
    shop = importlib.import_module(f"bed.shop_{options.types}")
    server = Server("shop", version="1.0.0")
    for function in shop.TOOLS:
        server.tool(function)
    if options.tools:
        from bed.tools import make_functions

        for function in make_functions(options.tools):
            server.tool(function)
    if options.transport == "http" and options.asgi:
        hosting.serve_http(server.asgi(), options.port)
    elif options.transport == "http":
        server.run("http", port=options.port, log_level="warning")
    else:
        server.run()
