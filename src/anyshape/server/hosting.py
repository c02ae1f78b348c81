"""Run a server in this process until it is told to stop: on stdio, or on HTTP with uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anyshape.server.stdio import serve, taken_streams

if TYPE_CHECKING:
    from anyshape.server.http import HttpApplication
    from anyshape.server.service import Service

__all__ = ["run_http", "run_stdio"]


def run_stdio(service: Service) -> None:
    """Serve the client that launched this process, until its end of the pipe is closed."""
    with taken_streams() as (source, sink), contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_until_told(service, source, sink))


async def _serve_until_told(service: Service, source: int, sink: int) -> None:
    """Serve; SIGTERM ends it as the end of input does."""
    serving = asyncio.ensure_future(serve(service, source, sink))
    if sys.platform != "win32":
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def run_http(
    application: HttpApplication,
    *,
    host: str,
    port: int,
    grace: float,
    settings: Mapping[str, Any],
) -> None:
    """Serve HTTP until a signal says stop; what is in flight then has the grace time to finish."""
    import uvicorn

    class GracefulServer(uvicorn.Server):
        """uvicorn, which waits for open responses: subscriptions are ended first."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            application.end_subscriptions()
            await super().shutdown(sockets)

    chosen: dict[str, Any] = {
        "host": host,
        "port": port,
        "access_log": False,
        "lifespan": "on",
        "ws": "none",
        "server_header": False,
        "timeout_graceful_shutdown": max(1, round(grace)),
        **settings,
    }
    config = uvicorn.Config(application, **chosen)
    with contextlib.suppress(KeyboardInterrupt):
        GracefulServer(config).run()
