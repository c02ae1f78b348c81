"""Which JSON types one property of an object can have, wherever in the schema that is said."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final

from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node, branches
from anyshape.documents.types import TypeBounds, Types

_BRANCHES: Final = ("then", "else")


def property_types(schema: Node, name: str) -> Types | None:
    """Return the types that a property can have; `None` if the schema does not speak of it.

    Alternatives unite, and everything that holds at once narrows, as it does for a whole value.
    """
    document = Outline(schema)
    return _Search(document, name).at(())


class _Search:
    def __init__(self, document: Outline, name: str) -> None:
        self._document = document
        self._bounds = TypeBounds(document)
        self._name = name
        self._known: dict[Place, Types | None] = {}

    def at(self, place: Place) -> Types | None:
        if place in self._known:
            return self._known[place]
        # A schema that leads back to itself in place says nothing more the second time.
        self._known[place] = None
        if place in self._document.schemas:
            self._known[place] = self._said(place, self._document.schema_at(place))
        return self._known[place]

    def _said(self, place: Place, node: Node) -> Types | None:
        said: list[Types | None] = []
        properties = node.get("properties")
        if isinstance(properties, dict) and self._name in properties:
            said.append(self._bounds.at((*place, "properties", self._name)))
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = self._document.resolve(place, reference)
            if target is not None:
                said.append(self.at(target))
        said += map(self.at, branches(node, place, "allOf"))
        for keyword in ("anyOf", "oneOf"):
            said.append(_either(map(self.at, branches(node, place, keyword))))
        if "if" in node:
            said.append(_either(self.at((*place, keyword)) for keyword in _BRANCHES))
        return _all(said)


def _either(found: Iterable[Types | None]) -> Types | None:
    known = [types for types in found if types is not None]
    return functools.reduce(Types.__or__, known) if known else None


def _all(found: list[Types | None]) -> Types | None:
    known = [types for types in found if types is not None]
    return functools.reduce(Types.__and__, known) if known else None
