"""Where schemas sit inside a schema document, and what its references point at.

Only schema positions count: the values of `const`, `enum`, `default` and `examples` are data, and
a property may be named `$ref`. Which keywords hold schemas differs from dialect to dialect
(https://json-schema.org/specification-links).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, cast
from urllib.parse import unquote, urldefrag, urljoin

__all__ = [
    "Dialect",
    "Document",
    "Node",
    "Place",
    "Scope",
    "dialect_of",
    "own_id",
    "pointer_tokens",
]

Node: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, ...]
"""The reference tokens that lead to a value in a document, unescaped."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the keywords of one JSON Schema dialect hold."""

    name: str
    keywords: frozenset[str]
    """Keywords that bear on the type of a value and that not every dialect knows."""
    one: frozenset[str]
    """Keywords that hold one schema."""
    many: frozenset[str]
    """Keywords that hold an array of schemas."""
    named: frozenset[str]
    """Keywords that hold schemas by name."""
    id_keyword: str = "$id"
    ref_hides_siblings: bool = False
    """Whether a `$ref` makes everything beside it void, `$id` included."""
    id_may_anchor: bool = False
    """Whether an id that is only a fragment names a place, as `$anchor` does later."""


_ONE = frozenset({"not", "additionalProperties"})
_MANY = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED = frozenset({"properties", "patternProperties", "definitions", "dependencies"})

_DRAFT_4 = Dialect(
    name="draft-04",
    keywords=frozenset(),
    one=_ONE | {"items", "additionalItems"},
    many=_MANY | {"items"},
    named=_NAMED,
    id_keyword="id",
    ref_hides_siblings=True,
    id_may_anchor=True,
)
_DRAFT_6 = Dialect(
    name="draft-06",
    keywords=frozenset({"const"}),
    one=_DRAFT_4.one | {"contains", "propertyNames"},
    many=_DRAFT_4.many,
    named=_NAMED,
    ref_hides_siblings=True,
    id_may_anchor=True,
)
_DRAFT_7 = Dialect(
    name="draft-07",
    keywords=frozenset({"const", "if"}),
    one=_DRAFT_6.one | {"if", "then", "else"},
    many=_DRAFT_4.many,
    named=_NAMED,
    ref_hides_siblings=True,
    id_may_anchor=True,
)
_2019_09 = Dialect(
    name="2019-09",
    keywords=frozenset({"const", "if", "$recursiveRef"}),
    one=_DRAFT_7.one | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"},
    many=_DRAFT_7.many,
    named=_NAMED | {"$defs", "dependentSchemas"},
)
_2020_12 = Dialect(
    name="2020-12",
    keywords=frozenset({"const", "if", "$dynamicRef"}),
    one=_2019_09.one - {"additionalItems"},
    many=_MANY | {"prefixItems"},
    named=_2019_09.named,
)

_DIALECTS: Final = {
    "json-schema.org/draft-04/schema": _DRAFT_4,
    "json-schema.org/draft-06/schema": _DRAFT_6,
    "json-schema.org/draft-07/schema": _DRAFT_7,
    "json-schema.org/draft/2019-09/schema": _2019_09,
    "json-schema.org/draft/2020-12/schema": _2020_12,
}

_DATA: Final = frozenset({"const", "enum", "default", "examples"})


def dialect_of(document: Node, inherited: Dialect = _2020_12) -> Dialect:
    """Return the dialect that `$schema` names, or the one inherited: 2020-12 at the root."""
    uri = document.get("$schema")
    if not isinstance(uri, str):
        return inherited
    return _DIALECTS.get(uri.partition("://")[2].rstrip("#"), inherited)


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
        for child, value in _subschemas(node, scope.dialect):
            pending.append((place + child, value, scope))

    def _name(self, place: Place, node: Node, scope: Scope) -> None:
        if scope.dialect.id_may_anchor:
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
        if place[length] not in _DATA:
            pending.append((place, self.at(place), self.schemas[place[:length]]))

    def at(self, place: Place) -> object:
        """Return the value at a place, or `None` when there is none."""
        value: Any = self.root
        for token in place:
            value = _step(value, token)
        return value

    def resolve(self, reference: str, base: str) -> Place | None:
        """Return the place a reference points at from a base, or `None` when it leaves."""
        url, fragment = urldefrag(_join(base, reference))
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


def own_id(node: Node, dialect: Dialect) -> str | None:
    """Return the id that makes a schema a resource of its own, or `None`."""
    id = node.get(dialect.id_keyword)
    if not isinstance(id, str) or id.rstrip("#") == "":
        return None
    if id.startswith("#") or (dialect.ref_hides_siblings and "$ref" in node):
        return None
    return id


def _subschemas(node: dict[str, object], dialect: Dialect) -> Iterator[tuple[Place, object]]:
    for keyword, value in node.items():
        if isinstance(value, dict):
            entries = cast("dict[str, object]", value)
            if keyword in dialect.one:
                yield (keyword,), entries
            elif keyword in dialect.named:
                for name, entry in entries.items():
                    yield (keyword, name), entry
        elif isinstance(value, list) and keyword in dialect.many:
            for index, entry in enumerate(cast("list[object]", value)):
                yield (keyword, str(index)), entry


def _join(base: str, reference: str) -> str:
    if reference.startswith("#"):
        return base + reference  # urljoin loses bases that it cannot take apart, such as urn:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
