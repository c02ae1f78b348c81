"""Have the Python clients of the generation before visit the demo, and write down what they saw.

    python tests/peers/older.py .cache/older-peers/2025-11/bin/python

`mcp` 1.x and FastMCP 2.x cannot be in one environment with what came after them, so their reports
are kept in `older.json`, for the page of peers and its tests; `make older-peers` makes it again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import visits

REPORTS = visits.HERE / "older.json"
SCRIPT = visits.HERE / "clients" / "older_python.py"
CLIENTS = (("Python SDK 1", "mcp"), ("FastMCP 2", "fastmcp"))


def main(python: str) -> int:
    """Visit, and write."""
    with visits.demo_over_http() as http:
        targets = {"stdio": visits.STDIO, "http": http}
        reports = [
            {
                "name": name,
                "package": package,
                "version": _version(python, package),
                "reports": {over: _visit(python, package, targets[over]) for over in targets},
            }
            for name, package in CLIENTS
        ]
    REPORTS.write_text(json.dumps(reports, indent=1) + "\n")
    return 0


def _version(python: str, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return _run([python, "-c", code]).strip()


def _visit(python: str, package: str, target: visits.Json) -> Any:
    calls = [call for call in visits.calls() if call["id"] in ("slow", "seat")]
    plan = {**visits.plan(package, calls), "patience": visits.PATIENCE}
    printed = _run([python, str(SCRIPT), json.dumps(target), json.dumps(plan)])
    report = json.loads(printed.splitlines()[-1])
    del report["tools"]  # Listings are long, and nobody looks at these.
    return report


def _run(command: list[str]) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=visits.PATIENCE, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[1]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
