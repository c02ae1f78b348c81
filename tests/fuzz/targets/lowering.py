"""A tool's schema and values for it, as a JSON array, lowered for a provider, and back."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from lowering import SOUND, Judge
from mutator import mutate_json, read_json
from schema_seeds import schema_seeds
from trees import items_of

from anyshape.errors import AnyshapeError
from anyshape.providers import PROFILES, Profile, lower
from anyshape.schema import Limits, compile

from . import Target

LIMITS = Limits(seconds=0.2)
FORMS = (*PROFILES.values(), *SOUND.values())


def run(data: bytes) -> None:
    """Hold the first item to the laws of lowering, with the others as values."""
    document, *values = items_of(read_json(data)) or [True]
    profile = FORMS[zlib.crc32(data) % len(FORMS)]
    try:
        compile(document, limits=LIMITS)
    except AnyshapeError:
        if isinstance(document, dict | bool):  # Anything else is a mistake of the caller's.
            _refuse(document, profile)
        return
    judge = Judge()
    judge.judge(document, profile, values[:6])
    assert not judge.breaches, judge.breaches[0][:2_000]


def _refuse(document: Any, profile: Profile) -> None:
    try:
        lower(document, profile)
    except AnyshapeError:
        return
    raise AssertionError("what is no schema was lowered")


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, schema_seeds(corpus), mutate_json, short=250)
