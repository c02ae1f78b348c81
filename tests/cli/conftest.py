"""The program, run in this process at 80 columns or as a process, and servers to point it at."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

HERE = Path(__file__).resolve().parent
PROGRAM = str(Path(sys.executable).parent / "anyshape")
DEMO = "anyshape.demo.server"


@dataclass(frozen=True)
class Outcome:
    """What one run of the program came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


class Terminal:
    """The program at a terminal of its own, with somebody who types."""

    def __init__(self, *words: str, **variables: str) -> None:
        self._end, other = pty.openpty()
        self.shown = ""
        # No browser: what is opened is written to a file instead.
        plain = {"BROWSER": "true", "NO_COLOR": "1", "COLUMNS": "80"}
        environment = {**os.environ, **plain, **variables}
        self._process = subprocess.Popen(
            [PROGRAM, *words],
            stdin=other,
            stdout=subprocess.PIPE,
            stderr=other,
            env=environment,
            text=True,
        )
        os.close(other)

    def answer(self, prompt: str, text: str) -> None:
        """Type a line once the program shows a prompt."""
        seen = len(self.shown)
        while prompt not in self.shown[seen:]:
            self.shown += os.read(self._end, 4096).decode()
        os.write(self._end, text.encode())

    def finish(self) -> str:
        """Return what the program wrote to stdout."""
        out, _ = self._process.communicate(timeout=PATIENCE)
        os.close(self._end)
        return out


@pytest.fixture
def at_terminal() -> type[Terminal]:
    """Run the program at a terminal."""
    return Terminal


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test 80 columns and no wish for colour."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "ANYSHAPE_DEBUG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in this process."""
    from anyshape.cli.program import run as run_program

    def run(*arguments: str, stdin: str = "", columns: int = 80) -> Outcome:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = run_program(list(arguments))
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run


@pytest.fixture
def execute() -> Run:
    """Run the program as a process of its own, with pipes."""

    def execute(*arguments: str, stdin: str = "", **variables: str) -> Outcome:
        done = subprocess.run(
            [PROGRAM, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, **variables},
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return execute


@pytest.fixture(scope="session", params=["module", "http", "stdio"])
def demo_words(
    request: pytest.FixtureRequest,
) -> Callable[..., list[str]]:
    """Return what turns words into the same words aimed at the demo, for each kind of target."""
    kind: str = request.param
    url: str = request.getfixturevalue("demo_url") if kind == "http" else DEMO

    def words(command: str, *rest: str) -> list[str]:
        if kind == "stdio":
            return [command, *rest, "--", PROGRAM, "demo", "--stdio"]
        return [command, url, *rest]

    return words


@pytest.fixture(scope="session")
def foreign() -> list[str]:
    """Return the words behind the command that reach a server built with the official SDK."""
    return ["--", sys.executable, str(HERE / "foreign_server.py")]


@pytest.fixture(scope="session")
def older() -> list[str]:
    """Return the words that name a server whose newest revision is 2025-06-18."""
    return ["--", sys.executable, str(HERE / "older_server.py")]


@pytest.fixture(scope="session")
def liar() -> list[str]:
    """Return the words behind the command that reach a server that cannot be trusted."""
    return ["--", sys.executable, str(HERE / "lying_server.py")]


@pytest.fixture(scope="session")
def program() -> str:
    return PROGRAM
