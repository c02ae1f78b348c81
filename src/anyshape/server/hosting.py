"""Run a server in this process until it is told to stop: on stdio, or on HTTP with uvicorn."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from anyshape.server.stdio import Session, taken_streams

if TYPE_CHECKING:
    from anyshape.server.http import HttpApplication
    from anyshape.server.service import Service

__all__ = ["run_http", "run_stdio"]


def run_stdio(service: Service) -> None:
    """Serve the client that launched this process, until its end of the pipe is closed."""
    with taken_streams() as (source, sink), asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_serve_until_told(service, source, sink))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes the fastest event loop there is; `None` for the standard one."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve_until_told(service: Service, source: int, sink: int) -> None:
    """Serve; a signal to stop is taken like the end of input."""
    session = Session(service, source, sink)
    if sys.platform != "win32":
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, session.stop)
    await session.serve()


def run_http(
    application: HttpApplication,
    *,
    host: str,
    port: int,
    grace: float,
    settings: Mapping[str, Any],
    listener: socket.socket | None = None,
) -> None:
    """Serve HTTP until a signal says stop; what is in flight then has the grace time to finish.

    `listener` is a socket that listens already; without it one is made for `host` and `port`.
    """
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
        GracefulServer(config).run([listener] if listener is not None else None)
