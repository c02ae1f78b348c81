"""Run every test under coverage, on all cores, and report the branches that were not taken.

Extra arguments go to pytest: `make test ARGS="tests/schema -x"`, or `ARGS="-n 0"` for one process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Return pytest's exit code, after the coverage report."""
    coverage = [sys.executable, "-m", "coverage"]
    subprocess.run([*coverage, "erase"], cwd=ROOT, check=True)
    pytest = ["pytest", "-q", "-n", "auto", "--dist", "loadfile", *arguments]
    code = subprocess.run([*coverage, "run", "-m", *pytest], cwd=ROOT, check=False).returncode
    subprocess.run([*coverage, "combine", "--quiet"], cwd=ROOT, check=False)
    subprocess.run([*coverage, "report"], cwd=ROOT, check=False)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
