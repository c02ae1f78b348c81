"""Run the fast tests on every interpreter of the promised versions that this machine has.

    python scripts/matrix.py [INTERPRETER ...] [-- ARGUMENT ...]

Interpreters are looked for by name on the path, under pyenv, and with uv; others are named by path.
Free-threaded builds count as versions of their own, such as 3.14t. Each gets an environment in
`.cache/matrix-<version>`. What follows `--` goes to pytest. Left out are tests that are about other
programs than ours (Node peers, type checkers, benchmarks, the documents). Run by `make matrix`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements" / "dev.txt"
LEFT_OUT = (
    "tests/benchmarks",
    "tests/docs",
    "tests/node",
    "tests/peers",
    "tests/suites/test_mcp_client_conformance.py",
    "tests/suites/test_mcp_server_conformance.py",
    "tests/typing",
)
ASK = """
import sys, sysconfig
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(f"3.{sys.version_info.minor}{free}", sys.version.split()[0], sys.executable)
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python of this machine: `name` as in 3.14t, the exact `version`, and its `path`."""

    name: str
    version: str
    path: str


@dataclass(frozen=True)
class Row:
    """What came of one interpreter."""

    name: str
    version: str
    outcome: str
    is_good: bool = True


def main(arguments: list[str]) -> int:
    """Print a row per version; return 1 if tests failed on any, 3 if no interpreter was found."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    named, options = arguments[:at], arguments[at + 1 :]
    found = {one.name: one for one in _find(named)}
    rows: list[Row] = []
    for name in sorted({*promised(), *found}, key=_in_order):
        if name in found:
            print(f"\n== {name} ({found[name].path})", flush=True)
            rows.append(_run(found[name], options))
        else:
            rows.append(Row(name, "-", "not found on this machine"))
    print()
    for row in rows:
        print(f"{row.name:<7}{row.version:<11}{row.outcome}")
    if not found:
        return 3
    return 0 if all(row.is_good for row in rows) else 1


def promised() -> list[str]:
    """Return the versions that the package's classifiers name."""
    text = (ROOT / "pyproject.toml").read_text()
    return re.findall(r"Programming Language :: Python :: (3\.\d+)", text)


def _in_order(name: str) -> tuple[int, str]:
    return int(name.removeprefix("3.").removesuffix("t")), name


def _find(named: list[str]) -> Iterator[Interpreter]:
    """Yield interpreters that start, the ones to be preferred last."""
    uv = shutil.which("uv")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in promised():
        for name in (version, f"{version}t"):
            places = [str(path) for path in sorted(pyenv.glob(f"*/bin/python{name}"))]
            if uv:
                places.append(_ask(uv, "python", "find", "--no-python-downloads", name))
            places.append(shutil.which(f"python{name}") or "")
            yield from _interpreters(places, name)
    yield from _interpreters(named)


def _interpreters(places: list[str], name: str | None = None) -> Iterator[Interpreter]:
    for place in filter(None, places):
        answer = _ask(place, "-c", ASK).split(maxsplit=2)
        # A shim of pyenv is on the path even where its version is not chosen.
        if len(answer) == 3 and name in (None, answer[0]):
            yield Interpreter(*answer)


def _ask(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _run(interpreter: Interpreter, options: list[str]) -> Row:
    environment = ROOT / ".cache" / f"matrix-{interpreter.name}"
    if not _prepare(interpreter, environment):
        return Row(interpreter.name, interpreter.version, "its environment cannot be made", False)
    report = environment / "report.xml"
    report.unlink(missing_ok=True)
    command = [
        *(environment / "bin" / "python", "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"),
        *(f"--ignore={path}" for path in LEFT_OUT),
        *(f"--junitxml={report}", "-p", "no:cacheprovider", *options),
    ]
    start = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    outcome = f"{_count(report)} in {time.monotonic() - start:.0f} s"
    return Row(interpreter.name, interpreter.version, outcome, code == 0)


def _prepare(interpreter: Interpreter, environment: Path) -> bool:
    """Make the environment unless it is there, of this interpreter and these requirements."""
    wanted = f"{interpreter.path} {hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()}"
    ready = environment / ".ready"
    if ready.exists() and ready.read_text() == wanted:
        return True
    shutil.rmtree(environment, ignore_errors=True)
    script = ROOT / "scripts" / "environment.py"
    if subprocess.run([interpreter.path, script, environment], check=False).returncode != 0:
        return False
    ready.write_text(wanted)
    return True


def _count(report: Path) -> str:
    """Say how many tests passed and how many did not."""
    if not report.exists():
        return "no report"
    suites = list(ElementTree.parse(report).iter("testsuite"))

    def count(name: str) -> int:
        return sum(int(suite.get(name, 0)) for suite in suites)

    failed, skipped = count("failures") + count("errors"), count("skipped")
    passed = count("tests") - failed - skipped
    return f"{passed} passed, {failed} failed, {skipped} skipped"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
