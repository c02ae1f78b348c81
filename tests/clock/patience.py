"""How long a test waits for what should happen, in one place.

Nothing that is waited for takes a tenth of `PATIENCE` on an idle machine, so that a slow or busy
one fails no test; it only bounds a test that hangs. Tests import this by its name: its folder is on
`pythonpath` in pyproject.toml.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Callable

PATIENCE = 240.0
"""Seconds; less than half of the time that pytest gives to a whole test."""

PAUSE = 0.02


def until(holds: Callable[[], object]) -> None:
    """Return as soon as `holds()` is true; look every so often."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        time.sleep(PAUSE)


async def turn_until(holds: Callable[[], object], pause: float = 0) -> None:
    """Let the event loop turn until `holds()` is true."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event to wait on
            await asyncio.sleep(pause)


def is_listening(port: int, host: str = "127.0.0.1") -> bool:
    """Tell whether somebody accepts connections there."""
    with contextlib.suppress(OSError):
        socket.create_connection((host, port), PATIENCE).close()
        return True
    return False
