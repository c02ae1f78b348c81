"""One browser for all tests, and `anyshape inspect` on whatever they look at."""

from __future__ import annotations

import json
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
                command = [PROGRAM, "inspect", "--port", "0", "--no-open", *target]
                known[target] = running.enter_context(_running(*command))
            return known[target]

        yield start


@contextmanager
def _running(*command: str) -> Generator[str]:
    """Run a program, and give the first line that it writes."""
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
def demo() -> Generator[dict[str, str]]:
    """Run the demo and return what it says of itself."""
    command = [PROGRAM, "demo", "--port", "0", "--json"]
    with _running(*command) as said:
        yield json.loads(said)


@pytest.fixture(scope="session")
def shapes(inspect: Inspect) -> str:
    return inspect("shapes_server.py")


@pytest.fixture(scope="session")
def hostile(inspect: Inspect) -> str:
    return inspect("--", sys.executable, "hostile_server.py")
