"""How every Python contender is started: `python -m bed.servers.NAME http PORT`, or `stdio`.

All ASGI applications run on uvicorn: one process, uvloop, httptools, no access log.
"""

from __future__ import annotations

import argparse
from typing import Any


def parse() -> argparse.Namespace:
    """Return transport, port, types (which version of the shop) and how many tools to add."""
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=("http", "stdio"))
    parser.add_argument("port", type=int, nargs="?", default=0)
    parser.add_argument("--types", default="pydantic")
    parser.add_argument("--asgi", action="store_true", help="HTTP on the uvicorn of all others")
    parser.add_argument("--tools", type=int, default=0, help="how many generated tools to add")
    parser.add_argument("--upstream", default="", help="what a gateway stands before")
    return parser.parse_args()


def serve_http(application: Any, port: int) -> None:
    """Serve an ASGI application until the process is ended."""
    import uvicorn

    uvicorn.run(
        application,
        interface="asgi3",
        host="127.0.0.1",
        port=port,
        log_level="warning",
        access_log=False,
    )
