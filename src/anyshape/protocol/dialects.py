"""Which keywords of a tool's schema hold schemas: the only places that shaping may look into.

The values of `const`, `enum`, `default` and `examples` are data, and a property may be named
`$ref`. See https://json-schema.org/specification-links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, cast

from anyshape.dialects import DEFAULT_DIALECT, Dialect, Form, find_dialect

__all__ = ["DATA", "Dialect", "Node", "Place", "dialect_of", "own_id", "subschemas"]

Node: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, ...]
"""The reference tokens that lead to a value in a document, unescaped."""

DATA: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, whatever they look like."""


def dialect_of(document: Node, inherited: Dialect = DEFAULT_DIALECT) -> Dialect:
    """Return the dialect that `$schema` names, or the one inherited: 2020-12 at the root."""
    uri = document.get("$schema")
    found = find_dialect(uri) if isinstance(uri, str) else None
    return inherited if found is None else found


def own_id(node: Node, dialect: Dialect) -> str | None:
    """Return the id that makes a schema a resource of its own, or `None`."""
    id = node.get(dialect.id_keyword)
    if not isinstance(id, str) or id.rstrip("#") == "":
        return None
    if id.startswith("#") or (dialect.reference_hides_siblings and "$ref" in node):
        return None
    return id


def subschemas(node: dict[str, object], dialect: Dialect) -> Iterator[tuple[Place, object]]:
    """Yield the place, from here, and the value of each schema directly inside a schema."""
    for keyword, value in node.items():
        applicator = dialect.applicators.get(keyword)
        if applicator is None:
            continue
        form = applicator.form
        if isinstance(value, dict):
            entries = cast("dict[str, object]", value)
            if form in (Form.ONE, Form.ONE_OR_LIST):
                yield (keyword,), entries
            elif form in (Form.MAP, Form.MAP_OR_NAMES):
                for name, entry in entries.items():
                    yield (keyword, name), entry
        elif isinstance(value, list) and form in (Form.LIST, Form.ONE_OR_LIST):
            for index, entry in enumerate(cast("list[object]", value)):
                yield (keyword, str(index)), entry
