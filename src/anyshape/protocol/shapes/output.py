"""How a tool's output is carried at the revisions that know only objects.

Decided once per tool from its schema: whether values go as they are or in the envelope, and the
schema that is listed. Both come from the same decision, so what is listed is what is sent.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal, cast

from anyshape.protocol.dialects import Node, dialect_of
from anyshape.protocol.result import ABSENT, Absent
from anyshape.protocol.shapes.envelope import as_object, embed, envelop, root_is_referred_to
from anyshape.protocol.shapes.objects import Types, admits

__all__ = ["Carriage", "ShapeOptions", "carriage_of", "object_schema"]


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """What the author may choose about the wire.

    `mirror_objects`: whether objects too have a text mirror at revisions where any value is
    structured content (elsewhere, and for all other values, the mirror is always there).
    `nullable_objects`: how an object that may be null reaches 2025 clients: in the envelope
    (`"wrap"`), or as a plain object with null sent as no structured content (`"object"`).
    """

    mirror_objects: bool = True
    nullable_objects: Literal["wrap", "object"] = "wrap"


class Carriage(enum.Enum):
    """How a value travels where only objects are allowed."""

    AS_IT_IS = enum.auto()
    """The schema admits only objects."""
    ENVELOPE = enum.auto()
    """Always in the envelope."""
    OBJECT_OR_NOTHING = enum.auto()
    """Objects as they are, null as no structured content."""
    BY_VALUE = enum.auto()
    """No schema: objects as they are, anything else in the envelope."""


def carriage_of(schema: Node | bool | Absent, options: ShapeOptions) -> Carriage:
    """Return how the values of a schema travel."""
    if isinstance(schema, Absent):
        return Carriage.BY_VALUE
    if isinstance(schema, bool):
        return Carriage.ENVELOPE
    if schema.get("type") == "object" and not _is_void_beside_ref(schema):
        return Carriage.AS_IT_IS
    types = admits(schema)
    if types == Types.OBJECT:
        return Carriage.AS_IT_IS
    if types == Types.OBJECT | Types.NULL and options.nullable_objects == "object":
        return Carriage.OBJECT_OR_NOTHING
    return Carriage.ENVELOPE


def object_schema(schema: Node | bool | Absent, options: ShapeOptions) -> Node | Absent:
    """Return the schema as listed where `outputSchema` has to say `"type": "object"`."""
    if isinstance(schema, Absent):
        return ABSENT
    match carriage_of(schema, options):
        case Carriage.ENVELOPE:
            return envelop(schema)
        case Carriage.OBJECT_OR_NOTHING if root_is_referred_to(cast("Node", schema)):
            # The root itself must go on admitting null for those who refer to it.
            hoisted, inner = embed(cast("Node", schema), "#/allOf/0")
            return {**hoisted, "type": "object", "allOf": [inner]}
        case _:
            return _with_object_properties(_stamped(as_object(schema)))


def _is_void_beside_ref(schema: Node) -> bool:
    return "$ref" in schema and dialect_of(schema).ref_hides_siblings


def _stamped(schema: Node) -> Node:
    if schema.get("type") == "object":
        return schema
    if "type" in schema:
        return {**schema, "type": "object"}
    return {"type": "object", **schema}


def _with_object_properties(schema: Node) -> Node:
    """Return the schema with no boolean among its properties: 2025 clients expect objects there."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    entries = cast("dict[str, Node | bool]", properties)
    if not any(isinstance(entry, bool) for entry in entries.values()):
        return schema
    return {**schema, "properties": {name: as_object(entry) for name, entry in entries.items()}}
