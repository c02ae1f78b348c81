"""Names that subschemas give themselves: each names one place, or the document is refused."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape.errors import InvalidSchema
from anyshape.schema import compile

# On some of these the engine itself ends in a panic, which no `except Exception` catches.
AMBIGUOUS: dict[str, dict[str, Any]] = {
    "two resources": {
        "$defs": {
            "a": {"$id": "https://example.com/x"},
            "b": {
                "$id": "https://example.com/x",
                "$defs": {"c": {"$anchor": "m"}},
                "properties": {"p": {"$ref": "x#m"}},
            },
        }
    },
    "a resource with the name of the document": {
        "$id": "https://example.com/x",
        "$defs": {"a": {"$id": "y", "$defs": {"b": {"$id": "https://example.com/x"}}}},
    },
    "relative names": {
        "properties": {"a": {"$id": "x"}},
        "anyOf": [{"$defs": {"b": {"$id": "x", "$dynamicAnchor": "m"}}}, {"$ref": "x#m"}],
    },
    "two anchors": {"$defs": {"a": {"$anchor": "m"}, "b": {"$anchor": "m"}}},
    "an anchor and a dynamic one": {"$defs": {"a": {"$anchor": "m"}, "b": {"$dynamicAnchor": "m"}}},
}


@pytest.mark.parametrize("document", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_a_name_given_twice_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchema, match="is taken"):
        compile(document)


def test_two_resources_may_have_the_same_anchor() -> None:
    schema = compile(
        {
            "$defs": {
                "a": {"$id": "a", "$anchor": "m", "type": "integer"},
                "b": {"$id": "b", "$anchor": "m", "type": "string"},
            },
            "properties": {"a": {"$ref": "a#m"}, "b": {"$ref": "b#m"}},
        }
    )
    assert schema.accepts({"a": 1, "b": "x"})
    assert not schema.accepts({"a": "x"})
    assert not schema.accepts({"b": 1})


def test_a_recursive_anchor_below_the_root_of_a_resource_means_nothing() -> None:
    schema = compile(
        {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "type": "array",
            "items": {"$recursiveRef": "#"},
            "$defs": {"a": {"$recursiveAnchor": True}},
        }
    )
    value: list[list[int]] = [[]]
    assert schema.accepts(value)
    assert [problem.path for problem in schema.problems([[1]])] == ["/0/0"]


def test_a_recursive_reference_to_itself_is_refused_whatever_anchors_there_are() -> None:
    with pytest.raises(InvalidSchema, match="without end"):
        compile(
            {
                "$schema": "https://json-schema.org/draft/2019-09/schema",
                "$recursiveRef": "#",
                "$defs": {"a": {"$recursiveAnchor": True}},
            }
        )
