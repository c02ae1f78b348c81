"""`anyshape worker`: what it says when there is nothing that it could work on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]

IN_MEMORY = """
from anyshape import Server
server = Server("reports")

@server.tool(task=True)
async def write() -> int:
    return 1
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "reports.py"
    path.write_text(IN_MEMORY)
    return str(path)


def test_tasks_in_memory_are_for_no_other_process(run: Run, script: str) -> None:
    shown = run("worker", script)
    assert shown.code == 3
    assert "error: reports has no tasks to work on" in shown.err
    assert "hint: " in shown.err
    assert "RedisTasks" in shown.err


def test_it_tells_programs_what_it_does(run: Run, script: str) -> None:
    shown = run("worker", script, "--concurrency", "3", "--json")
    assert json.loads(shown.out) == {"name": "reports", "concurrency": 3}


@pytest.mark.parametrize(
    "words", [("--concurrency", "0"), ("--concurrency", "x"), ("--", "python", "x.py")]
)
def test_a_command_line_that_makes_no_sense_is_refused(
    run: Run, script: str, words: tuple[str, ...]
) -> None:
    shown = run("worker", script, *words)
    assert shown.code == 2
    assert shown.err.startswith("error: ")
