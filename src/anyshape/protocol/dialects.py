"""Which keywords hold schemas, dialect by dialect.

Only those positions are schemas: the values of `const`, `enum`, `default` and `examples` are data,
and a property may be named `$ref`. See https://json-schema.org/specification-links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

__all__ = ["DATA", "Dialect", "Node", "Place", "dialect_of", "own_id", "subschemas"]

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

DATA: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, whatever they look like."""


def dialect_of(document: Node, inherited: Dialect = _2020_12) -> Dialect:
    """Return the dialect that `$schema` names, or the one inherited: 2020-12 at the root."""
    uri = document.get("$schema")
    if not isinstance(uri, str):
        return inherited
    return _DIALECTS.get(uri.partition("://")[2].rstrip("#"), inherited)


def own_id(node: Node, dialect: Dialect) -> str | None:
    """Return the id that makes a schema a resource of its own, or `None`."""
    id = node.get(dialect.id_keyword)
    if not isinstance(id, str) or id.rstrip("#") == "":
        return None
    if id.startswith("#") or (dialect.ref_hides_siblings and "$ref" in node):
        return None
    return id


def subschemas(node: dict[str, object], dialect: Dialect) -> Iterator[tuple[Place, object]]:
    """Yield the place, from here, and the value of each schema directly inside a schema."""
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
