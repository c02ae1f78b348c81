"""What is lowered for the engines compiles in them, and their matchers take the values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engines import LlGuidance, Outlines, outlines_core, spellings
from probes import PROBES, Probe

from anyshape.providers import Effect, lower
from anyshape.providers._expressions import expression_size

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


def test_llguidance_has_a_spelling_for_every_character_and_every_multiple() -> None:
    share = {"type": "number", "multipleOf": 0.25}
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "share": share}}
    lowered = lower(schema, "llguidance")
    engine = LlGuidance(lowered.document)
    controls = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    for value in ({"text": controls}, {"text": "é" + controls}, {"share": 0.5}, {"share": -1.5}):
        assert any(engine.matches(text) for text in spellings(value, lowered.document)), value


def all_optional(width: int, inside: dict[str, Any], **beside: Any) -> dict[str, Any]:
    """Return a closed object that requires nothing, its properties all alike."""
    properties = {f"p{number}": inside for number in range(width)}
    return {"type": "object", "properties": properties, "additionalProperties": False, **beside}


def listed(most: int, inside: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": inside, "maxItems": most}


TEXT, MAYBE = {"type": "string"}, {"type": ["object", "null"]}
LARGE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "three levels of optional properties": (
        all_optional(12, all_optional(12, all_optional(12, TEXT))),
        {"p3": {"p0": {"p11": "x"}}, "p4": {"p1": {}}, "p5": {}},
    ),
    "properties that may be null or absent": (
        all_optional(20, all_optional(20, all_optional(9, {"type": ["string", "null"]}), **MAYBE)),
        {"p3": {"p2": {"p8": "x"}}, "p4": None, "p5": {"p0": {}}},
    ),
    "counts within counts": (
        all_optional(2, listed(99, listed(99, {"type": "number"}))),
        {"p1": [[1, 2.5], []]},
    ),
    "definitions within definitions": (
        {
            **all_optional(2, {"$ref": "#/$defs/0"}),
            "$defs": {
                **{str(n): all_optional(2, {"$ref": f"#/$defs/{n + 1}"}) for n in range(7)},
                "7": all_optional(1, TEXT),
            },
        },
        {"p0": {"p1": {"p0": {"p1": {"p0": {"p1": {"p0": {"p1": {"p0": "deep"}}}}}}}}},
    ),
}
"""Schemas whose one regular expression would be too large, and a value of each."""


@pytest.mark.parametrize("name", LARGE)
def test_outlines_takes_a_schema_that_it_would_choke_on(name: str) -> None:
    schema, value = LARGE[name]
    lowered = lower(schema, "outlines")
    engine = Outlines(lowered.document)
    for one in (value, {}):
        rewritten = lowered.rewrite(one)
        assert lowered.restore(rewritten) == one
        assert any(engine.matches(text) for text in spellings(rewritten, lowered.document))


def test_what_is_given_up_to_make_an_expression_smaller_is_a_loss() -> None:
    lowered = {name: lower(schema, "outlines") for name, (schema, _) in LARGE.items()}
    effects = {name: {loss.effect for loss in one.losses} for name, one in lowered.items()}
    assert effects == {
        "three levels of optional properties": set(),
        "properties that may be null or absent": {Effect.AMBIGUOUS, Effect.WIDER},
        "counts within counts": {Effect.WIDER},
        "definitions within definitions": set(),
    }


@pytest.mark.parametrize("probe", PROBES, ids=str)
def test_the_size_of_an_expression_is_foreseen(probe: Probe) -> None:
    document = lower(probe.schema, "outlines").document
    made = outlines_core.json_schema.build_regex_from_schema(json.dumps(document))
    assert expression_size(document) >= 0.8 * len(made)
