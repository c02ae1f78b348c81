"""What an error says of a stranger's schema or value is one line that steers no terminal."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape.errors import AnyshapeError
from anyshape.schema import Limits, compile

TRICK = "v\x1b[2J\rFORGED\x9b2J\nFORGED\x85\u2028\u202e\x7f\u200b"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
SCHEMAS: list[dict[str, Any]] = [
    {"type": TRICK},
    {"$schema": TRICK},
    {"properties": {TRICK: {"type": TRICK}}},
    {"properties": {TRICK: {"pattern": f"({TRICK}"}}},
    {"properties": {TRICK: {"pattern": "a" * 70_000}}},
    {"properties": {TRICK: {"$ref": f"http://example.com/{TRICK}"}}},
    {"properties": {TRICK: {"$schema": TRICK}}},
    {"properties": {TRICK: {"required": [TRICK, TRICK]}}},
    {"properties": {TRICK: {"enum": TRICK}}},
    {"properties": {TRICK: {"$ref": f"#/properties/{TRICK}"}}},
    {"properties": {TRICK: 5}},
    {"patternProperties": {f"{TRICK}(": True}},
    {"$defs": {TRICK: {"$ref": f"#/{TRICK}"}}},
    {"$schema": DRAFT_7, "properties": {TRICK: {"$ref": f"#/definitions/{TRICK}"}}},
    {TRICK: {1: 2}},
]


@pytest.mark.parametrize("document", SCHEMAS, ids=lambda document: ascii(document)[:60])
def test_a_schema_that_is_refused_writes_one_harmless_line(document: dict[str, Any]) -> None:
    with pytest.raises(AnyshapeError) as refused:
        compile({"type": "object", **document}, role="input")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("limit", ["depth", "subschemas", "document_bytes", "pattern_length"])
def test_so_does_one_that_is_beyond_a_limit(limit: str) -> None:
    document: dict[str, Any] = {"pattern": "abcdef"}
    for _ in range(4):
        document = {"properties": {TRICK: document}}
    with pytest.raises(AnyshapeError) as refused:
        compile(document, limits=Limits(**{limit: 3}))
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("value", [{TRICK: TRICK}, {"x": TRICK}, {TRICK: {TRICK: [TRICK]}}])
def test_so_does_a_value_that_breaks_one(value: Any) -> None:
    schema = compile(
        {"properties": {TRICK: {"type": "integer"}}, "additionalProperties": {"const": TRICK + "!"}}
    )
    with pytest.raises(AnyshapeError) as refused:
        schema.validate(value)
    assert all(line.isprintable() for line in str(refused.value).split("\n"))
