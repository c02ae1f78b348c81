"""One browser for all tests, and `anyshape inspect` on whatever they look at."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from browser import Browser, launched
from patience import PATIENCE

HERE = Path(__file__).resolve().parent
PROGRAM = str(Path(sys.executable).parent / "anyshape")

Inspect: TypeAlias = Callable[..., str]


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    with launched() as running:
        yield running


@pytest.fixture(scope="session")
def inspect() -> Generator[Inspect]:
    """Return the address of the page on a target; one program for each, until the end."""
    with ExitStack() as running:
        known: dict[tuple[str, ...], str] = {}

        def start(*target: str) -> str:
            if target not in known:
                known[target] = running.enter_context(_inspected(*target))
            return known[target]

        yield start


@contextmanager
def _inspected(*target: str) -> Generator[str]:
    command = [PROGRAM, "inspect", "--port", "0", "--no-open", *target]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=HERE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)


@pytest.fixture(scope="session")
def shapes(inspect: Inspect) -> str:
    return inspect("shapes_server.py")


@pytest.fixture(scope="session")
def hostile(inspect: Inspect) -> str:
    return inspect("--", sys.executable, "hostile_server.py")
