"""The page says of hosts and frameworks what was observed, and all was well with the hosts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

HOSTS = Path(__file__).resolve().parent.parent / "hosts"


def test_the_page_of_peers_says_what_was_observed() -> None:
    command = [sys.executable, str(HOSTS / "page.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_lock_file_of_the_hosts_names_no_registry_address() -> None:
    packages = json.loads((HOSTS / "package-lock.json").read_text())["packages"]
    assert [name for name, entry in packages.items() if "resolved" in entry] == []
