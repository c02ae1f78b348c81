"""The subschemas directly inside a schema: the only places that may be taken for schemas.

The values of `const`, `enum`, `default` and `examples` are data, and a property may be named
`$ref`; so nobody looks for subschemas but here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from anyshape.documents.dialects import DEFAULT_DIALECT, Dialect, Form, find_dialect
from anyshape.documents.json import is_array, is_object
from anyshape.documents.pointers import Place

Node: TypeAlias = dict[str, Any]
"""A schema that is an object."""
Label: TypeAlias = str | int | None
"""Which of a keyword's subschemas: by name, by index, or the only one."""

DATA: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, whatever they look like."""

_ONES: Final = frozenset((Form.ONE, Form.ONE_OR_LIST))
_LISTS: Final = frozenset((Form.LIST, Form.ONE_OR_LIST))
_MAPS: Final = frozenset((Form.MAP, Form.MAP_OR_NAMES))


def subschemas(
    schema: Mapping[str, object], dialect: Dialect = DEFAULT_DIALECT
) -> Iterator[tuple[str, Label, dict[str, object] | bool]]:
    """Yield (keyword, label, subschema) for each schema directly inside a schema, in its order."""
    applicators = dialect.applicators
    if applicators.keys().isdisjoint(schema):
        return
    for keyword, value in schema.items():
        applicator = applicators.get(keyword)
        if applicator is None:
            continue
        form = applicator.form
        if form in _ONES and (isinstance(value, bool) or is_object(value)):
            yield keyword, None, value
        elif form in _LISTS and is_array(value):
            for index, item in enumerate(value):
                if isinstance(item, bool) or is_object(item):
                    yield keyword, index, item
        elif form in _MAPS and is_object(value):
            for name, item in value.items():
                if isinstance(item, bool) or is_object(item):
                    yield keyword, name, item


def nodes(schema: Node | bool) -> Iterator[Node]:
    """Yield a schema and every schema inside it, but for those that are booleans."""
    pending: list[Node | bool] = [schema]
    while pending:
        node = pending.pop()
        if not isinstance(node, bool):
            yield node
            pending += [inner for _, _, inner in subschemas(node)]


def branches(schema: Mapping[str, object], place: Place, keyword: str) -> list[Place]:
    """Return the places of the schemas that a keyword of the schema at `place` lists."""
    listed = schema.get(keyword)
    count = len(listed) if is_array(listed) else 0
    return [(*place, keyword, str(index)) for index in range(count)]


def declared_types(schema: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the names in `type`, which are one or several; `None` where it says nothing."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    if is_array(declared):
        return tuple(name for name in declared if isinstance(name, str))
    return None


def rebuild(
    schema: Mapping[str, Any], change: Callable[[Any], Any], dialect: Dialect = DEFAULT_DIALECT
) -> Node:
    """Return `schema` with `change` made to the subschemas directly inside it."""
    changed: Node = dict(schema)
    for keyword, label, inner in subschemas(schema, dialect):
        if label is None:
            changed[keyword] = change(inner)
            continue
        if changed[keyword] is schema[keyword]:
            changed[keyword] = schema[keyword].copy()
        changed[keyword][label] = change(inner)
    return changed


def dialect_in(document: Mapping[str, object], inherited: Dialect = DEFAULT_DIALECT) -> Dialect:
    """Return the dialect that `$schema` names, or the one inherited: 2020-12 at the root."""
    uri = document.get("$schema")
    found = find_dialect(uri) if isinstance(uri, str) else None
    return inherited if found is None else found


def own_id(schema: Mapping[str, object], dialect: Dialect) -> str | None:
    """Return the id that makes a schema a resource of its own, or `None`."""
    id = schema.get(dialect.id_keyword)
    if not isinstance(id, str) or id.rstrip("#") == "":
        return None
    return None if id.startswith("#") or dialect.hides_siblings_in(schema) else id
