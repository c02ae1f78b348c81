"""The benchmark bed, importable in these tests as it is in the benchmarks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"


@pytest.fixture(scope="session")
def bed() -> Callable[[str], ModuleType]:
    """Return a function that imports a module of benchmarks/ by name."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module
