"""The server that hosts and frameworks meet, over stdio and over HTTP."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

SERVE = [sys.executable, "-m", "anyshape", "serve", str(Path(__file__).with_name("server.py"))]
TRANSPORTS = ("stdio", "http")


@contextlib.contextmanager
def serving(transport: str) -> Generator[Json]:
    """Give the target: a `command` to start, or the `url` of a server that listens."""
    if transport == "stdio":
        yield {"command": SERVE}
        return
    command = [*SERVE, "--http", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            announcement = process.stdout.readline()
            if not announcement:
                raise RuntimeError(f"the server ended with {process.wait()} before it listened")
            yield {"url": json.loads(announcement)["url"]}
        finally:
            process.terminate()
