"""The shape of tools and results at each revision; `shape(revision)` is the way in.

Revisions come in families that treat values alike, one module each: `unstructured`, `enveloped`
and `natural`. What they share is in `shape`, and the way back, for clients, in `result_reader`.
"""

from __future__ import annotations

from typing import Final

from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.enveloped import ENVELOPED, Carriage, carriage_of
from anyshape.protocol.shapes.family import ShapeOptions
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

_FAMILIES = {
    Revision.V2024_11_05: UNSTRUCTURED,
    Revision.V2025_03_26: UNSTRUCTURED,
    Revision.V2025_06_18: ENVELOPED,
    Revision.V2025_11_25: ENVELOPED,
    Revision.V2026_06_30: NATURAL,
    Revision.DRAFT_2026_06_V1: NATURAL,
    Revision.V2026_07_28: NATURAL,
}
OLDER: Final = (Revision.V2025_11_25, Revision.V2025_03_26)
"""The latest revision of each older family: those that know objects only, or text only."""

_SHAPES = {revision: Shape(revision, family) for revision, family in _FAMILIES.items()}


def shape(revision: Revision) -> Shape:
    """Return the shape of a revision."""
    return _SHAPES[revision]
