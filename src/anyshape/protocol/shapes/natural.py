"""2026-07-28 and its working names: schemas and values as the author's types say.

An operator whose hosts cannot take that yet may keep to envelopes (`ShapeOptions(natural=False)`).
As these revisions need none, no client would expect one, so the envelope is marked as FastMCP marks
its own, for clients that take it off; and null is always in it, never left out.
"""

from __future__ import annotations

from dataclasses import replace

from anyshape.documents.positions import Node
from anyshape.protocol.result import ABSENT, Absent
from anyshape.protocol.shapes.booleans import as_object
from anyshape.protocol.shapes.envelope import MARKER
from anyshape.protocol.shapes.enveloped import ENVELOPED, Carriage, carriage_of
from anyshape.protocol.shapes.family import Carrier, Family, OutputSchema, ShapeOptions

__all__ = ["NATURAL"]


def _output_schema(schema: OutputSchema, options: ShapeOptions) -> Node | Absent:
    if isinstance(schema, Absent):
        return ABSENT
    if options.natural:
        return as_object(schema)
    chosen = _saying_null(options)
    listed = ENVELOPED.output_schema(schema, chosen)
    if isinstance(listed, Absent) or carriage_of(schema, chosen) is not Carriage.ENVELOPE:
        return listed
    return {**listed, MARKER: True}


def _carrier(schema: OutputSchema, options: ShapeOptions) -> Carrier:
    return _carry_as_it_is if options.natural else ENVELOPED.carrier(schema, _saying_null(options))


def _saying_null(options: ShapeOptions) -> ShapeOptions:
    return replace(options, nullable_objects="wrap")


def _carry_as_it_is(structured: bytes, _is_error: bool) -> bytes:
    return b',"structuredContent":' + structured


NATURAL = Family(_output_schema, _carrier, is_natural=True)
