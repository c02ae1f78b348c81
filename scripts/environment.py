"""Make the development environment: pinned packages with hashes, then Anyshape itself, editable.

Uses uv where there is one, else the standard library's venv and pip. Run by `make`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "requirements" / "dev.txt"


def main(target: Path) -> None:
    """Create `target` and fill it."""
    python = target / "bin" / "python"
    uv = shutil.which("uv")
    if uv:
        subprocess.run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, target], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        if not python.exists():
            venv.EnvBuilder(with_pip=True, clear=True).create(target)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--require-hashes", "-r", REQUIREMENTS], check=True)
    subprocess.run([*install, "--no-deps", "--no-build-isolation", "-e", ROOT], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
