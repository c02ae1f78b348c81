"""Notes in `Annotated` that narrow which values are right, and leave the values themselves alone.

Once a schema has checked such a constraint there is nothing left to do for it. Notes are told by
the name of their type, so that looking at one loads no library that its author did not.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

_BOUNDS = frozenset(
    ("Ge", "Gt", "Interval", "Le", "Len", "Lt", "MaxLen", "MinLen", "MultipleOf", "Timezone")
)
_PYDANTIC = frozenset(("AllowInfNan", "Strict"))
_REST = "_PydanticGeneralMetadata"
"""Where pydantic keeps what has no type of its own; a pattern is a constraint, the rest is not."""

_TRANSFORMING = (
    "alias",
    "default_factory",
    "discriminator",
    "exclude",
    "exclude_if",
    "serialization_alias",
    "validation_alias",
)


def only_constrains(note: Any) -> bool:
    """Tell whether a note narrows the values of its type and changes none of them."""
    if isinstance(note, str | msgspec.Meta):
        return True
    cls = cast("type[Any]", type(note))
    library, name = cls.__module__.partition(".")[0], cls.__name__
    if library == "annotated_types":
        return name in _BOUNDS
    if library != "pydantic":
        return False
    if name == "FieldInfo":
        return (
            note.is_required()
            and not any(getattr(note, word, None) for word in _TRANSFORMING)
            and all(only_constrains(constraint) for constraint in note.metadata)
        )
    return name in _PYDANTIC or (
        name == _REST and set(cast("dict[str, Any]", vars(note))) <= {"pattern"}
    )
