"""Look for schemas that are said to be cheap and measured to be dear.

`schema.cost.rate` says how many nanoseconds a byte of any value takes at most
(docs/concepts/cost.md). This climbs towards whatever takes more: schemas that are made, taken from
the benchmarks and mutated, for arrays of values that nearly fit them, each as long as may be judged
in the process, up to 30,000 bytes. The time is that of the engine alone, the least of several, so
that a busy machine counts for little. What is not proved to be cheap is left out: it is judged
elsewhere, and stopped.

    make costs ARGS="--seconds 600 --seed 7"

Prints the worst that was found, and exits with 1 if one takes more than `FACTOR` times its bound.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "properties"))

from documents import Maker  # noqa: E402
from instances import Sampler  # noqa: E402
from mutations import mutate  # noqa: E402
from trees import places  # noqa: E402

from anyshape.errors import AnyshapeError  # noqa: E402
from anyshape.schema import compile, text_size  # noqa: E402
from differential import own_seeds  # noqa: E402

FACTOR = 1.0
LONGEST = 30_000
SHORTEST = 400
REPEATS = 5
SUSPECT = 0.5
SAMPLES = 20
KEPT = 24


@dataclass(frozen=True)
class Found:
    """A schema, how long its values took and may have taken, in nanoseconds a byte."""

    ratio: float
    measured: float
    rate: int
    size: int
    document: Any
    value: Any

    def __str__(self) -> str:
        """Return it in a line, shortened."""
        shown = json.dumps(self.document)
        figures = f"{self.measured:.1f} of {self.rate} ns a byte, {self.size} bytes"
        return f"{self.ratio:.2f} of its bound: {figures}: {shown[:300]}"


def measure(document: Any, random: Random) -> Found | None:
    """Return what one schema comes to, `None` where nothing is promised."""
    whole = {"type": "array", "items": document}
    if isinstance(document, dict):
        for word in ("$schema", "$defs", "definitions"):
            if word in document:
                whole[word] = document[word]
        whole["items"] = {key: document[key] for key in document if key not in whole}
    try:
        schema = compile(whole)
    except AnyshapeError:
        return None
    cost = schema.cost
    if cost.confined or cost.rate is None:
        return None
    try:
        item = compile(document)
        fitting = [each for each in Sampler(random, document).batch(SAMPLES) if item.accepts(each)]
    except AnyshapeError:
        return None
    # What is refused would end the work of the whole array.
    some = random.sample(fitting, min(len(fitting), random.choice((1, 2, 6))))
    room = min(LONGEST, cost.free_bytes)
    values = some * (room // (text_size(some) + 1)) if some else []
    size = text_size(values)
    if not SHORTEST < size <= cost.free_bytes:
        return None
    best = min(_timed(schema, values, size) for _ in range(REPEATS))
    if best > SUSPECT * size * cost.rate:  # Or something else had the processor each time.
        best = min(best, *(_timed(schema, values, size) for _ in range(10 * REPEATS)))
    return Found(best / size / cost.rate, best / size, cost.rate, size, whole, values[:3])


def _timed(schema: Any, values: list[Any], size: int) -> float:
    began = time.perf_counter_ns()
    schema.accepts_parsed(values, size)
    return time.perf_counter_ns() - began


def climb(seconds: float, seed: int) -> tuple[int, list[Found]]:
    """Return how many schemas were measured, and the worst of them."""
    random = Random(seed)
    seeds = own_seeds()
    best: dict[frozenset[object], Found] = {}
    kept: list[Found] = []
    measured = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if kept and random.random() < 0.7:
            start = random.choice(kept).document["items"]
            document = mutate(random, start, random.choice(seeds), random.choice((1, 2, 3)))
        elif random.random() < 0.3:
            document = random.choice(seeds)
        else:
            document = Maker(random, random.choice((20, 19, 7, 4))).document()
        found = measure(document, random)
        if found is None:
            continue
        measured += 1
        # One of each kind, or all that is gone on from would soon be the same.
        kind = frozenset(place[-1] for place in places(document) if place)
        if kind not in best or best[kind].ratio < found.ratio:
            best[kind] = found
            kept = sorted(best.values(), key=lambda each: -each.ratio)[:KEPT]
            best = {key: each for key, each in best.items() if each.ratio >= kept[-1].ratio}
    return measured, kept


def main() -> int:
    """Read the arguments, climb, and print the worst."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measured, worst = climb(options.seconds, options.seed)
    print(f"{measured} schemas measured in {options.seconds:.0f} s, seed {options.seed}")
    for found in worst[:10]:
        print(found)
    return 1 if worst and worst[0].ratio > FACTOR else 0


if __name__ == "__main__":
    sys.exit(main())
