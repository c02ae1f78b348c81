"""The reference of profiles is what the profiles say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_profiles_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "profiles.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
