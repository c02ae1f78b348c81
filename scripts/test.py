"""Run every test under coverage, on all cores, and report the branches that were not taken.

Extra arguments go to pytest: `make test ARGS="tests/schema -x"`, or `ARGS="-n 0"` for one process.
Without any, coverage below `fail_under` in pyproject.toml is a failure too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Return pytest's exit code after the coverage report, or if that is 0 the report's."""
    coverage = [sys.executable, "-m", "coverage"]
    subprocess.run([*coverage, "erase"], cwd=ROOT, check=True)
    pytest = ["pytest", "-q", "-n", "auto", "--dist", "loadfile", *arguments]
    code = subprocess.run([*coverage, "run", "-m", *pytest], cwd=ROOT, check=False).returncode
    subprocess.run([*coverage, "combine", "--quiet"], cwd=ROOT, check=False)
    # A part of the tests covers a part of the code.
    bound = ["--fail-under=0"] if arguments else []
    held = subprocess.run([*coverage, "report", *bound], cwd=ROOT, check=False).returncode
    return code or held


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
