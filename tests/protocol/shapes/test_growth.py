"""A stranger's schema that is twice as long takes twice the work to shape, however it is knotted.

Work is counted in calls of functions, which are as many on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from anyshape.documents.property_types import property_types
from anyshape.documents.types import admits
from anyshape.protocol.shapes.folding import fold_root
from anyshape.protocol.shapes.nulls import NullDropper

REFERENCE = {"$ref": "#/$defs/a"}


def knot(number: int) -> dict[str, Any]:
    """Return a definition with many alternatives."""
    return {"$defs": {"a": {"anyOf": [{"type": "object"}] * number}}}


def drop_null(schema: dict[str, Any]) -> None:
    assert NullDropper(schema).drop(b'{"p0":null}') == b"{}"


CASES: dict[str, tuple[Callable[[dict[str, Any]], object], Callable[[int], dict[str, Any]]]] = {
    "references to one definition": (fold_root, lambda n: {"anyOf": [REFERENCE] * n, **knot(n)}),
    "parts of one property each": (
        fold_root,
        lambda n: {"allOf": [{"properties": {f"p{i}": True}} for i in range(n)]},
    ),
    "arguments that may be null": (
        drop_null,
        lambda n: {"properties": {f"p{i}": REFERENCE for i in range(n)}, **knot(n)},
    ),
    "dynamic references": (
        admits,
        lambda n: {
            "anyOf": [{"$dynamicRef": "#a"}] * n,
            "$defs": {f"{i}": {"$id": f"{i}", "$dynamicAnchor": "a"} for i in range(n)},
        },
    ),
    "one property in many places": (
        lambda s: property_types(s, "p"),
        lambda n: {"allOf": [{"properties": {"p": REFERENCE}}] * n, **knot(n)},
    ),
}


def count_calls(act: Callable[[], object]) -> int:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", CASES)
def test_work_grows_no_faster_than_the_schema(name: str) -> None:
    shape, make = CASES[name]
    short, long = make(50), make(200)
    shape(make(1))  # what is set up once is no part of it
    assert count_calls(lambda: shape(long)) < 6 * count_calls(lambda: shape(short))
