"""Laws of the folded root: it is plain, and it admits every object that the original admits.

And of nulls that count as absent: arguments that the schema admits keep all of theirs.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import hypothesis.strategies as st
import jsonschema_rs
from hypothesis import given, settings
from test_shape_laws import PROBES, documents, values

from anyshape.protocol.shapes.folding import fold_root, name_properties
from anyshape.protocol.shapes.nulls import NullDropper

OBJECTS: list[Any] = [probe for probe in PROBES if isinstance(probe, dict)]
NAMES = ["a", "b", "mark"]

PLAIN: st.SearchStrategy[Any] = st.sampled_from(
    [
        {},
        {"type": "string"},
        {"enum": [1]},
        {"const": "x"},
        {"items": {"$ref": "#/properties/mark"}},
    ]
)
leaves: st.SearchStrategy[Any] = st.sampled_from(
    [
        True,
        {},
        {"type": "string"},
        {"const": 1},
        {"const": True},
        {"enum": ["x", None]},
        False,
        {"items": {"$ref": "#/properties/mark"}},
        {"items": {"$ref": "#/$defs/A"}},
    ]
)
parts: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(st.sampled_from(NAMES), leaves, max_size=3),
        "required": st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
        "additionalProperties": st.sampled_from([False, True, {"type": "integer"}]),
        "patternProperties": st.just({"^m": {"type": "integer"}}),
        "type": st.sampled_from(["object", "string", ["object", "null"]]),
        "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B"]),
    },
)


def composed(part: dict[str, Any], keyword: str, branches: list[Any]) -> Any:
    return {**part, keyword: branches}


branches: st.SearchStrategy[Any] = st.recursive(
    st.one_of(parts, st.booleans()),
    lambda inner: st.builds(
        composed,
        parts,
        st.sampled_from(["allOf", "anyOf", "oneOf"]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


@st.composite
def compositions(draw: st.DrawFn) -> dict[str, Any]:
    """Objects of plain properties in every arrangement of branches, where collisions are likely."""
    schema: dict[str, Any] = {**draw(parts), "type": "object", "$defs": draw(
        st.fixed_dictionaries({"A": parts.filter(lambda part: "$ref" not in part), "B": parts})
    )}  # fmt: skip
    schema["properties"] = {"mark": draw(leaves), **schema.get("properties", {})}
    if schema["$defs"]["B"].get("$ref") == "#/$defs/B":
        del schema["$defs"]["B"]["$ref"]
    keywords = draw(st.sets(st.sampled_from(["allOf", "anyOf", "oneOf"]), min_size=1))
    for keyword in sorted(keywords):
        schema[keyword] = draw(st.lists(branches, min_size=1, max_size=3))
    if draw(st.booleans()):
        schema["unevaluatedProperties"] = False
    return schema


@st.composite
def rooted(draw: st.DrawFn) -> dict[str, Any]:
    """Documents of every dialect, with references of every kind, and a composition at the root."""
    document = draw(documents())
    keyword = draw(st.sampled_from(["allOf", "anyOf", "oneOf"]))
    pointers = st.sampled_from(["#/properties/mark", "#/components/x%20y"])
    branch: dict[str, Any] = {"$ref": draw(pointers)}
    others = st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from(NAMES), PLAIN, min_size=1)},
        optional={"required": st.just(["a"]), "additionalProperties": st.just(value=False)},
    )
    return {**document, "type": "object", keyword: [branch, *draw(st.lists(others, max_size=2))]}


def check(schema: dict[str, Any], value: Any) -> None:
    before = deepcopy(schema)
    folded = fold_root(schema)
    assert schema == before
    assert folded["type"] == "object"
    assert folded.keys().isdisjoint(("$ref", "allOf", "anyOf", "oneOf"))
    assert fold_root(folded) is folded
    original = jsonschema_rs.validator_for(schema)
    wider = jsonschema_rs.validator_for(folded)
    named = name_properties(schema)
    assert named.get("properties", {}).keys() >= folded["properties"].keys()
    extended = jsonschema_rs.validator_for(named)
    for probe in (value, *OBJECTS):
        if isinstance(probe, dict) and original.is_valid(probe):
            assert wider.is_valid(probe), (probe, folded)
            assert extended.is_valid(probe), (probe, named)


@settings(max_examples=400)
@given(schema=compositions(), value=values)
def test_what_a_composition_admits_its_folded_form_admits(
    schema: dict[str, Any], value: Any
) -> None:
    check(schema, value)


@settings(max_examples=150)
@given(schema=rooted(), value=values)
def test_references_in_a_folded_schema_never_narrow_it(schema: dict[str, Any], value: Any) -> None:
    check(schema, value)


nulls: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, 1, "x"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
FORMS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([{}, False, {"type": "null"}, {"type": "string"}, {"enum": [1, None]}]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "null"]]),
            "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "$ref": st.sampled_from(["#", "#/$defs/A"]),
        },
    ),
    max_leaves=12,
)


@settings(max_examples=600)
@given(root=FORMS, definition=FORMS, value=st.dictionaries(st.sampled_from(NAMES), nulls))
def test_what_a_schema_admits_keeps_its_nulls(
    root: Any, definition: Any, value: dict[str, Any]
) -> None:
    schema = {"allOf": [root], "type": "object", "$defs": {"A": definition}}
    if jsonschema_rs.validator_for(schema).is_valid(value):
        text = json.dumps(value).encode()
        assert NullDropper(fold_root(schema)).drop(text) == text
