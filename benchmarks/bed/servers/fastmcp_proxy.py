"""FastMCP's proxy before one upstream: a URL, or a module that is run on stdio."""

from __future__ import annotations

import sys

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.server import create_proxy

from bed.servers import hosting

if __name__ == "__main__":
    options = hosting.parse()
    transport = (
        StreamableHttpTransport(options.upstream)
        if options.upstream.startswith("http")
        else StdioTransport(sys.executable, ["-m", options.upstream, "stdio"])
    )
    hosting.serve_http(create_proxy(transport).http_app(stateless_http=True), options.port)
