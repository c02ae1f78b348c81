"""Arguments that a schema requires and gives a default for, so that servers take them missing.

Many generators list every parameter as required. JSON Schema takes that at its word: a default is
an annotation, and what is required has to be there.
"""

from __future__ import annotations

from typing import cast

from anyshape.client.tools import compile_listed
from anyshape.documents.outline import Outline
from anyshape.documents.positions import Node
from anyshape.protocol.shapes.edits import Edits
from anyshape.schema import Schema


def without_defaulted(schema: Schema) -> Schema:
    """Return an input schema that does not require the properties for which it has a default."""
    document = cast("Node", schema.document)
    places, edits = Outline(document), Edits(document)
    for place in places.schemas:
        node = places.schema_at(place)
        required: object = node.get("required")
        if not isinstance(required, list):
            continue
        names = cast("list[object]", required)
        kept = [name for name in names if not _has_default(node.get("properties"), name)]
        if len(kept) != len(names):
            relaxed = edits.at(place)
            del relaxed["required"]
            if kept:
                relaxed["required"] = kept
    return compile_listed(edits.root, "input", schema.limits)


def _has_default(properties: object, name: object) -> bool:
    if not isinstance(properties, dict):
        return False
    declared: object = cast("dict[object, object]", properties).get(name)
    return isinstance(declared, dict) and "default" in declared
