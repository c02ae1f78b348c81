"""Lowering is sound, exact on the way back, idempotent and honest, for documents of every kind.

The documents are the same in every run, so that no change is blamed for what chance brings up;
`make fuzz` looks at others, and what it finds is added to `FOUND` and `WRITTEN`.
"""

from __future__ import annotations

from typing import Any

import pytest
from lowering import SOUND, Judge, hold

from anyshape.providers import PROFILES

FOUND = (
    *(33, 1429, 1474, 2579, 2677, 2848, 3131, 3463, 3761, 3812, 3844, 4036, 5767, 6899),
    *(805893, 1001002, 1001156, 1002711, 1004970),
)
"""Seeds of documents that once broke a law."""

OLD = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def tool_of(schema: Any) -> Any:
    """Return a tool of draft 7 with one argument."""
    closed = {"required": ["v"], "additionalProperties": False}
    return {"$schema": DRAFT_7, "type": "object", "properties": {"v": schema}, **closed}


WRITTEN: tuple[tuple[Any, list[Any]], ...] = (
    ({"$schema": OLD, "type": "object", "dependentSchemas": "of no meaning there"}, [{}]),
    ({"$schema": OLD, "type": "object", "propertyNames": False, "minContains": "x"}, [{"a": 1}]),
    ({"$schema": OLD, "type": "object", "dependentRequired": {"a": ["b"]}}, [{"a": 1}]),
    ({"$schema": OLD, "type": "object", "if": {"required": ["a"]}, "then": False}, [{"a": 1}]),
    (
        {
            "$schema": OLD,
            "type": "object",
            "properties": {"v": {"enum": ["ab"], "format": "relative-json-pointer"}},
            "required": ["v"],
        },
        [{"v": "ab"}],
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "allOf": [{"unevaluatedProperties": True}],
            "unevaluatedProperties": False,
        },
        [{"a": "x"}, {"a": "x", "b": 1}],
    ),
    (
        {
            "type": "object",
            "allOf": [{"properties": {"a": True}, "unevaluatedProperties": {"type": "string"}}],
            "unevaluatedProperties": {"type": "string", "maxLength": 2},
        },
        [{"a": 1, "b": "long"}],
    ),
    (
        {
            "type": "object",
            "properties": {
                "v": {
                    "type": "array",
                    "prefixItems": [{"type": "string"}],
                    "allOf": [{"unevaluatedItems": True}],
                    "unevaluatedItems": False,
                }
            },
        },
        [{"v": ["x", 1]}],
    ),
    *(
        (tool_of(schema), [{"v": "{"}, {"v": "{}"}, {"v": 1}])
        for schema in (
            {"contentMediaType": "application/json"},
            {"not": {"type": "string", "contentMediaType": "application/json"}},
            {"oneOf": [{"contentMediaType": "application/json"}, {"type": "string"}]},
        )
    ),
    (tool_of({"type": "string", "deprecated": "use another"}), [{"v": "x"}]),
    ({**tool_of({"readOnly": "yes", "examples": "x"}), "$schema": OLD}, [{"v": "x"}]),
)
"""Documents that once broke a law with these values."""

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


@pytest.mark.parametrize("name", PROFILES)
def test_every_law_holds_for_what_once_broke_one(name: str) -> None:
    judge = Judge()
    for document, values in WRITTEN:
        for profile in (PROFILES[name], SOUND[name]):
            judge.judge(document, profile, values)
    assert judge.breaches == []
