"""Golden files: what was found is what is written down, or is written down on demand.

After a change that is meant, run `tests/wire` with `ANYSHAPE_WRITE_FRAMES=1` and review the
difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

__all__ = ["expect_frames", "expect_text"]


def expect_frames(golden: Path, found: Any) -> None:
    """Assert that frames are those of a golden file, with their members in the same order."""
    _write(golden, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    assert json.dumps(found) == json.dumps(json.loads(golden.read_text()))


def expect_text(golden: Path, found: str) -> None:
    """Assert that a text is that of a golden file."""
    _write(golden, found)
    assert found == golden.read_text()


def _write(golden: Path, text: str) -> None:
    if os.environ.get("ANYSHAPE_WRITE_FRAMES"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
