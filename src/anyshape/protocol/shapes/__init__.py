"""The shape of tools and results at each revision; `shape(revision)` is the way in.

Revisions come in families that treat values alike, one module each: `unstructured`, `enveloped`
and `natural`. What they share is in `shape`, and the way back, for clients, in `result_reader`.
"""

from __future__ import annotations

from typing import Final

from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.enveloped import ENVELOPED, Carriage, carriage_of
from anyshape.protocol.shapes.family import Family, ShapeOptions
from anyshape.protocol.shapes.natural import NATURAL
from anyshape.protocol.shapes.shape import Encode, Shape
from anyshape.protocol.shapes.unstructured import UNSTRUCTURED

__all__ = [
    "OLDER",
    "Carriage",
    "Encode",
    "Shape",
    "ShapeOptions",
    "carriage_of",
    "shape",
]

OLDER: Final = (Revision.V2025_11_25, Revision.V2025_03_26)
"""The latest revision of each older family: those that know objects only, or text only."""


def _family(revision: Revision) -> Family:
    if revision.is_natural:
        return NATURAL
    return ENVELOPED if revision.has_structured_content else UNSTRUCTURED


_SHAPES = {revision: Shape(revision, _family(revision)) for revision in Revision}


def shape(revision: Revision) -> Shape:
    """Return the shape of a revision."""
    return _SHAPES[revision]
