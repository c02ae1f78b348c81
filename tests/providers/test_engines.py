"""What is lowered for the engines compiles in them, and their matchers take the values."""

from __future__ import annotations

from typing import Any

import pytest
from engines import LlGuidance, Outlines, spellings
from probes import PROBES, Probe

from anyshape.providers import lower

ENGINES = {"llguidance": LlGuidance, "outlines": Outlines}


@pytest.mark.parametrize("probe", PROBES, ids=str)
@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_takes_every_value_of_a_probe(name: str, probe: Probe) -> None:
    lowered = lower(probe.schema, name)
    engine = ENGINES[name](lowered.document)
    refused: list[Any] = []
    for value in probe.accepts:
        rewritten = lowered.rewrite(value)
        if not any(engine.matches(text) for text in spellings(rewritten, lowered.document)):
            refused.append(rewritten)
    assert refused == []


@pytest.mark.parametrize("probe", PROBES, ids=str)
def test_llguidance_generates_nothing_that_a_lossless_schema_refuses(probe: Probe) -> None:
    lowered = lower(probe.schema, "llguidance")
    if lowered.losses:
        return
    engine = LlGuidance(lowered.document)
    taken = [
        value
        for value in probe.rejects
        if any(engine.matches(text) for text in spellings(value, lowered.document))
    ]
    assert taken == []
