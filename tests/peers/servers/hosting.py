"""How Python peer servers are started: `stdio`; `http` or `sse`, the port on the first line."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from typing import Any


def is_http() -> bool:
    return sys.argv[1:2] == ["http"]


def is_sse() -> bool:
    return sys.argv[1:2] == ["sse"]


def serve(application: Any) -> None:
    """Serve an ASGI application on a free port, and print which."""
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    configuration = uvicorn.Config(
        application, log_level="error", access_log=False, timeout_graceful_shutdown=1
    )
    uvicorn.Server(configuration).run(sockets=[listener])


USERS = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]


def find(id: int) -> dict[str, Any] | None:
    return next((user for user in USERS if user["id"] == id), None)


Tools = dict[str, Callable[..., Any]]
