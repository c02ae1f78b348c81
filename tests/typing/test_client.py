"""pyright and mypy agree with `assert_client.py`, and with each other about what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CHECKERS = {
    "pyright": [sys.executable, "-m", "pyright", "--pythonpath", sys.executable],
    "mypy": [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--no-incremental"],
}

WRONG = """
from anyshape import Client

async def main(client: Client) -> None:
    users: list[str] = await client.call("x", returns=list[int])
    await client.call("x", returns=5)
    await client.call_tool(7)
    Client(7)
"""


def run(checker: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CHECKERS[checker], str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("checker", list(CHECKERS))
def test_the_types_of_calls_are_inferred(checker: str) -> None:
    done = run(checker, HERE / "assert_client.py")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("checker", list(CHECKERS))
def test_wrong_types_are_found(checker: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    done = run(checker, wrong)
    assert done.returncode == 1
    for line in (5, 6, 7, 8):
        assert f"wrong.py:{line}" in done.stdout
