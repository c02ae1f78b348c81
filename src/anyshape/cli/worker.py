"""The ASGI application of one worker process, which loads its server anew."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from anyshape.cli import terminal
from anyshape.cli.failure import CommandError
from anyshape.cli.loading import load_server
from anyshape.cli.serve import TARGET_VARIABLE, WORKERS_VARIABLE
from anyshape.server.http_options import HttpOptions

if TYPE_CHECKING:
    from anyshape.server.http import HttpApplication


def create() -> HttpApplication:
    """Return the application of the server that the environment names."""
    terminal.prepare()
    try:
        server = load_server(os.environ[TARGET_VARIABLE])
    except CommandError as failure:
        terminal.complain(failure)
        sys.exit(failure.code)
    if server.options.store is None and os.environ.get(WORKERS_VARIABLE, "1") != "1":
        # What one worker remembers of a session the next would not know.
        return server.asgi(HttpOptions(streams=None))
    return server.asgi()
