"""The shape of tools and results at each revision; `shape(revision)` is the way in."""

from __future__ import annotations

from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.output import Carriage, ShapeOptions, carriage_of
from anyshape.protocol.shapes.reading import Read, ReadResult, is_envelope
from anyshape.protocol.shapes.shape import Encode, Shape

__all__ = [
    "Carriage",
    "Encode",
    "Read",
    "ReadResult",
    "Shape",
    "ShapeOptions",
    "carriage_of",
    "is_envelope",
    "shape",
]

_SHAPES = {revision: Shape(revision) for revision in Revision}


def shape(revision: Revision) -> Shape:
    """Return the shape of a revision."""
    return _SHAPES[revision]
