"""A short run of what `make fuzz` does for hours: every target, its seeds and what is made of them.

Without Atheris: inputs come from the plain mutator, and are the same in every run. Targets that
make inputs of a number have short runs elsewhere, which they name.
"""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest
from targets import GENERATIVE, NAMES, Target, load

MOST_SEEDS = 100
FIRST = 20
"""Inputs that are fed twice, to see whether anything is kept of them."""
KEPT = 50
"""Blocks of memory that may be left for each of those; the interpreter has caches too."""


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Keep what servers log of bad messages to themselves."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def inputs(target: Target) -> Iterator[bytes]:
    """Yield seeds, and others without end."""
    random = Random(1)
    known = list(target.seeds)
    yield from random.sample(known, min(len(known), MOST_SEEDS))
    while True:
        yield target.mutate(random.choice(known), random, known)[: target.max_bytes]


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(GENERATIVE)))
def test_nothing_but_our_own_errors_comes_out_and_nothing_is_kept(name: str) -> None:
    target = load(name)
    feed = list(islice(inputs(target), target.short))
    for data in feed:
        target.run(data)
    first = feed[:FIRST]
    before = blocks_after(target, first)
    assert blocks_after(target, first) - before < KEPT * len(first)


def blocks_after(target: Target, feed: list[bytes]) -> int:
    """Return how much memory the interpreter holds after some inputs."""
    for data in feed:
        target.run(data)
    gc.collect()
    return sys.getallocatedblocks()
