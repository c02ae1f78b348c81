"""2026-07-28 and its working names: schemas and values as the author's types say."""

from __future__ import annotations

from anyshape.protocol.dialects import Node
from anyshape.protocol.result import ABSENT, Absent
from anyshape.protocol.shapes.envelope import as_object
from anyshape.protocol.shapes.family import Carrier, Family, OutputSchema, ShapeOptions

__all__ = ["NATURAL"]


def _output_schema(schema: OutputSchema, _options: ShapeOptions) -> Node | Absent:
    return ABSENT if isinstance(schema, Absent) else as_object(schema)


def _carrier(_schema: OutputSchema, _options: ShapeOptions) -> Carrier:
    return _carry_as_it_is


def _carry_as_it_is(structured: bytes, _is_error: bool) -> bytes:
    return b',"structuredContent":' + structured


NATURAL = Family(_output_schema, _carrier, may_omit_mirror=True)
