"""Contenders as running processes: started, awaited, watched and ended."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from bed import wire
from bed.contenders import BENCHMARKS, Contender

START_TIMEOUT = 60.0
# An installed package has its bytecode beside it; ours, installed in place, has to be let have it.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "FASTMCP_CHECK_FOR_UPDATES": "off",
}


class ContenderFailed(RuntimeError):
    """A contender did not start or answered wrongly; the message says which and how."""


class Running:
    """One running contender."""

    def __init__(self, contender: Contender, process: subprocess.Popen[bytes], port: int) -> None:
        self.contender = contender
        self.name = contender.name
        self.process = process
        self.port = port
        self._watched = psutil.Process(process.pid)

    def cpu_seconds(self) -> float:
        """Return the processor time spent so far, by all its threads and children."""
        return sum(cpu_seconds(one) for one in self._family())

    def memory_bytes(self) -> int:
        """Return the resident memory of it and its children."""
        return sum(one.memory_info().rss for one in self._family())

    def _family(self) -> list[psutil.Process]:
        return [self._watched, *self._watched.children(recursive=True)]


def cpu_seconds(process: psutil.Process) -> float:
    """Return a process's processor time; on Linux in nanoseconds, not in ticks of the clock."""
    tasks = Path(f"/proc/{process.pid}/task")
    try:
        spent = [int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()]
    except (OSError, IndexError, ValueError):
        times = process.cpu_times()
        return times.user + times.system
    return sum(spent) / 1e9


@contextmanager
def running(contender: Contender, transport: str, tools: int = 0) -> Iterator[Running]:
    """Start one contender; over HTTP, wait until it answers."""
    port = _free_port() if transport == "http" else 0
    pipe = subprocess.PIPE if transport == "stdio" else subprocess.DEVNULL
    process = subprocess.Popen(
        contender.command(transport, port, tools),
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.DEVNULL if "BED_VERBOSE" not in os.environ else None,
        cwd=BENCHMARKS,
        env=ENVIRONMENT,
    )
    try:
        if transport == "http":
            _await_port(contender, process, port)
        yield Running(contender, process, port)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@contextmanager
def all_running(
    contenders: tuple[Contender, ...], transport: str, tools: int = 0
) -> Iterator[dict[str, Running]]:
    """Start several contenders at once; those not measured at the moment only wait."""
    with ExitStack() as stack:
        yield {one.name: stack.enter_context(running(one, transport, tools)) for one in contenders}


def ask_over_http(port: int, revision: str, body: bytes, path: str = "/mcp") -> bytes:
    """Send one request on a connection of its own and return the body of the answer."""
    request = wire.post(revision, body, port=port, path=path)
    request = request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        received = b""
        while chunk := connection.recv(1 << 16):
            received += chunk
    head, _, content = received.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower():
        return content
    plain = b""
    while content:
        size, _, content = content.partition(b"\r\n")
        plain += content[: int(size, 16)]
        content = content[int(size, 16) + 2 :]
    return plain


def check_answer(name: str, body: bytes, expected: Any) -> None:
    """Raise unless `body` answers a call with `expected`."""
    try:
        value = wire.natural_value(wire.read_answer(body))
    except (ValueError, LookupError) as error:
        raise ContenderFailed(f"{name} answered {body[:300]!r}") from error
    if value != expected:
        raise ContenderFailed(f"{name} answered the value {str(value)[:300]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await_port(contender: Contender, process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        if process.poll() is not None:
            command = " ".join(contender.command("http", port))
            raise ContenderFailed(f"{contender.name} ended at start; run it by hand: {command}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise ContenderFailed(f"{contender.name} did not listen within {START_TIMEOUT:.0f} s")
