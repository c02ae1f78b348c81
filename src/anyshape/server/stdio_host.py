"""Serve the client that launched this process, on stdio, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Generator

from anyshape.server.own_loop import run_until_served
from anyshape.server.service import Service
from anyshape.server.standard_streams import taken_streams
from anyshape.server.stdio import StdioSession


def run_stdio(service: Service) -> None:
    """Serve the client that launched this process, until its end of the pipe is closed."""
    with taken_streams() as (source, sink):
        serving = _serve_until_told(service, source, sink)
        run_until_served(_new_loop(), serving, service.options.grace)


async def serve_stdio(service: Service) -> None:
    """Do as `run_stdio`, on an event loop that is running already."""
    with taken_streams() as (source, sink):
        await _serve_until_told(service, source, sink)


def _new_loop() -> asyncio.AbstractEventLoop:
    """Return the fastest event loop there is."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def _serve_until_told(service: Service, source: int, sink: int) -> None:
    """Serve; the first signal to stop is taken like the end of input, the next as usual."""
    session = StdioSession(service, source, sink)
    with _first_signal(session.stop):
        await session.serve()


@contextlib.contextmanager
def _first_signal(stop: Callable[[], None]) -> Generator[None]:
    """Have the first signal to stop call `stop`, where there are signals to be had."""
    loop = asyncio.get_running_loop()
    taken: list[int] = []

    def give_back() -> None:
        while taken:
            loop.remove_signal_handler(taken.pop())

    def stop_once() -> None:
        give_back()
        stop()

    if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop_once)
            taken.append(number)
    try:
        yield
    finally:
        give_back()
