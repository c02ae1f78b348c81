"""Make an environment: pinned packages with hashes, and Anyshape itself, editable, to run it.

    python scripts/environment.py .venv
    python scripts/environment.py .cache/agents requirements/agents.txt
    python scripts/environment.py .cache/docs requirements/docs.txt

Uses uv where there is one, else the standard library's venv and pip. Run by `make`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVELOPMENT = ROOT / "requirements" / "dev.txt"
WITHOUT_US = ROOT / "requirements" / "docs.txt"


def main(target: Path, requirements: Path = DEVELOPMENT) -> None:
    """Create `target` and fill it."""
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
    subprocess.run([*install, "--require-hashes", "-r", requirements], check=True)
    if requirements != WITHOUT_US:
        subprocess.run([*install, "--no-deps", "--no-build-isolation", "-e", ROOT], check=True)


if __name__ == "__main__":
    main(*(Path(argument).absolute() for argument in sys.argv[1:]))
