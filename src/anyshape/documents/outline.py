"""Every schema of one document, and what its references point at, whether it is valid or not.

What shapes, advises on or lowers a document asks here. Positions are places: tuples of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from anyshape.documents.library import Library, Spot, load
from anyshape.documents.pointers import MISSING, Place, reach, tokens_in
from anyshape.documents.positions import Node, dialect_in
from anyshape.errors import UnresolvableReference


class Outline:
    """A document with its schema positions found.

    `schemas` maps the place of every schema that is an object to what is known of it: the base
    that its references start from, and its dialect. Places that no keyword of the dialect makes a
    schema, such as `#/components/thing`, are among them if a reference leads there.
    """

    def __init__(self, root: Node) -> None:
        self.root = root
        self.dialect = dialect_in(root)
        self._library = Library({}, strict=False)
        load(root, self._library, self.dialect)
        self._library.resolve_all()
        self.schemas: dict[Place, Spot] = {}
        # By pointer, because many references may lead to one place, and the way to it be long.
        self._places: dict[str, Place] = {}
        self._dynamic: dict[str, list[Place]] = {}
        for spot in self._library.spots.values():
            if isinstance(spot.schema, dict):
                self.schemas[self._place(spot)] = spot
                name = spot.schema.get("$dynamicAnchor")
                if isinstance(name, str) and "$dynamicAnchor" in spot.dialect.anchors:
                    self._dynamic.setdefault(name, []).append(self._place(spot))

    def at(self, place: Place) -> object:
        """Return the value at a place, or `None` when there is none."""
        value = reach(self.root, place)
        return None if value is MISSING else value

    def schema_at(self, place: Place) -> Node:
        """Return the schema at one of the places in `schemas`."""
        return cast("Node", self.schemas[place].schema)

    def resolve(self, place: Place, reference: str, keyword: str = "$ref") -> Place | None:
        """Return the place that a reference written at `place` points at, `None` if it leaves."""
        try:
            return self._place(self._library.resolve(self.schemas[place], keyword, reference))
        except UnresolvableReference:
            return None

    def dynamic_anchors(self, name: str) -> Sequence[Place]:
        """Return the places that go by a dynamic anchor, in all resources of the document."""
        return self._dynamic.get(name, ())

    def _place(self, spot: Spot) -> Place:
        place = self._places.get(spot.pointer)
        if place is None:
            place = self._places[spot.pointer] = tokens_in(spot.pointer)
        return place
