"""Look for documents and values on which we and others disagree, for as long as you like.

The long run of tests/properties/test_differential.py. Each case is known by its seed and number and
is checked in a child process, because the engine can end the process; a child that ends or hangs is
a finding, too, and another goes on behind it.

    make fuzz ARGS="--seconds 600 --seed 7 --corpus DIR"

DIR holds listings of tools as JSON (`{"tools": [{"inputSchema": …}]}`), whose schemas are mutated
beside those of the benchmarks. Exit code 1 when anything was found.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "properties"))

from differential import Tally, case, minimise, own_seeds, read_corpus  # noqa: E402

VALUES = 40
BATCH = 20
HANGS = 60
SHOWN = 5


def work(pipe: Connection, options: argparse.Namespace, start: int, step: int) -> None:
    """Check every `step`th case from `start` on, and report after each batch."""
    seeds = own_seeds() + (read_corpus(options.corpus) if options.corpus else ())
    kinds: Counter[str] = Counter()
    number = start
    worked = time.process_time()
    while True:
        tally = Tally()
        for _ in range(BATCH):
            pipe.send(("at", number))
            case(options.seed, number, seeds, VALUES).check(tally)
            number += step
        shown: list[str] = []
        for found in tally.found:
            kinds[found.kind] += 1
            if kinds[found.kind] <= SHOWN:
                pipe.send(("at", number - step))
                shown.append(str(minimise(found)))
        numbers: dict[str, float] = {
            name: getattr(tally, name)
            for name in ("executions", "documents", "accepted", "asked_engine", "asked_other")
        }
        numbers["processor"] = time.process_time() - worked
        worked = time.process_time()
        found_kinds = Counter(found.kind for found in tally.found)
        pipe.send(("done", (numbers, found_kinds, tally.refused, tally.doubtful, shown)))


class Worker:
    """A child process and where it is."""

    def __init__(self, options: argparse.Namespace, start: int, step: int) -> None:
        self.options, self.step = options, step
        self.begin(start)

    def begin(self, start: int) -> None:
        """Start a process at case `start`."""
        self.number = start
        self.since = time.monotonic()
        self.pipe, other = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.get_context("spawn").Process(
            target=work, args=(other, self.options, start, self.step), daemon=True
        )
        self.process.start()
        other.close()

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def run(options: argparse.Namespace) -> int:
    """Return how many findings there were."""
    totals: Any = Counter()
    kinds: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    doubtful: Counter[str] = Counter()
    workers = [Worker(options, options.start + n, options.jobs) for n in range(options.jobs)]
    began = last = time.monotonic()

    def take(worker: Worker) -> None:
        kind, what = worker.pipe.recv()
        worker.since = time.monotonic()
        if kind == "at":
            worker.number = what
            return
        numbers, found, refusals, doubts, shown = what
        totals.update(numbers)
        kinds.update(found)
        refused.update(refusals)
        doubtful.update(doubts)
        for text in shown:
            print(text, flush=True)

    while time.monotonic() - began < options.seconds:
        ready: list[Any] = wait([worker.pipe for worker in workers], timeout=1)
        for worker in workers:
            ended = f"hung for {HANGS} s" if time.monotonic() - worker.since > HANGS else ""
            if worker.pipe in ready:
                try:
                    take(worker)
                except EOFError:
                    worker.process.join()
                    ended = f"ended its process ({worker.process.exitcode})"
            if ended:
                print(f"case {worker.number} of seed {options.seed} {ended}", flush=True)
                kinds[f"the process {ended}"] += 1
                worker.end()
                worker.begin(worker.number + worker.step)
        if time.monotonic() - last > 30:
            last = time.monotonic()
            rate = totals["executions"] / (last - began)
            print(f"… {dict(totals)}, {rate:.0f} a second, found {dict(kinds)}", file=sys.stderr)
    for worker in workers:
        worker.end()
    seconds = time.monotonic() - began
    rate = totals["executions"] / (totals["processor"] or 1)
    print(f"\n{totals['executions']} executions in {seconds:.0f} s, {rate:.0f} a processor second")
    print(json.dumps({"numbers": totals, "refused": refused, "doubtful": doubtful}, indent=2))
    print(f"disagreements: {sum(kinds.values())} {dict(kinds)}")
    return sum(kinds.values())


def main() -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--corpus", type=Path, help="a folder of tool listings")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    with contextlib.suppress(KeyboardInterrupt):
        options, _ = parser.parse_known_args()  # those of the other half of `make fuzz`
        return 1 if run(options) else 0
    return 130


if __name__ == "__main__":
    raise SystemExit(main())
