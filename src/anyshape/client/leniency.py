"""Arguments that a schema requires and gives a default for, so that servers take them missing.

Many generators list every parameter as required. JSON Schema takes that at its word: a default is
an annotation, and what is required has to be there.
"""

from __future__ import annotations

from copy import copy
from typing import Any, cast

from anyshape.client.tools import compile_listed
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node
from anyshape.schema import Schema

__all__ = ["without_defaulted"]


def without_defaulted(schema: Schema) -> Schema:
    """Return an input schema that does not require the properties for which it has a default."""
    root = dict(cast("Node", schema.document))
    places = Outline(root)
    for place in list(places.schemas):
        node = places.schema_at(place)
        required: object = node.get("required")
        if not isinstance(required, list):
            continue
        names = cast("list[object]", required)
        kept = [name for name in names if not _has_default(node.get("properties"), name)]
        if len(kept) != len(names):
            relaxed = _copy_to(root, place)
            del relaxed["required"]
            if kept:
                relaxed["required"] = kept
    return compile_listed(root, "input", schema.limits)


def _has_default(properties: object, name: object) -> bool:
    if not isinstance(properties, dict):
        return False
    declared: object = cast("dict[object, object]", properties).get(name)
    return isinstance(declared, dict) and "default" in declared


def _copy_to(root: Node, place: Place) -> Node:
    """Return the schema at a place of a document, copied with everything that leads to it."""
    holder: Any = root
    for token in place:
        is_array = isinstance(cast("object", holder), list)
        key: Any = int(token) if is_array else token
        holder[key] = copy(holder[key])
        holder = holder[key]
    return holder
