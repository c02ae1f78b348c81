"""Notes in `Annotated`: our own are taken out of an annotation before a type library reads it."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, TypeVar, get_args, get_origin

Noted = TypeVar("Noted")
_ANNOTATED: Any = typing.Annotated  # subscribed with what is known only at run time


def annotate(annotation: Any, notes: Sequence[Any]) -> Any:
    """Return an annotation with notes, if there are any."""
    return _ANNOTATED[(annotation, *notes)] if notes else annotation


def take_note(annotation: Any, kind: type[Noted]) -> tuple[Any, Noted | None]:
    """Return an annotation without notes of one kind, and the last of those."""
    if get_origin(annotation) is not typing.Annotated:
        return annotation, None
    bare, *notes = get_args(annotation)
    taken = [note for note in notes if isinstance(note, kind)]
    if not taken:
        return annotation, None
    return annotate(bare, [note for note in notes if not isinstance(note, kind)]), taken[-1]
