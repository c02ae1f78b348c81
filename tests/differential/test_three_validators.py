"""We, `jsonschema` and Ajv say the same of generated schemas and values, or it is known why not.

A short run of what `make fuzz ARGS=three_validators` does for longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from comparison import Comparison, make_case
from documents import DIALECTS
from explanations import REASONS
from trees import Json
from validators import Ajv, ask_jsonschema, ask_us

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "reliability.md"
DOCUMENTS = 300
VALUES = 8

# A case for each reason: the dialect, a document, a value, and who says what of it.
EXAMPLES: dict[str, tuple[int, Json, Json, bool, bool | None, bool | None]] = {
    "Ajv: numbers beyond 2⁵³": (20, {"const": 2**53}, 2**53 + 1, False, False, True),
    "Ajv: `multipleOf` with fractions": (7, {"multipleOf": 0.01}, 19.99, True, False, False),
    "Ajv: `1.0` in draft-04": (4, {"type": "integer"}, 1.0, False, False, True),
    "Ajv: keywords beside `$ref`, up to draft-07": (
        7,
        {"items": {"$ref": "#/definitions/a", "maximum": 1}, "definitions": {"a": {}}},
        [2],
        True,
        True,
        False,
    ),
    'Ajv: the name `""` in `required` and dependencies': (
        *(6, {"required": [""]}, {}, False, False, True),
    ),
    "Ajv: `$dynamicRef` that leads to no `$dynamicAnchor`": (
        20,
        {"items": {"$dynamicRef": "#/$defs/a"}, "$defs": {"a": {"type": "string"}}},
        [1],
        False,
        False,
        True,
    ),
    "Ajv: `contains` beside `unevaluatedItems`": (
        20,
        {"contains": {"type": "number"}, "unevaluatedItems": False},
        [1, "a"],
        False,
        False,
        True,
    ),
    "Ajv: `contains` beside a tuple, and an empty array": (
        *(20, {"prefixItems": [{"type": "null"}], "contains": True}, [], False, False, True),
    ),
    "jsonschema: regular expressions": (20, {"pattern": "^\\d$"}, "\u0663", False, True, False),
    "jsonschema: `multipleOf` with fractions or large numbers": (
        *(19, {"multipleOf": 0.01}, 19.99, True, False, False),
    ),
    "jsonschema: `additionalProperties` beside `unevaluatedProperties`, 2019-09": (
        19,
        {"additionalProperties": {"type": "array"}, "unevaluatedProperties": False},
        {"a": []},
        True,
        False,
        True,
    ),
    "both: `contentMediaType`, `contentEncoding` in draft-07": (
        *(7, {"contentMediaType": "application/json"}, "{", False, True, True),
    ),
}


@pytest.fixture(scope="module")
def ajv() -> Iterator[Ajv]:
    started = Ajv()
    yield started
    started.close()


def test_all_agree_or_it_is_known_why_not(ajv: Ajv) -> None:
    comparison = Comparison(ajv)
    for seed in range(DOCUMENTS):
        comparison.compare(*make_case(seed, VALUES))
    assert [str(found) for found in comparison.found] == []
    assert comparison.judged == 2 * DOCUMENTS * VALUES
    assert comparison.agreed > 0.9 * comparison.judged


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_reason_is_true_of_its_example(ajv: Ajv, name: str) -> None:
    dialect, document, value, *said = EXAMPLES[name]
    document = {"$schema": DIALECTS[dialect], **document}
    asked = [ask(dialect, document, [value]) for ask in (ask_us, ask_jsonschema, ajv)]
    assert asked == [[verdict] for verdict in said]


def test_every_reason_has_an_example_and_its_line_on_the_page() -> None:
    assert {f"{reason.other}: {reason.what}" for reason in REASONS} == EXAMPLES.keys()
    page = PAGE.read_text()
    for each in REASONS:
        assert f"| {each.other} | {each.what} | {each.right} | {each.why} |" in page
