"""Names that subschemas give themselves: each names one place, or the document is refused."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape.errors import InvalidSchema
from anyshape.schema import Limits, compile

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
    "two anchors of an older dialect": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"$id": "#m"}, "b": {"$id": "#m"}},
    },
}


@pytest.mark.parametrize("document", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_a_name_given_twice_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchema, match="is taken"):
        compile(document)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.com/a", "https://Example.com/a"),
        ("https://example.com/a", "HTTPS://example.com/a"),
        ("https://example.com/a", "https://example.com:443/a"),
        ("https://example.com/a", "https://example.com:/a"),
        ("https://example.com/a", "https://example.com/%61"),
        ("https://example.com/a", "https://ex%61mple.com/a"),
        ("https://example.com/a", "https://example.com/b/%2e%2E/a"),
        ("https://example.com/%7Ea?%62", "https://example.com/~a?b"),
        ("https://example.com/%c3%a9", "https://example.com/%C3%A9"),
        ("https://u%73er@[::1]:8080/a", "https://user@[0:0:0::1]:8080/a"),
        ("urn:a", "URN:a"),
    ],
)
def test_two_spellings_of_one_identifier_are_the_same(one: str, other: str) -> None:
    with pytest.raises(InvalidSchema, match="is taken"):
        compile({"$defs": {"a": {"$id": one}, "b": {"$id": other}}})
    schema = compile({"$defs": {"a": {"$id": one, "type": "integer"}}, "items": {"$ref": other}})
    assert schema.accepts([1])
    assert not schema.accepts(["x"])


BOMB: dict[str, Any] = {
    "$id": "https://example.com/bomb",
    "$ref": "#/$defs/0",
    "$defs": {
        **{f"{n}": {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(40)},
        "40": {"type": "integer"},
    },
}
COSTLY = {"allOf": [{"$ref": "https://example.com/bomb"}]}
OLD_BOMB: dict[str, Any] = {
    "allOf": [{"$ref": "#/definitions/0"}],
    "definitions": {
        **{f"{n}": {"allOf": [{"$ref": f"#/definitions/{n + 1}"}] * 2} for n in range(40)},
        "40": {"type": "integer"},
    },
}
DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
MISREAD: dict[str, dict[str, Any]] = {
    "an anchor that is escaped": {
        **DRAFT_7,
        "definitions": {
            "a": {"$id": "#ma"},
            "b": {"$id": "#m%61", **COSTLY},
            "c": {"$id": "https://example.com/bomb", **OLD_BOMB},
        },
        "items": {"$ref": "#m%61"},
    },
    "an anchor that looks like a pointer": {
        **DRAFT_7,
        "definitions": {
            "a": {},
            "b": {"$id": "#%2Fdefinitions%2Fa", **COSTLY},
            "c": {"$id": "https://example.com/bomb", **OLD_BOMB},
        },
        "items": {"$ref": "#%2Fdefinitions%2Fa"},
    },
    "an identifier under a keyword of another dialect": {
        **DRAFT_4,
        "definitions": {"a": {"id": "urn:a"}, "c": {"id": "https://example.com/bomb", **OLD_BOMB}},
        "if": {"id": "urn:a", **COSTLY},
        "items": {"$ref": "urn:a"},
    },
    "an identifier in what is a schema by reference alone": {
        "$id": "https://example.com/",
        "x": {"properties": {"y": {"$id": "https://example.com/z/", "items": {"$ref": "a"}}}},
        "$defs": {
            "a": {"$id": "https://example.com/z/a"},
            "b": {"$id": "https://example.com/a", **COSTLY},
            "c": BOMB,
        },
        "allOf": [{"$ref": "#/x/properties/y"}],
    },
}


@pytest.mark.parametrize("document", MISREAD.values(), ids=MISREAD.keys())
def test_where_the_engine_may_come_to_another_place_a_schema_is_confined(
    document: dict[str, Any],
) -> None:
    assert compile(document, limits=Limits(seconds=5)).cost.confined


def test_ordinary_identifiers_keep_a_schema_in_the_process() -> None:
    schema = compile(
        {
            "$id": "https://example.com/schemas/Order-1.0.json",
            "$defs": {
                "a": {"$anchor": "price", "type": "number"},
                "b": {"$id": "item.json", "properties": {"id": {"type": "string"}}},
                "List[int]": {"items": {"type": "integer"}},
            },
            "properties": {
                "a": {"$ref": "#price"},
                "b": {"$ref": "item.json#/properties/id"},
                "c": {"$ref": "#/$defs/List[int]"},
            },
            "examples": [{"id": "No. 5"}],
        }
    )
    assert not schema.cost.confined


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
