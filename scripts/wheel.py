"""Build the wheel twice, from copies of other places, times and modes; keep it if both are equal.

    python scripts/wheel.py [dist]

SOURCE_DATE_EPOCH says what time the files in it have: by default that of the last commit. Whoever
builds the same commit with the same hatchling gets the same bytes. Run by `make wheel`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("pyproject.toml", "README.md", "LICENSE")
DAY = 86_400


def main(target: Path) -> int:
    """Print the wheel and its digest; 1 if two builds differ."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = build_twice(Path(folder), _epoch())
        digests = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (one, two)]
        if digests[0] != digests[1]:
            print(f"two builds of {one.name} differ: {digests[0]} and {digests[1]}")
            return 1
        target.mkdir(exist_ok=True)
        shutil.copyfile(one, target / one.name)
    print(f"{target / one.name} sha256:{digests[0]}")
    return 0


def build_twice(folder: Path, epoch: str) -> tuple[Path, Path]:
    """Return two wheels, built from copies that have only their contents in common."""
    return (
        _build(folder / "here", epoch, age=0, mode=0o644),
        _build(folder / "somewhere" / "else", epoch, age=400 * DAY, mode=0o600),
    )


def _build(place: Path, epoch: str, *, age: int, mode: int) -> Path:
    source = place / "source"
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", source / "src", copy_function=shutil.copyfile, ignore=unwanted)
    for name in NEEDED:
        shutil.copyfile(ROOT / name, source / name)
    for file in source.rglob("*"):
        if file.is_file():
            file.chmod(mode)
        made = file.stat().st_mtime - age
        os.utime(file, (made, made))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place / "made"]
    variables = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    subprocess.run(command, cwd=source, env=variables, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (place / "made").glob("*.whl")
    return wheel


def _epoch() -> str:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    asked = ["git", "log", "-1", "--format=%ct"]
    return (
        given
        or subprocess.run(
            asked, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
    )


if __name__ == "__main__":
    sys.exit(main(Path(*sys.argv[1:]) if sys.argv[1:] else ROOT / "dist"))
