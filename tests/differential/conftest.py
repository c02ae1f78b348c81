"""What is beside this file is also used by `make fuzz`, so it imports each other by name."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [
    str(Path(__file__).resolve().parent),
    str(Path(__file__).resolve().parent.parent / "properties"),
]
