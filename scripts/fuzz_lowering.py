"""Hold lowering to its laws on generated documents, for as long as you like.

The long run of tests/properties/test_lowering_laws.py: every document for every profile, as it is
and with undeclared properties kept. A breach is printed with its seed, which belongs into the list
of that test once it is mended.

    make fuzz-lowering ARGS="--seconds 600 --seed 7000"

Exit code 1 when a law was broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "properties"))

from lowering import SOUND, hold  # noqa: E402

from anyshape.providers import PROFILES  # noqa: E402

SHOWN = 1500


def main() -> int:
    """Run until the time is up, and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    broken: set[int] = set()
    seed, end = options.seed, time.monotonic() + options.seconds
    while time.monotonic() < end:
        for name in PROFILES:
            for profile in (PROFILES[name], SOUND[name]):
                judge = hold(seed, profile)
                if judge is None:
                    continue
                counts += judge.counts
                for breach in judge.breaches[: 0 if seed in broken else 1]:
                    broken.add(seed)
                    print(f"seed {breach[:SHOWN]}", flush=True)
        seed += 1
    documents = seed - options.seed
    figures = ", ".join(f"{counts[noun]} {noun}" for noun in ("lowered", "refused", "round trips"))
    print(f"{documents} documents from {options.seed} on: {figures}; broken: {sorted(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
