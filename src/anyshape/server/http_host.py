"""HTTP with uvicorn: one set of settings, for one process and for several.

Everything that a connection is bounded by, waited for and drained with hangs on what is set here
and on the protocol class it names, so worker processes behave as a single one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from anyshape.server.guard import is_local
from anyshape.server.http import HttpApplication
from anyshape.server.own_loop import run_until_served

if TYPE_CHECKING:
    import uvicorn

    from anyshape.server.http_options import HttpOptions
    from anyshape.server.service import Service

_SLACK: Final = 1
"""Seconds that uvicorn waits after ours are over, for the last answers to leave."""
_OF_SUPERVISORS: Final = frozenset({"reload", "workers"})
"""Settings that mean nothing to a server in one process, and would be ignored without a word."""


def settings_of_uvicorn(
    host: str, port: int, grace: float, chosen: Mapping[str, Any]
) -> dict[str, Any]:
    """Return how uvicorn is set up, unless it is `chosen` otherwise."""
    return {
        "host": host,
        "port": port,
        "access_log": False,
        "lifespan": "on",
        "http": "anyshape.server.http_protocol:HttpProtocol",
        "ws": "none",
        "server_header": False,
        "timeout_graceful_shutdown": math.ceil(grace) + _SLACK,
        **chosen,
    }


def hosting(
    service: Service,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    options: HttpOptions | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Return what `run_http` and `serve_http` are given to serve a service on its own."""
    application = HttpApplication(service, options, is_local=is_local(host))
    return {"application": application, "host": host, "port": port, "settings": settings}


def run_http(
    application: HttpApplication,
    *,
    host: str,
    port: int,
    settings: Mapping[str, Any],
    listener: socket.socket | None = None,
) -> None:
    """Serve HTTP until a signal says stop; what is in flight then has the grace time to finish.

    `listener` is a socket that listens already; without it one is made for `host` and `port`.
    """
    server = _uvicorn(application, host, port, settings)
    new_loop = server.config.get_loop_factory() or asyncio.new_event_loop
    serving = server.serve([listener] if listener is not None else None)
    with contextlib.suppress(KeyboardInterrupt):
        run_until_served(new_loop(), serving, application.service.options.grace)


async def serve_http(
    application: HttpApplication, *, host: str, port: int, settings: Mapping[str, Any]
) -> None:
    """Do as `run_http`, on an event loop that is running already."""
    await _uvicorn(application, host, port, settings).serve()


def _uvicorn(
    application: HttpApplication, host: str, port: int, settings: Mapping[str, Any]
) -> uvicorn.Server:
    unheard = settings.keys() & _OF_SUPERVISORS
    if unheard:
        raise ValueError(
            f"{', '.join(sorted(unheard))}: run() serves in this process alone; use "
            "`anyshape serve MODULE --http --workers N` or `uvicorn MODULE:APPLICATION --workers N`"
        )
    import uvicorn

    grace = application.service.options.grace
    config = uvicorn.Config(application, **settings_of_uvicorn(host, port, grace, settings))
    return uvicorn.Server(config)


def run_workers(
    factory: str, *, host: str, port: int, grace: float, settings: Mapping[str, Any]
) -> None:
    """Serve the application that `module:function` makes in processes of their own, as one would.

    `settings` say how many: `workers`, or `reload` for one that starts again on changes.
    """
    import uvicorn

    uvicorn.run(factory, factory=True, **settings_of_uvicorn(host, port, grace, settings))
