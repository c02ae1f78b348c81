"""Programs under test: started, watched from outside, killed, and what they hold while they run."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from patience import PATIENCE, is_listening, until

__all__ = ["FOLDER", "Program", "Vitals", "free_port", "run_front", "run_program", "start_program"]

FOLDER: Final = Path(__file__).parent
MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class Vitals:
    """What a process holds of the machine."""

    memory: float
    """Resident, in MiB."""
    descriptors: int
    threads: int
    children: int


class Program:
    """A process that serves a port."""

    def __init__(self, *command: str, port: int, **environment: str) -> None:
        self.port = port
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )
        self._seen = psutil.Process(self.process.pid)
        until(lambda: is_listening(port) or self.process.poll() is not None)
        assert self.process.poll() is None, f"{command} did not start"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def vitals(self) -> Vitals:
        """Tell what it holds now."""
        seen = self._seen
        with seen.oneshot():
            return Vitals(
                memory=seen.memory_info().rss / MEBIBYTE,
                descriptors=seen.num_fds(),
                threads=seen.num_threads(),
                children=len(seen.children(recursive=True)),
            )

    def clients(self) -> int:
        """Return how many connections it has let in and not closed."""
        held = self._seen.net_connections("tcp4")
        return sum(each.laddr.port == self.port and bool(each.raddr) for each in held)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop it, and return how it ended; nothing that it has started is left."""
        offspring = [] if self.process.poll() is not None else self._seen.children(recursive=True)
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        _, left = psutil.wait_procs(offspring, timeout=PATIENCE)
        assert not left, f"left behind: {left}"
        return code


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def run_program(script: str, *arguments: str, **environment: str) -> Generator[Program]:
    """Run a script of this folder, with a free port as its last argument, for the block."""
    program = start_program(script, *arguments, port=free_port(), **environment)
    try:
        yield program
    finally:
        program.stop()


def start_program(script: str, *arguments: str, port: int, **environment: str) -> Program:
    """Start a script of this folder on a port."""
    return Program(str(FOLDER / script), *arguments, str(port), port=port, **environment)


@contextlib.contextmanager
def run_front(kind: str, **environment: str) -> Generator[tuple[Program, ...]]:
    """Run the workshop, and for `gateway` one before it; clients talk to the first of them."""
    if kind == "server":
        with run_program("workshop.py", **environment) as workshop:
            yield (workshop,)
    else:
        # Nobody hangs up on a gateway that is too busy to notice: it could not tell what was read.
        patient = {**environment, "WORKSHOP_PATIENCE": "75"}
        with (
            run_program("workshop.py", **patient) as workshop,
            run_program("gatehouse.py", workshop.url, **environment) as gateway,
        ):
            yield gateway, workshop
