"""Feed one target until time or executions are up; `scripts/fuzz.py` runs this and watches it.

    python tests/fuzz/feed.py TARGET FOLDER --seconds 60 [--runs N] [--seed 1] [--corpus DIR]

With Atheris inputs follow the code that they reach, and what reached new code is kept in
`FOLDER/corpus`. Without it, or for targets that make their own inputs, they are the seeds and what
a plain mutator makes of them.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import logging
import os
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "properties")]

import mutator  # noqa: E402 - what only makes inputs is not instrumented
from recorder import Recorder  # noqa: E402
from targets import GENERATIVE, NAMES, Target, load  # noqa: E402

KEPT = 4_000
"""Inputs that the plain mutator remembers, to go on from."""


def feed_plainly(target: Target, record: Recorder, options: argparse.Namespace) -> None:
    """Feed the seeds, then what is made of them."""
    random = Random(options.seed)
    kept = sorted((options.folder / "corpus").glob("*"))  # of guided runs
    known = [*target.seeds, *(path.read_bytes() for path in kept)]
    first = len(known)
    last = record.count + options.runs
    end = time.monotonic() + options.seconds
    for data in random.sample(known, first):
        if record.count == last or time.monotonic() > end:
            return
        record(data)
    while record.count < last and time.monotonic() < end:
        for _ in range(50):
            data = target.mutate(random.choice(known), random, known)[: target.max_bytes]
            record(data)
            # One in a few is gone on from, so that changes add up.
            if random.random() < 0.02:
                if len(known) < first + KEPT:
                    known.append(data)
                else:
                    known[random.randrange(first, len(known))] = data


def feed_guided(name: str, options: argparse.Namespace) -> None:
    """Feed what Atheris makes of the seeds."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["anyshape"], enable_loader_override=False):
        target = load(name, options.corpus)
    record = Recorder(target, options.folder)
    corpus = options.folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for data in target.seeds:
        (corpus / hashlib.sha256(data).hexdigest()[:40]).write_bytes(data[: target.max_bytes])
    seeds = list(target.seeds)

    def change(data: bytes, max_size: int, seed: int) -> bytes:
        random = Random(seed)
        if target.mutate is mutator.mutate_bytes and random.random() < 0.5:
            return atheris.Mutate(data, max_size)
        return target.mutate(data, random, seeds)[:max_size]

    arguments = [
        sys.argv[0],
        f"-max_total_time={max(1, int(options.seconds))}",
        *([f"-runs={options.runs}"] if options.runs < sys.maxsize else []),
        f"-seed={options.seed}",
        f"-max_len={target.max_bytes}",
        f"-artifact_prefix={options.folder}/",
        *(
            "-timeout=86400",
            "-report_slow_units=86400",
            "-rss_limit_mb=0",
            "-print_final_stats=0",
            "-verbosity=0",
        ),
        str(corpus),
    ]
    atheris.Setup(arguments, record, custom_mutator=change)
    atheris.Fuzz()


def main() -> None:
    """Read the arguments, and feed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", choices=NAMES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    logging.disable()
    plain = options.plain or options.target in GENERATIVE
    if not plain and importlib.util.find_spec("atheris") is not None:
        feed_guided(options.target, options)
        return
    target = load(options.target, options.corpus)
    with contextlib.suppress(KeyboardInterrupt):
        feed_plainly(target, Recorder(target, options.folder), options)
    os._exit(0)


if __name__ == "__main__":
    main()
