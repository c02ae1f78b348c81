"""Which JSON types a schema can admit: proof that it admits only objects, or objects and null.

The answer is an upper bound: a type is left out only where no value of that type can satisfy the
schema. Every keyword narrows the bound by itself, so they intersect; the branches of `anyOf` and
`oneOf` widen it, so they unite. What the keywords say about the inside of a value is not looked at.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable
from typing import Final, cast

from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node, branches
from anyshape.errors import LimitExceeded


class Types(enum.Flag):
    """A set of JSON types."""

    NOTHING = 0
    OBJECT = enum.auto()
    NULL = enum.auto()
    ARRAY = enum.auto()
    BOOLEAN = enum.auto()
    STRING = enum.auto()
    NUMBER = enum.auto()
    ANYTHING = OBJECT | NULL | ARRAY | BOOLEAN | STRING | NUMBER


_BY_NAME: Final = {
    "object": Types.OBJECT,
    "null": Types.NULL,
    "array": Types.ARRAY,
    "boolean": Types.BOOLEAN,
    "string": Types.STRING,
    "number": Types.NUMBER,
    "integer": Types.NUMBER,
}

_EXCLUDABLE: Final = ["object", "null", "array", "boolean", "string", "number"]


def admits(schema: Node | bool) -> Types:
    """Return the JSON types that a schema document can admit."""
    if isinstance(schema, bool):
        return Types.ANYTHING if schema else Types.NOTHING
    try:
        return TypeBounds(Outline(schema)).at(())
    except LimitExceeded:
        return Types.ANYTHING


class TypeBounds:
    """The JSON types that the schemas of one document can admit, each worked out once."""

    def __init__(self, document: Outline) -> None:
        self.document = document
        self._known: dict[Place, Types] = {}
        self._by_anchor: dict[str, Types] = {}

    def at(self, place: Place) -> Types:
        """Return the types that the schema at a place can admit."""
        try:
            return self._at(place)
        except RecursionError:
            return Types.ANYTHING

    def _at(self, place: Place) -> Types:
        if place not in self.document.schemas:
            return Types.NOTHING if self.document.at(place) is False else Types.ANYTHING
        known = self._known.get(place)
        if known is None:
            # A schema that leads back to itself in place proves nothing about itself.
            self._known[place] = Types.ANYTHING
            known = self._known[place] = self._bound(place, self.document.schema_at(place))
        return known

    def _bound(self, place: Place, node: Node) -> Types:
        dialect = self.document.schemas[place].dialect
        reference = node.get("$ref")
        if isinstance(reference, str):
            types = self._referred(place, reference)
            if dialect.reference_hides_siblings:
                return types
        else:
            types = Types.ANYTHING
        types &= _declared(node.get("type"))
        if "const" in node and "const" not in dialect.lacks:
            types &= _type_of(node["const"])
        enumerated = node.get("enum")
        if isinstance(enumerated, list):
            types &= _union(_type_of(value) for value in cast("list[object]", enumerated))
        dynamic = node.get("$dynamicRef")
        if isinstance(dynamic, str) and "$dynamicRef" in dialect.references:
            types &= self._dynamically_referred(place, dynamic)
        for branch in branches(node, place, "allOf"):
            types &= self._at(branch)
        for keyword in ("anyOf", "oneOf"):
            if places := branches(node, place, keyword):
                types &= _union(map(self._at, places))
        if "if" in node and "if" in dialect.applicators:
            types &= self._conditional(place, node)
        return types & ~_excluded(node.get("not"))

    def _conditional(self, place: Place, node: Node) -> Types:
        passed = self._at((*place, "if"))
        if "then" in node:
            passed &= self._at((*place, "then"))
        failed = self._at((*place, "else")) if "else" in node else Types.ANYTHING
        return passed | failed

    def _referred(self, place: Place, reference: str) -> Types:
        target = self.document.resolve(place, reference)
        return Types.ANYTHING if target is None else self._at(target)

    def _dynamically_referred(self, place: Place, reference: str) -> Types:
        # The caller's scope picks one of the anchors of that name, so all of them must agree.
        name = reference.rpartition("#")[2]
        targets = self.document.dynamic_anchors(name)
        if targets and name not in self._by_anchor:
            self._by_anchor[name] = Types.ANYTHING
            self._by_anchor[name] = _union(self._at(target) for target in targets)
        return self._referred(place, reference) | self._by_anchor.get(name, Types.NOTHING)


def _declared(declared: object) -> Types:
    if isinstance(declared, str):
        return _BY_NAME.get(declared, Types.ANYTHING)
    if isinstance(declared, list):
        names = cast("list[object]", declared)
        return _union(_BY_NAME.get(str(name), Types.ANYTHING) for name in names)
    return Types.ANYTHING


def _excluded(schema: object) -> Types:
    """Return the types that `not` rules out as a whole: only where it speaks of type alone."""
    if schema is True or schema == {}:
        return Types.ANYTHING
    if isinstance(schema, dict) and cast("Node", schema).keys() == {"type"}:
        declared = cast("Node", schema)["type"]
        names = cast("list[object]", declared) if isinstance(declared, list) else [declared]
        # Without "integer": ruling out integers leaves the other numbers.
        return _declared([name for name in names if name in _EXCLUDABLE])
    return Types.NOTHING


def _type_of(value: object) -> Types:
    if value is None:
        return Types.NULL
    if isinstance(value, bool):
        return Types.BOOLEAN
    if isinstance(value, dict):
        return Types.OBJECT
    if isinstance(value, list):
        return Types.ARRAY
    return Types.STRING if isinstance(value, str) else Types.NUMBER


def _union(parts: Iterable[Types]) -> Types:
    return functools.reduce(Types.__or__, parts, Types.NOTHING)
