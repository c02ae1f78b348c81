"""The reference of known clients is what the table says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_known_clients_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "known_clients.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
