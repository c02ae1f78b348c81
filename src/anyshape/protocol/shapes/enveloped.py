"""2025-06-18 and 2025-11-25: an object goes as it is, anything else in the envelope.

Decided once per tool from its schema: whether values go as they are or in the envelope, and the
schema that is listed. Both come from the same decision, so what is listed is what is sent.
"""

from __future__ import annotations

import enum
from typing import Final, cast

from anyshape.documents.positions import Node, dialect_in
from anyshape.documents.types import Types, admits
from anyshape.protocol.clients import Need, Needs
from anyshape.protocol.result import ABSENT, Absent
from anyshape.protocol.shapes.booleans import as_object_schema, without_booleans
from anyshape.protocol.shapes.envelope import (
    ENVELOPE_KEY,
    MARKER,
    embed,
    envelop,
    root_is_referred_to,
)
from anyshape.protocol.shapes.family import Carrier, Family, OutputSchema, ShapeOptions

_ENVELOPE_START: Final = f',"structuredContent":{{"{ENVELOPE_KEY}":'.encode()


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


def carriage_of(schema: OutputSchema, options: ShapeOptions) -> Carriage:
    """Return how the values of a schema travel."""
    if isinstance(schema, Absent):
        return Carriage.BY_VALUE
    if isinstance(schema, bool):
        return Carriage.ENVELOPE
    if schema.get("type") == "object" and not dialect_in(schema).hides_siblings_in(schema):
        return Carriage.AS_IT_IS
    types = admits(schema)
    if types == Types.OBJECT:
        return Carriage.AS_IT_IS
    if types == Types.OBJECT | Types.NULL and options.nullable_objects == "object":
        return Carriage.OBJECT_OR_NOTHING
    return Carriage.ENVELOPE


def _output_schema(schema: OutputSchema, options: ShapeOptions, needs: Needs) -> Node | Absent:
    """Return the schema as listed where `outputSchema` has to say `"type": "object"`."""
    if isinstance(schema, Absent):
        return ABSENT
    listed = without_booleans(_stated(schema, options))
    is_marked = Need.MARKED_ENVELOPE in needs and carriage_of(schema, options) is Carriage.ENVELOPE
    return {**listed, MARKER: True} if is_marked else listed


def _stated(schema: Node | bool, options: ShapeOptions) -> Node:
    match carriage_of(schema, options):
        case Carriage.ENVELOPE:
            return envelop(schema)
        case Carriage.OBJECT_OR_NOTHING if root_is_referred_to(cast("Node", schema)):
            # The root itself must go on admitting null for those who refer to it.
            hoisted, inner = embed(cast("Node", schema), "#/allOf/0")
            return {**hoisted, "type": "object", "allOf": [inner]}
        case _:
            return _stamped(as_object_schema(schema))


def _stamped(schema: Node) -> Node:
    if schema.get("type") == "object":
        return schema
    if "type" in schema:
        return {**schema, "type": "object"}
    leading = {"$schema": schema["$schema"]} if "$schema" in schema else {}
    return {**leading, "type": "object", **schema}


def _carrier(schema: OutputSchema, options: ShapeOptions) -> Carrier:
    return _CARRIERS[carriage_of(schema, options)]


def _carry_object(structured: bytes, _is_error: bool) -> bytes:
    # Anything but an object can only be null, or belong to an error, which no schema covers.
    return b',"structuredContent":' + structured if structured[:1] == b"{" else b""


def _carry_in_envelope(structured: bytes, is_error: bool) -> bytes:
    if is_error:
        return _carry_object(structured, is_error)
    return _ENVELOPE_START + structured + b"}"


def _carry_by_value(structured: bytes, is_error: bool) -> bytes:
    if structured[:1] == b"{":
        return _carry_object(structured, is_error)
    return _carry_in_envelope(structured, is_error)


_CARRIERS: Final = {
    Carriage.AS_IT_IS: _carry_object,
    Carriage.ENVELOPE: _carry_in_envelope,
    Carriage.OBJECT_OR_NOTHING: _carry_object,
    Carriage.BY_VALUE: _carry_by_value,
}

ENVELOPED = Family(
    _output_schema,
    _carrier,
    listing_needs=frozenset(
        {Need.DESCRIPTION, Need.FOLDED_ROOT, Need.MARKED_ENVELOPE, Need.NAMED_PROPERTIES}
    ),
)
