"""A server with small bounds over HTTP, in one process or in several.

python bounded_server.py PROCESSES PORT
"""

from __future__ import annotations

import asyncio
import os
import sys

from anyshape import Context, Server
from anyshape.server import HttpOptions, ServerOptions
from anyshape.server.http import HttpApplication
from anyshape.server.http_host import run_http, run_workers

GRACE = 1.0
server = Server("bounded", options=ServerOptions(grace=GRACE, max_message_bytes=8_000_000))
bounds = HttpOptions(
    request_timeout=1.0, max_head_bytes=10_000, max_unfinished_bytes=1_000_000, keep_alive=60
)


@server.tool
async def measure(text: str) -> int:
    """Return how long a text is."""
    return len(text)


@server.tool
async def repeat(times: int) -> str:
    """Return a long text."""
    return "x" * times


@server.tool
async def wait(seconds: float, context: Context) -> str:
    """Wait, then say so."""
    context.progress(1)
    await asyncio.sleep(seconds)
    return "waited"


@server.tool(inline=True)
def count_open_files() -> int:
    """Return how many files and connections this process has open."""
    return len(os.listdir("/dev/fd"))


def create() -> HttpApplication:
    """Return the application, anew in each process."""
    return server.asgi(bounds)


def main(processes: int, port: int) -> None:
    """Serve until told to stop."""
    settings = {"log_level": "critical"}
    if processes == 1:
        run_http(create(), host="127.0.0.1", port=port, settings=settings)
    else:
        run_workers(
            "bounded_server:create",
            host="127.0.0.1",
            port=port,
            grace=GRACE,
            settings={**settings, "workers": processes},
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
