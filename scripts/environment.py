"""Make an environment: pinned packages with hashes, and Anyshape itself, editable, to run it.

    python scripts/environment.py .venv
    python scripts/environment.py .cache/agents requirements/agents.txt
    python scripts/environment.py .cache/docs requirements/docs.txt
    python scripts/environment.py .cache/fuzzing requirements/dev.txt requirements/fuzz.txt
    python scripts/environment.py .cache/older-peers/2025-03 requirements/older-peers/2025-03.txt
    python scripts/environment.py .cache/supply requirements/supply.txt

Uses uv where there is one, else the standard library's venv and pip. Run by `make`. Tests of
several replicas need a Redis or Valkey server, those of the page a Chromium: where there is none,
Debian's is installed if that may be.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVELOPMENT = ROOT / "requirements" / "dev.txt"
OLDER_PEERS = ROOT / "requirements" / "older-peers"
WITHOUT_US = {
    *(ROOT / "requirements" / name for name in ("docs.txt", "install.txt", "supply.txt")),
    *OLDER_PEERS.glob("*.txt"),
}

_WITH_EXTRAS = re.compile(r"^([a-z0-9-]+)\[[^\]]*\](==.*(?:\n    .*)*)\n", re.MULTILINE)


def main(target: Path, *requirements: Path) -> None:
    """Create `target` and fill it with what some files list, that of developers by default."""
    requirements = requirements or (DEVELOPMENT,)
    python = target / "bin" / "python"
    uv = shutil.which("uv")
    if uv:
        subprocess.run(
            [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, target],
            check=True,
        )
        install = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        if not python.exists():
            venv.EnvBuilder(with_pip=True, clear=True).create(target)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    files = requirements if uv else [_for_pip(path, target) for path in requirements]
    listed = [argument for path in files for argument in ("-r", path)]
    subprocess.run([*install, "--require-hashes", *listed], check=True)
    if DEVELOPMENT in requirements:
        install_program("redis-server", or_else=("valkey-server",))
        install_program("chromium", or_else=("google-chrome",), with_it=("fonts-dejavu-core",))
    if not WITHOUT_US.issuperset(requirements):
        subprocess.run([*install, "--no-deps", "--no-build-isolation", "-e", ROOT], check=True)


def _for_pip(requirements: Path, target: Path) -> Path:
    """Return a copy in which what is pinned with extras is pinned without them, too.

    Else pip takes the newest for whoever wants no extras, and refuses it as not pinned.
    """
    text = requirements.read_text()
    plain = [f"{name}{pin}\n" for name, pin in _WITH_EXTRAS.findall(text)]
    copy = target / requirements.name
    copy.write_text(text + "".join(plain))
    return copy


def install_program(
    name: str, *, or_else: tuple[str, ...] = (), with_it: tuple[str, ...] = ()
) -> None:
    """Install Debian's package of a program if there is none like it; say so if that fails."""
    if any(shutil.which(program) for program in (name, *or_else)):
        return
    apt = shutil.which("apt-get")
    if apt is not None and os.geteuid() == 0:
        quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        packages = (name, *with_it)
        command = [apt, "install", "--quiet", "--yes", "--no-install-recommends", *packages]
        for attempt in (command, [apt, "update", "--quiet"], command):
            done = subprocess.run(attempt, env=quietly, check=False, stdout=subprocess.DEVNULL)
            if attempt is command and done.returncode == 0:
                return
    print(f"some tests need {name}; please install it", file=sys.stderr)


if __name__ == "__main__":
    main(*(Path(argument).absolute() for argument in sys.argv[1:]))
