"""Find the Chromium that the page is tested with, or install Debian's.

    python scripts/chromium.py      print the path of the browser

Installing takes root and apt-get, as in the containers that tests run in; elsewhere the browser has
to be there already. However many processes ask at the same time, one installs and the others wait.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PACKAGES = ("chromium", "fonts-dejavu-core")


class BrowserMissing(RuntimeError):
    """There is no Chromium here, and none can be installed; the message says what to do."""


def chromium() -> str:
    """Return the path of a Chromium, installed first where there is none."""
    found = _find()
    if found is not None:
        return found
    cache = ROOT / ".cache"
    cache.mkdir(exist_ok=True)
    with (cache / "chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _find() is None:
            _install()
    found = _find()
    if found is None:
        raise BrowserMissing(f"apt-get installed {PACKAGES[0]}, and it is not on the path")
    return found


def _find() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)


def _install() -> None:
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise BrowserMissing(
            "the page is tested in Chromium: install it "
            f"(on Debian: sudo apt-get install {' '.join(PACKAGES)}), or put one on the path"
        )
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(
            [apt, "-qq", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            detail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-10:])
            raise BrowserMissing(f"apt-get {arguments[0]} failed:\n{detail}")


def main() -> int:
    """Print the path of the browser."""
    try:
        print(chromium())
    except BrowserMissing as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
