"""Anyshape's gateway before one upstream: a URL, or a module that is run on stdio."""

from __future__ import annotations

import sys

from anyshape.gateway import Gateway
from bed.servers import hosting

if __name__ == "__main__":
    options = hosting.parse()
    upstream = options.upstream
    if not upstream.startswith("http"):
        upstream = [sys.executable, "-m", upstream, "stdio"]
    Gateway({"shop": upstream}).run("http", port=options.port, log_level="warning")
