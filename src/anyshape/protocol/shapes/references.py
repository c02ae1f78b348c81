"""Where schemas sit inside a schema document, and what its references point at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import unquote, urljoin

from anyshape.protocol.dialects import (
    DATA,
    Dialect,
    Node,
    Place,
    dialect_of,
    own_id,
    subschemas,
)

__all__ = ["Document", "Scope", "pointer_tokens"]


def pointer_tokens(fragment: str) -> Place | None:
    """Return the tokens of a URI fragment that is a JSON Pointer, or `None` for a plain name."""
    pointer = unquote(fragment)
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        return None
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


class Scope(NamedTuple):
    """What is in force at a schema: the base its references start from, and the dialect."""

    base: str
    dialect: Dialect


_Pending: TypeAlias = tuple[Place, object, Scope]


@dataclass(slots=True)
class Document:
    """A schema document with its schema positions found.

    `schemas` maps the place of every schema object to its scope; `resources` maps every base URI
    to the place of its root. The walk also follows pointers to places that no keyword of the
    dialect makes a schema, such as `#/components/thing`, because being referred to makes them one.
    """

    root: Node
    dialect: Dialect = field(init=False)
    schemas: dict[Place, Scope] = field(init=False, default_factory=dict[Place, Scope])
    resources: dict[str, Place] = field(init=False, default_factory=dict[str, Place])
    anchors: dict[tuple[str, str], Place] = field(
        init=False, default_factory=dict[tuple[str, str], Place]
    )
    dynamic_anchors: dict[str, list[Place]] = field(
        init=False, default_factory=dict[str, list[Place]]
    )

    def __post_init__(self) -> None:
        """Find every schema position and name."""
        self.dialect = dialect_of(self.root)
        self.resources[""] = ()
        pending: list[_Pending] = [((), self.root, Scope("", self.dialect))]
        pointed: list[tuple[str, str]] = []
        while pending:
            while pending:
                place, value, scope = pending.pop()
                if place not in self.schemas and isinstance(value, dict):
                    self._add(place, cast("Node", value), scope, pending, pointed)
            while pointed and not pending:
                place = self.resolve(*pointed.pop())
                if place is not None and place not in self.schemas:
                    self._follow(place, pending)

    def _add(
        self,
        place: Place,
        node: Node,
        scope: Scope,
        pending: list[_Pending],
        pointed: list[tuple[str, str]],
    ) -> None:
        own = own_id(node, scope.dialect)
        if own is not None:
            scope = Scope(_join(scope.base, own).rstrip("#"), dialect_of(node, scope.dialect))
            self.resources.setdefault(scope.base, place)
        self.schemas[place] = scope
        self._name(place, node, scope)
        for keyword in ("$ref", "$dynamicRef"):
            reference = node.get(keyword)
            if isinstance(reference, str):
                pointed.append((reference, scope.base))
        for child, value in subschemas(node, scope.dialect):
            pending.append((place + child, value, scope))

    def _name(self, place: Place, node: Node, scope: Scope) -> None:
        if scope.dialect.reference_hides_siblings:
            id = node.get(scope.dialect.id_keyword)
            if isinstance(id, str) and id.startswith("#") and len(id) > 1:
                self.anchors.setdefault((scope.base, id[1:]), place)
            return
        anchor = node.get("$anchor")
        if isinstance(anchor, str):
            self.anchors.setdefault((scope.base, anchor), place)
        dynamic = node.get("$dynamicAnchor")
        if isinstance(dynamic, str):
            self.anchors.setdefault((scope.base, dynamic), place)
            self.dynamic_anchors.setdefault(dynamic, []).append(place)

    def _follow(self, place: Place, pending: list[_Pending]) -> None:
        """Take a place that only a reference makes a schema, unless it is data."""
        length = len(place) - 1
        while place[:length] not in self.schemas:
            length -= 1
        if place[length] not in DATA:
            pending.append((place, self.at(place), self.schemas[place[:length]]))

    def at(self, place: Place) -> object:
        """Return the value at a place, or `None` when there is none."""
        value: Any = self.root
        for token in place:
            value = _step(value, token)
        return value

    def resolve(self, reference: str, base: str) -> Place | None:
        """Return the place a reference points at from a base, or `None` when it leaves."""
        url, _, fragment = _join(base, reference).partition("#")
        resource = self.resources.get(url)
        if resource is None:
            return None
        tokens = pointer_tokens(fragment)
        if tokens is None:
            return self.anchors.get((url, unquote(fragment)))
        place = resource + tokens
        return place if self.at(place) is not None else None


def _step(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return cast("Node", value).get(token)
    if isinstance(value, list) and token.isdecimal():
        items = cast("list[Any]", value)
        return items[int(token)] if int(token) < len(items) else None
    return None


def _join(base: str, reference: str) -> str:
    if reference.startswith("#"):
        return base + reference  # urljoin loses bases that it cannot take apart, such as urn:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
