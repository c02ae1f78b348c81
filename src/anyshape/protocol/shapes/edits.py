"""Changes to a document that share with the original whatever they do not touch."""

from __future__ import annotations

from copy import copy
from typing import Any

from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node


class Edits:
    """A document being changed: what lies on the way to a change is copied, all else is shared."""

    def __init__(self, root: Node) -> None:
        self._copies: dict[Place, Any] = {(): dict(root)}

    @property
    def root(self) -> Node:
        """The document as it is by now."""
        return self._copies[()]

    def at(self, place: Place) -> Any:
        """Return the copy of the object or array at a place, which may be changed."""
        copies = self._copies
        known = len(place)
        while place[:known] not in copies:
            known -= 1
        for length in range(known, len(place)):
            parent = copies[place[:length]]
            key = _key(parent, place[length])
            copies[place[: length + 1]] = parent[key] = copy(parent[key])
        return copies[place]


def _key(container: object, token: str) -> Any:
    return int(token) if isinstance(container, list) else token
