"""What an install brings in, how it is pinned and looked up, and that the wheel is reproducible."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ROOT / "requirements" / "install.txt"

DIRECT = {
    "aiohttp",
    "docstring-parser",
    "httptools",
    "jsonschema-rs",
    "msgspec",
    "pydantic",
    "rich",
    "typer",
    "uvicorn",
    "uvloop",
}
INDIRECT = {
    "aiohappyeyeballs",
    "aiosignal",
    "annotated-doc",
    "annotated-types",
    "attrs",
    "click",
    "colorama",  # on Windows
    "frozenlist",
    "h11",
    "idna",
    "markdown-it-py",
    "mdurl",
    "multidict",
    "propcache",
    "pydantic-core",
    "pygments",
    "shellingham",
    "typing-extensions",
    "typing-inspection",
    "yarl",
}
"""What `pip install anyshape` brings in, all of it code that runs with the rights of a server; what
for is said in `docs/internals/reliability.md`."""


def pinned(file: Path) -> dict[str, str]:
    """Return what a file pins: names, and the lines about each."""
    found: dict[str, str] = {}
    for block in re.split(r"\n(?=\S)", file.read_text()):
        name = re.match(r"[A-Za-z0-9._-]+", block)
        if name is not None:
            found[canonicalize_name(name[0])] = block
    return found


def needed(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """Return what an installed package needs here, and what that needs."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        package, chosen = waiting.pop()
        for line in requires(package) or ():
            asked = Requirement(line)
            wanted = [{"extra": extra} for extra in (*chosen, "")]
            if asked.marker is not None and not any(map(asked.marker.evaluate, wanted)):
                continue
            key = canonicalize_name(asked.name)
            if key not in found:
                found.add(key)
                waiting.append((asked.name, frozenset(asked.extras)))
    return found


def test_a_plain_install_brings_in_these_packages_and_no_others() -> None:
    assert set(pinned(PLAIN)) == DIRECT | INDIRECT


def test_the_pins_of_a_plain_install_are_what_the_installed_packages_ask_for() -> None:
    here = needed("anyshape")
    assert here >= DIRECT - {"uvloop"}
    assert here <= DIRECT | INDIRECT
    lines = pinned(PLAIN)
    unconditional = {name for name, block in lines.items() if ";" not in block.split("\\")[0]}
    # Newer interpreters need less.
    assert unconditional - here <= {"typing-extensions"}


@pytest.mark.parametrize(
    "file", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda file: str(file.name)
)
def test_every_package_is_pinned_by_version_and_digest_and_names_no_index(file: Path) -> None:
    lines = pinned(file)
    assert lines
    for name, block in lines.items():
        assert re.match(r"[^;=]+==\S+ ", block), name
        assert "--hash=sha256:" in block, name
    assert "://" not in file.read_text()


def test_two_builds_of_the_wheel_are_equal(tmp_path: Path) -> None:
    build_twice: Callable[[Path, str], tuple[Path, Path]]
    build_twice = runpy.run_path(str(ROOT / "scripts" / "wheel.py"))["build_twice"]
    one, two = build_twice(tmp_path, "1700000000")
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        folders = {name.partition("/")[0] for name in archive.namelist()}
        assert {re.sub(r"-[0-9.]+\.", ".", each) for each in folders} == {
            "anyshape",
            "anyshape.dist-info",
        }
        assert not [name for name in archive.namelist() if name.endswith(".pyc")]
        for name in archive.namelist():
            assert str(tmp_path).encode() not in archive.read(name)


FAKE = """
import sys
print({answer!r})
print({complaint!r}, file=sys.stderr)
sys.exit({code})
"""
SOUND = '{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}'
SKIPPED = '{"dependencies": [{"name": "a", "skip_reason": "not found"}]}'
UNSOUND = (
    '{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "X-1", "fix_versions": []}]},'
    '{"name": "b", "skip_reason": "not found"}]}'
)


@pytest.mark.parametrize(
    ("answer", "complaint", "code", "outcome", "said"),
    [
        (SOUND, "", 0, 0, "no known advisory"),
        (SKIPPED, "No known vulnerabilities found", 0, 3, "1 of 1 packages not checked"),
        (UNSOUND, "", 1, 1, "a 1: X-1, fixed in no version yet"),
        ("", "ConnectionError: no route to host", 1, 3, "was not reached: ConnectionError: no"),
    ],
    ids=["sound", "skipped", "unsound", "unreachable"],
)
def test_advisories_are_said_to_be_unknown_where_nobody_could_be_asked(
    tmp_path: Path, answer: str, complaint: str, code: int, outcome: int, said: str
) -> None:
    fake = FAKE.format(answer=answer, complaint=complaint, code=code)
    (tmp_path / "pip_audit.py").write_text(fake)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "advisories.py", PLAIN],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, said in done.stdout) == (outcome, True), done.stdout
