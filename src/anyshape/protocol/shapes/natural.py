"""2026-07-28 and its working names: schemas and values as the author's types say.

An operator whose hosts cannot take that yet may keep to envelopes (`ShapeOptions(natural=False)`).
As these revisions need none, no client would expect one, so the envelope is marked as FastMCP marks
its own, for clients that take it off; and null is always in it, never left out.
"""

from __future__ import annotations

from dataclasses import replace

from anyshape.documents.positions import Node
from anyshape.documents.types import Types, admits
from anyshape.protocol.clients import Need, Needs
from anyshape.protocol.result import ABSENT, Absent
from anyshape.protocol.shapes.booleans import as_object_schema
from anyshape.protocol.shapes.enveloped import ENVELOPED
from anyshape.protocol.shapes.family import Carrier, Family, OutputSchema, ShapeOptions


def _output_schema(schema: OutputSchema, options: ShapeOptions, needs: Needs) -> Node | Absent:
    if isinstance(schema, Absent):
        return ABSENT
    if not options.natural:
        marked = needs | {Need.MARKED_ENVELOPE}
        return ENVELOPED.output_schema(schema, _saying_null(options), marked)
    if Need.NO_SCHEMA_BESIDE_NULL in needs and admits(schema) & Types.NULL:
        return ABSENT
    return as_object_schema(schema)


def _carrier(schema: OutputSchema, options: ShapeOptions) -> Carrier:
    return _carry_as_it_is if options.natural else ENVELOPED.carrier(schema, _saying_null(options))


def _saying_null(options: ShapeOptions) -> ShapeOptions:
    return replace(options, nullable_objects="wrap")


def _carry_as_it_is(structured: bytes, _is_error: bool) -> bytes:
    return b',"structuredContent":' + structured


NATURAL = Family(
    _output_schema,
    _carrier,
    listing_needs=frozenset({Need.FOLDED_ROOT, Need.NO_SCHEMA_BESIDE_NULL}),
)
