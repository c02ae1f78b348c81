"""Documents and values made of a number, through Anyshape, `jsonschema` and Ajv.

The long run of tests/differential/test_three_validators.py.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from . import Target

sys.path.append(str(Path(__file__).resolve().parents[2] / "differential"))


def make(corpus: Path | None) -> Target:
    """Return the target; an input is the number of a case."""
    comparing: Any = importlib.import_module("comparison")
    ajv: Any = importlib.import_module("validators").Ajv()

    def run(data: bytes) -> None:
        comparison = comparing.Comparison(ajv)
        comparison.compare(*comparing.make_case(int.from_bytes(data[:8], "big"), 12))
        assert not comparison.found, str(comparison.found[0])

    return Target(run, (b"\0",), lambda _data, random, _donors: random.randbytes(8), short=10)
