"""`true` and `false` written as objects, for clients that take no other schemas.

The schemas of 2025 say that `properties` holds objects, and the TypeScript SDK 1 refuses a whole
listing over a boolean there; converters for models look for objects everywhere else, too. A boolean
stays where even draft-04 has one, and in what succeeded those keywords: there `false` is the usual
way to close an object or an array, and what hosts look for.
"""

from __future__ import annotations

from typing import Final

from anyshape.documents.outline import Outline
from anyshape.documents.positions import Node, dialect_in, subschemas
from anyshape.protocol.shapes.edits import Edits

_CLOSING: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"}
)


def as_object_schema(schema: Node | bool) -> Node:
    """Return a schema in object form."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    return schema


def without_booleans(schema: Node) -> Node:
    """Return a schema with the same meaning whose subschemas are objects; itself if they are."""
    if not _holds_boolean(schema):
        return schema
    document = Outline(schema)
    edits = Edits(schema)
    for place, spot in document.schemas.items():
        for keyword, label, inner in subschemas(document.schema_at(place), spot.dialect):
            if isinstance(inner, bool) and keyword not in _CLOSING:
                holder = edits.at(place if label is None else (*place, keyword))
                holder[keyword if label is None else label] = as_object_schema(inner)
    return edits.root


def _holds_boolean(schema: Node) -> bool:
    """Return whether a boolean is to be written otherwise; few documents have one."""
    waiting = [(schema, dialect_in(schema))]
    while waiting:
        node, dialect = waiting.pop()
        for keyword, _, inner in subschemas(node, dialect):
            if isinstance(inner, dict):
                waiting.append((inner, dialect_in(inner, dialect)))
            elif keyword not in _CLOSING:
                return True
    return False
