"""The laws of lowering and the makers of documents stand in tests/properties."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "properties")]
