"""Lowering is sound, exact on the way back, idempotent and honest, for documents of every kind."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from documents import Maker
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import Sampler
from lowering import Judge

from anyshape.errors import AnyshapeError
from anyshape.providers import PROFILES, Profile, Undeclared
from anyshape.schema import compile

SOUND = {name: replace(profile, undeclared=Undeclared.KEPT) for name, profile in PROFILES.items()}


def tool_document(seed: int) -> Any:
    """Return a document such as a tool might have: most of them admit objects."""
    random = Random(seed)
    maker = Maker(random, random.choice((20, 20, 20, 7, 19, 4)))
    document: Any = maker.document()
    if random.random() < 0.3 and not isinstance(document, bool):
        return document
    outer: dict[str, Any] = {"type": "object", "properties": {"v": document}, "required": ["v"]}
    if not isinstance(document, bool):
        for keyword in ("$schema", "$defs", "definitions"):
            if keyword in document:
                outer[keyword] = document.pop(keyword)
    if random.random() < 0.5:
        outer["additionalProperties"] = False
    return outer


def hold(seed: int, profile: Profile) -> Judge | None:
    document = tool_document(seed)
    try:
        compile(document)
    except AnyshapeError:
        return None
    judge = Judge()
    judge.judge(document, profile, Sampler(Random(seed), document).batch(10), name=str(seed))
    return judge


@pytest.mark.parametrize("name", PROFILES)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_every_law_holds(name: str, seed: int) -> None:
    judge = hold(seed, PROFILES[name])
    assert judge is None or judge.breaches == []


@pytest.mark.parametrize("name", PROFILES)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_with_undeclared_properties_kept_every_value_has_a_form(name: str, seed: int) -> None:
    judge = hold(seed, SOUND[name])
    assert judge is None or (judge.breaches == [] and judge.counts["narrowed"] == 0)
