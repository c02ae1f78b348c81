"""Our verdicts are those of the engine on the plain document, and of another implementation.

A short run of what `make fuzz` does for hours: the same cases, by the same numbers.
"""

from __future__ import annotations

import pytest

from differential import Tally, case, minimise, own_seeds

SEED = 1
DOCUMENTS = 60
VALUES = 20
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_every_verb_says_what_the_engine_says_of_the_plain_document(part: int) -> None:
    tally = Tally()
    for number in range(part * DOCUMENTS, (part + 1) * DOCUMENTS):
        case(SEED, number, own_seeds(), VALUES).check(tally)

    assert not tally.found, f"{len(tally.found)} disagreements, such as\n{minimise(tally.found[0])}"
    # The generators are worth something: values are judged, both ways, and seldom refused.
    assert tally.executions > DOCUMENTS * VALUES / 2
    assert 0.2 < tally.accepted / tally.asked_engine < 0.8
    assert tally.asked_other > 0
    assert sum(tally.refused.values()) < tally.executions / 20
