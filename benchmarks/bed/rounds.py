"""Interleaved rounds, and ratios that are taken within a round.

A machine that other people use is slow in one second and fast in the next. So all contenders are
measured in every round, one after the other, each is compared with the base of its own round, and
what is reported is the median of those ratios with the lowest and the highest.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Ratio:
    """The median of the rounds' ratios, and how far they spread."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return e.g. `0.81 (0.79 to 0.84)`."""
        return f"{_short(self.median)} ({_short(self.low)} to {_short(self.high)})"


def interleave(
    names: Iterable[str], rounds: int, measure: Callable[[str], T]
) -> dict[str, list[T]]:
    """Return for each name what `measure` found in each round, rounds outermost.

    Every other round runs backwards, so that nobody is always the one after the same neighbour.
    """
    ordered = list(names)
    found: dict[str, list[T]] = {name: [] for name in ordered}
    for number in range(rounds):
        for name in ordered if number % 2 == 0 else reversed(ordered):
            found[name].append(measure(name))
    return found


def ratio(values: Iterable[float], base: Iterable[float]) -> Ratio:
    """Return `values` as multiples of `base`, round by round."""
    each = [value / reference for value, reference in zip(values, base, strict=True)]
    return Ratio(statistics.median(each), min(each), max(each))


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"
