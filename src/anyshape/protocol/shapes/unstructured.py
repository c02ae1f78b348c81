"""2024-11-05 and 2025-03-26: no output schema, no structured content, values as text alone."""

from __future__ import annotations

from anyshape.documents.positions import Node
from anyshape.protocol.clients import Need, Needs
from anyshape.protocol.result import ABSENT, Absent
from anyshape.protocol.shapes.family import Carrier, Family, OutputSchema, ShapeOptions


def _output_schema(_schema: OutputSchema, _options: ShapeOptions, _needs: Needs) -> Node | Absent:
    return ABSENT


def _carrier(_schema: OutputSchema, _options: ShapeOptions) -> Carrier:
    return _carry_nothing


def _carry_nothing(_structured: bytes, _is_error: bool) -> bytes:
    return b""


UNSTRUCTURED = Family(
    _output_schema,
    _carrier,
    listing_needs=frozenset({Need.DESCRIPTION, Need.FOLDED_ROOT, Need.NAMED_PROPERTIES}),
)
