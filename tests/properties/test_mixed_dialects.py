"""`$recursiveRef` of 2019-09 and `$dynamicRef` of 2020-12 in one document: right, or refused.

Compared with a reading of both specifications to the letter (mixed.py), with resources embedded in
the document and supplied beside it.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from documents import DIALECTS
from mixed import Unresolvable, judge, make_mixed, make_value
from trees import Json, Members

from anyshape.errors import InvalidSchema, UnresolvableReference
from anyshape.schema import compile

DOCUMENTS = 150
VALUES = 12
OLD, NEW = DIALECTS[19], DIALECTS[20]


def supplied(document: Members) -> tuple[Members, dict[str, Any]]:
    """Return the outermost resource, and what `compile` is to know of the others."""
    root = {key: value for key, value in document.items() if key != "$defs"}
    return root, {each["$id"]: each for each in document["$defs"].values()}


@pytest.mark.parametrize("apart", [False, True], ids=["embedded", "supplied"])
def test_a_verdict_is_what_both_specifications_say(apart: bool) -> None:
    seen: Counter[str] = Counter()
    for seed in range(DOCUMENTS):
        random = Random(seed)
        document = make_mixed(random)
        root, resources = supplied(document) if apart else (document, {})
        try:
            schema = compile(root, resources=resources)
        except UnresolvableReference:
            seen["names nothing"] += 1
            continue
        except InvalidSchema as refusal:
            seen[next(reason for reason in REFUSED if reason in str(refusal))] += 1
            continue
        for value in [make_value(random) for _ in range(VALUES)]:
            try:
                expected = judge(document, value)
            except Unresolvable:
                continue
            assert schema.accepts(value) is expected, (document, value)
            seen["accepted" if expected else "not accepted"] += 1
    assert min(seen["accepted"], seen["not accepted"]) > DOCUMENTS
    assert apart is (REFUSED[1] not in seen)  # Supplied by itself a resource is held to its own.


REFUSED = ("by way of a resource without $recursiveAnchor", "supply it by itself")
"""Why documents are refused that the specification gives a meaning."""


def chain(between: Members) -> Members:
    """Return three resources: the first and the last have `$recursiveAnchor`."""
    inner = {"$schema": OLD, "$id": "urn:c", "$recursiveAnchor": True}
    return {
        "$schema": OLD,
        "$id": "urn:a",
        "$recursiveAnchor": True,
        "required": ["k"],
        "properties": {"b": {"$ref": "urn:b"}},
        "$defs": {
            "b": {"$id": "urn:b", "properties": {"c": {"$ref": "urn:c"}}, **between},
            "c": {**inner, "properties": {"a": {"$recursiveRef": "#"}}},
        },
    }


@pytest.mark.parametrize(
    "between", [{"$schema": OLD}, {"$schema": OLD, "$recursiveAnchor": False}, {"$schema": NEW}]
)
def test_a_recursive_reference_is_refused_where_the_engine_would_stop_too_soon(
    between: Json,
) -> None:
    with pytest.raises(InvalidSchema, match=r"without \$recursiveAnchor") as raised:
        compile(chain(between))
    assert raised.value.path == "/$defs/c/properties/a/$recursiveRef"


def test_a_recursive_reference_leads_to_the_outermost_resource() -> None:
    schema = compile(chain({"$schema": OLD, "$recursiveAnchor": True}))
    assert schema.accepts({"k": 1, "b": {"c": {"a": {"k": 1}}}})
    assert not schema.accepts({"k": 1, "b": {"c": {"a": {}}}})


def test_a_resource_that_the_outer_dialect_cannot_hold_is_refused_with_the_way_out() -> None:
    inner = {"$schema": OLD, "$id": "urn:b", "$recursiveAnchor": True, "type": "object"}
    outer = {"$schema": NEW, "$id": "urn:a", "properties": {"b": {"$ref": "urn:b"}}}
    with pytest.raises(InvalidSchema, match="is in 2019-09, and 2020-12, in which it is embedded"):
        compile({**outer, "$defs": {"b": inner}})
    schema = compile(outer, resources={"urn:b": inner})
    assert [schema.accepts({"b": value}) for value in ({"x": 1}, 1)] == [True, False]
