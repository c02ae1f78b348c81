"""Arguments without the nulls that their schema does not admit.

Some clients fill a form that has a place for every argument, and send null for those that nobody
named. Where the schema admits null, it is a value and stays. Where it provably does not, a call
with it could only be refused, so the argument is left out. Everything else stays as it came,
numbers as they were written.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from anyshape.documents.json import is_array, is_object
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node, branches
from anyshape.documents.types import TypeBounds, Types
from anyshape.errors import LimitExceeded
from anyshape.protocol.encoding import encode_data


def _as_written(number: str) -> msgspec.Raw:
    return msgspec.Raw(number.encode())


_decode: Final = msgspec.json.Decoder(float_hook=_as_written).decode

_LONGEST: Final = 256 * 1024
"""Bytes of arguments that are looked through; no model writes more to fill a form."""


class _Members(NamedTuple):
    """What holds of every object at one place of a schema."""

    never_null: frozenset[str]
    properties: dict[str, Place]


class NullDropper:
    """Leaves out the nulls that an input schema, folded, does not admit where they stand."""

    def __init__(self, schema: Node) -> None:
        self._members: dict[Place, _Members] = {}
        self._items: dict[Place, Place | None] = {}
        try:
            document = Outline(schema)
        except LimitExceeded:
            document = Outline({})  # Nothing is known of a schema too large to index.
        self._bounds = TypeBounds(document)

    def drop(self, arguments: bytes) -> bytes:
        """Return arguments, which are the JSON text of an object, without those nulls."""
        if len(arguments) > _LONGEST:
            return arguments
        try:
            # Read and written once, so that the work grows with the text, however it nests.
            value = _decode(arguments)
            return encode_data(value) if self._within(value, ()) else arguments
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return arguments  # What is wrong with them is for the tool to say.

    def _within(self, value: Any, place: Place) -> bool:
        """Drop nulls from a value, and return whether there were any."""
        if is_object(value):
            return self._within_object(value, place)
        if not is_array(value):
            return False
        if place not in self._items:
            self._items[place] = _items(self._bounds, place)
        items = self._items[place]
        # Not `any`, which would stop at the first.
        return items is not None and sum([self._within(item, items) for item in value]) > 0

    def _within_object(self, value: dict[str, Any], place: Place) -> bool:
        members = self._members.get(place)
        if members is None:
            members = self._members[place] = _gather_members(self._bounds, place)
        is_changed = False
        for name, inner in list(value.items()):
            if inner is None:
                if name in members.never_null:
                    del value[name]
                    is_changed = True
            elif name in members.properties:
                is_changed |= self._within(inner, members.properties[name])
        return is_changed


def _gather_members(bounds: TypeBounds, place: Place) -> _Members:
    never_null: set[str] = set()
    properties: dict[str, Place] = {}
    for at in _together(bounds, place, Types.OBJECT):
        named = bounds.document.schema_at(at).get("properties")
        for name in named if is_object(named) else ():
            there = (*at, "properties", name)
            properties.setdefault(name, there)
            if not bounds.at(there) & Types.NULL:
                never_null.add(name)
    return _Members(frozenset(never_null), properties)


def _items(bounds: TypeBounds, place: Place) -> Place | None:
    """Return the schema of all items of an array at a place, if there is one."""
    for at in _together(bounds, place, Types.ARRAY):
        node = bounds.document.schema_at(at)
        if is_object(node.get("items")) and "prefixItems" not in node:
            return (*at, "items")
    return None


def _together(bounds: TypeBounds, place: Place, kind: Types) -> list[Place]:
    """Return the schemas that every value of one kind at a place satisfies together.

    Of alternatives that is the one that admits such values, if there is only one: a model or null.
    """
    document = bounds.document
    found: list[Place] = []
    seen: set[Place] = set()
    waiting = [place]
    while waiting:
        at = waiting.pop()
        if at in seen or at not in document.schemas:
            continue
        seen.add(at)
        node = document.schema_at(at)
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = document.resolve(at, reference)
            waiting += [] if target is None else [target]
            if document.schemas[at].dialect.reference_hides_siblings:
                continue
        found.append(at)
        waiting += branches(node, at, "allOf")
        for keyword in ("anyOf", "oneOf"):
            possible = [each for each in branches(node, at, keyword) if bounds.at(each) & kind]
            waiting += possible if len(possible) == 1 else []
    return found
