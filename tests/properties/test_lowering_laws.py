"""Lowering is sound, exact on the way back, idempotent and honest, for documents of every kind.

The documents are the same in every run, so that no change is blamed for what chance brings up;
`make fuzz-lowering` looks at others, and what it finds is added to `FOUND`.
"""

from __future__ import annotations

import pytest
from lowering import SOUND, hold

from anyshape.providers import PROFILES

FOUND = (
    *(33, 1429, 1474, 2579, 2677, 2848, 3131, 3463, 3761, 3812, 3844, 4036, 5767, 6899),
    *(805893, 1001002, 1001156, 1002711, 1004970),
)
"""Seeds of documents that once broke a law."""

SEEDS = (*range(60), *FOUND)


@pytest.mark.parametrize("name", PROFILES)
def test_every_law_holds(name: str) -> None:
    for seed in SEEDS:
        judge = hold(seed, PROFILES[name])
        assert judge is None or judge.breaches == []


@pytest.mark.parametrize("name", PROFILES)
def test_with_undeclared_properties_kept_every_value_has_a_form(name: str) -> None:
    for seed in SEEDS:
        judge = hold(seed, SOUND[name])
        assert judge is None or (judge.breaches == [] and judge.counts["narrowed"] == 0)
