"""Obtain the official JSON Schema test suite, which the `jsonschema` source distribution contains.

The distribution is pinned by version and hash, downloaded by name with pip, and its `json/` folder
unpacked to `.cache/json-schema-suite-<version>`. Run by the tests that need it; run by hand to see
where it is. Nothing of it is committed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
VERSION = "4.26.0"
SHA256 = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326"
TARGET = ROOT / ".cache" / f"json-schema-suite-{VERSION}"
TIMEOUT = 300


def install() -> Path:
    """Return the folder that holds `tests/` and `remotes/`, filling it if it is not there."""
    if not TARGET.exists():
        TARGET.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=TARGET.parent) as name:
            folder = Path(name)
            unpacked = folder / "suite"
            _unpack(_download(folder), unpacked)
            try:
                unpacked.rename(TARGET)
            except OSError:
                # Another process was first; what it put there is the same.
                if not TARGET.exists():
                    raise
    return TARGET


def _download(folder: Path) -> bytes:
    requirement = folder / "suite.txt"
    requirement.write_text(f"jsonschema=={VERSION} --hash=sha256:{SHA256}\n")
    subprocess.run(
        [
            *_pip(folder),
            *("download", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--no-binary", "jsonschema", "--require-hashes"),
            *("--requirement", os.fspath(requirement), "--dest", os.fspath(folder)),
        ],
        check=True,
        timeout=TIMEOUT,
    )
    archive = (folder / f"jsonschema-{VERSION}.tar.gz").read_bytes()
    found = hashlib.sha256(archive).hexdigest()
    if found != SHA256:
        raise ValueError(f"expected the suite to have SHA-256 {SHA256}, got {found}")
    return archive


def _pip(folder: Path) -> list[str]:
    """Return how to call pip here; an environment made by uv has none of its own."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "tool", "run", "pip"]
    venv.EnvBuilder(with_pip=True).create(folder / "pip")
    return [os.fspath(folder / "pip" / "bin" / "python"), "-m", "pip"]


def _unpack(archive: bytes, folder: Path) -> None:
    """Write the files under `json/tests` and `json/remotes` to `folder`."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        for member in opened:
            parts = PurePosixPath(member.name).parts[1:]
            if not member.isfile() or parts[:1] != ("json",) or ".." in parts:
                continue
            if parts[1] in ("tests", "remotes"):
                content = opened.extractfile(member)
                if content is not None:
                    path = folder.joinpath(*parts[1:])
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content.read())


if __name__ == "__main__":
    print(install())
