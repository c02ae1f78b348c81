"""What each benchmark does when it is run on its own."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from bed.report import Report, show_targets

P = TypeVar("P")


def run_alone(measure: Callable[[P], Report], full: P, quick: P) -> None:
    """Measure with the full plan, or with the quick one when `--quick` is given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer, shorter rounds")
    start = time.monotonic()
    report = measure(quick if parser.parse_args().quick else full)
    print(f"\n{show_targets([report])}\n\n{time.monotonic() - start:.0f} s")
