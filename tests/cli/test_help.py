"""What the program says about itself."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from patience import PATIENCE

from anyshape import __version__

Run: TypeAlias = Callable[..., Any]

COMMANDS = [
    *("demo", "serve", "gateway", "worker", "tools", "call", "resources", "read"),
    *("prompts", "prompt", "shapes", "check", "inspect", "pin", "logout"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_examples_and_fits_80_columns(run: Run, command: str) -> None:
    shown = run(command, "--help")
    assert shown.code == 0
    assert f"anyshape {command} " in shown.out.split("Examples:")[1]
    assert "--json" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    assert not re.search(r"[ \t]$", shown.out, re.MULTILINE)


def test_the_program_lists_its_commands_asked_for_help_or_nothing(run: Run) -> None:
    shown = run("--help")
    assert shown.code == 0
    listed = shown.out.split("Commands:\n")[1].split("\n\n")[0].split("\n")
    assert [line.split()[0] for line in listed] == COMMANDS
    assert "Exit codes: 0 yes, 1 the answer is no, 2 usage, 3 could not find out." in shown.out
    assert run().out == shown.out


def test_the_version_is_the_package_version(run: Run) -> None:
    assert run("--version").out == f"anyshape {__version__}\n"


def test_python_dash_m_is_the_same_program(run: Run) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "anyshape", "--help"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == run("--help").out


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from anyshape.cli.program import run; run(['--help']); "
        "heavy = {'rich', 'aiohttp', 'uvicorn', 'pydantic', 'msgspec', 'jsonschema_rs'}; "
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    "words", [["frobnicate"], ["tools", "--frobnicate"], ["serve"], ["demo", "--port", "many"]]
)
def test_a_senseless_command_line_is_one_line_and_a_hint(run: Run, words: list[str]) -> None:
    refused = run(*words)
    assert refused.code == 2
    assert refused.out == ""
    error, blank, hint = refused.err.splitlines()
    assert error.startswith("error: ")
    assert blank == ""
    assert hint.startswith("hint: ")


@pytest.mark.parametrize("command", ["tools", "call", "shapes", "check", "pin"])
def test_a_missing_target_is_said_with_what_it_may_be(run: Run, command: str) -> None:
    refused = run(command)
    assert refused.code == 2
    assert "TARGET is a URL" in refused.err


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_servers_are_not_run_from_commands(run: Run, command: str) -> None:
    words = [command, *(["x.py"] if command == "serve" else []), "--", "python", "x.py"]
    assert run(*words).code == 2
