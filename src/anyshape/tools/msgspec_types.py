"""Types built from `msgspec.Struct`, which pydantic does not know: schema, in and out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any, cast, get_args, get_type_hints

import msgspec

from anyshape.errors import Problem
from anyshape.tools.formats import loosen
from anyshape.tools.lean import subschemas

__all__ = ["convert", "needs_msgspec", "problem_of", "schemas_of", "to_builtins"]

Document = dict[str, Any]

_PLACE = re.compile(r" - at `(key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


def needs_msgspec(annotation: Any) -> bool:
    """Tell whether a struct, or a `msgspec.Meta`, stands anywhere in `annotation`.

    Pydantic refuses the one and overlooks the other, in which case a constraint would be lost.
    """
    return _needs_msgspec(annotation, set())


def _needs_msgspec(annotation: Any, seen: set[Any]) -> bool:
    if isinstance(annotation, msgspec.Meta):
        return True
    if isinstance(annotation, type) and not get_args(annotation):
        cls = cast("type[Any]", annotation)
        if issubclass(cls, msgspec.Struct):
            return True
        if cls in seen or not _has_fields(cls):
            return False
        seen.add(cls)
        try:
            hints = get_type_hints(cls, include_extras=True)
        except (NameError, TypeError):
            return False
        return any(_needs_msgspec(hint, seen) for hint in hints.values())
    return any(_needs_msgspec(argument, seen) for argument in get_args(annotation))


def _has_fields(cls: type[Any]) -> bool:
    """Tell whether both libraries read the fields of `cls`: TypedDict, NamedTuple, dataclass."""
    return (
        hasattr(cls, "__required_keys__")
        or is_dataclass(cls)
        or (hasattr(cls, "_fields") and issubclass(cls, tuple))
    )


def schemas_of(
    annotations: Sequence[Any], *, suffix: str = ""
) -> tuple[list[Document], dict[str, Document]]:
    """Return one schema per annotation and the definitions they share.

    Raises `TypeError` for a type that msgspec has no schema for. `suffix` ends the definitions'
    names, where they would otherwise meet others of the same name.
    """
    found, components = msgspec.json.schema_components(
        annotations, ref_template="#/$defs/{name}" + suffix
    )
    for schema in (*found, *components.values()):
        _loosen_durations(schema)
    definitions: dict[str, Document] = {}
    for name, definition in components.items():
        # The title of a component is always the name of its class, never the author's words.
        definitions[name + suffix] = {
            key: value for key, value in definition.items() if key != "title"
        }
    return list(found), definitions


def _loosen_durations(schema: Any) -> None:
    """Mark durations; dates and times have a format here only where an offset is certain."""
    if not isinstance(schema, dict):
        return
    document = cast("Document", schema)
    if document.get("format") == "duration":
        loosen(document)
    for part in subschemas(document):
        _loosen_durations(part)


def convert(value: Any, annotation: Any) -> Any:
    """Build the Python value of `annotation` from decoded JSON, coercing nothing."""
    return msgspec.convert(value, annotation, str_keys=True)


def to_builtins(value: Any) -> Any:
    """Return a value made of structs as JSON types."""
    return msgspec.to_builtins(value, str_keys=True)


def problem_of(error: msgspec.ValidationError, path: str) -> Problem:
    """Return what msgspec found wrong with the argument at `path`."""
    message = str(error)
    place = _PLACE.search(message)
    if place is not None:
        message = message[: place.start()]
        for step in _STEP.finditer(place.group(2)):
            path += "/" + (step.group(1) or step.group(2)).replace("~", "~0").replace("/", "~1")
    return Problem(keyword="", path=path, message=message, schema_path="")
