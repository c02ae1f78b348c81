"""Documents and values made of a number, held to the laws of lowering for every provider.

The long run of tests/properties/test_lowering_laws.py, where the numbers of broken ones belong.
"""

from __future__ import annotations

from pathlib import Path

from lowering import SOUND, hold

from anyshape.providers import PROFILES

from . import Target

FORMS = (*PROFILES.values(), *SOUND.values())


def run(data: bytes) -> None:
    """Hold the document of that number to the laws for one provider."""
    number = int.from_bytes(data[:8], "big")
    judge = hold(number // len(FORMS), FORMS[number % len(FORMS)])
    assert judge is None or not judge.breaches, judge.breaches[0][:2_000]


def make(corpus: Path | None) -> Target:
    """Return the target; an input is a number."""
    return Target(run, (b"\0",), lambda _data, random, _donors: random.randbytes(8), short=40)
