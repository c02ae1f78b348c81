"""Documents and values made of a number: our verdicts are those of the engine and of `jsonschema`.

The long run of tests/properties/test_differential.py.
"""

from __future__ import annotations

from pathlib import Path

from differential import Tally, case, minimise, own_seeds, read_corpus

from . import Target

VALUES = 30


def make(corpus: Path | None) -> Target:
    """Return the target; an input is the number of a case."""
    seeds = own_seeds() + (read_corpus(corpus) if corpus is not None else ())

    def run(data: bytes) -> None:
        tally = Tally()
        case(1, int.from_bytes(data[:8], "big"), seeds, VALUES).check(tally)
        assert not tally.found, str(minimise(tally.found[0]))

    return Target(run, (b"\0",), lambda _data, random, _donors: random.randbytes(8), short=20)
