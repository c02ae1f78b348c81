"""Build the site from `docs/` into `site/`, strictly: a warning, such as a dead link, is an error.

Zensical takes the `.cache` folder beside its configuration for its own, and may empty it. So it
works on a copy of the sources, in a folder of its own, and never in this one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIGURATION = "zensical.toml"
INCLUDED = ("examples",)


def main() -> int:
    """Return zensical's exit code, and leave the site in `site/` if it is 0."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ignored = shutil.ignore_patterns(CONFIGURATION, "__pycache__")
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=ignored)
        shutil.copyfile(ROOT / "docs" / CONFIGURATION, folder / CONFIGURATION)
        for included in INCLUDED:
            shutil.copytree(ROOT / included, folder / included, ignore=ignored)
        (folder / "src").symlink_to(ROOT / "src")
        zensical = Path(sys.executable).parent / "zensical"
        code = subprocess.run([zensical, "build", "--strict"], cwd=folder, check=False).returncode
        if code == 0:
            site = ROOT / "site"
            shutil.rmtree(site, ignore_errors=True)
            shutil.copytree(folder / "site", site)
            print(f"the site is in {site.relative_to(ROOT)}/index.html")
        return code


if __name__ == "__main__":
    sys.exit(main())
