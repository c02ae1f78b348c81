"""Types built from `msgspec.Struct`, which pydantic does not know: schema, in and out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from anyshape.documents.pointers import escape
from anyshape.documents.positions import subschemas
from anyshape.errors import Problem
from anyshape.tools.formats import loosen
from anyshape.tools.keys import check_keys, has_other_keys

__all__ = [
    "convert",
    "needs_msgspec",
    "overlooks",
    "problem_of",
    "schemas_of",
    "to_builtins",
    "to_builtins_of",
]

Document = dict[str, Any]

_PLACE = re.compile(r" - at `(key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


def needs_msgspec(annotation: Any) -> bool:
    """Tell whether a struct, or a `msgspec.Meta`, stands anywhere in `annotation`.

    Pydantic refuses the one and overlooks the other, in which case a constraint would be lost.
    """
    return any(
        isinstance(part, msgspec.Meta) or (isinstance(part, type) and issubclass(part, Struct))
        for part in _parts(annotation)
    )


def overlooks(annotation: Any) -> bool:
    """Tell whether `annotation` says anywhere what only pydantic reads: msgspec would lose it."""
    return any(_is_for_pydantic(part) for part in _parts(annotation))


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield all that stands in `annotation`: types, notes, and the fields of classes."""
    seen: set[int] = set()
    pending = [annotation]
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        pending += get_args(part)
        cls: Any = get_origin(part) or part
        try:
            if isinstance(cls, type) and _has_fields(cls):
                pending += [cls, *get_type_hints(cls, include_extras=True).values()]
            else:
                # What a NewType or a `type` statement stands for.
                pending.append(getattr(cls, "__supertype__", getattr(cls, "__value__", None)))
        except (NameError, TypeError):
            continue


def _is_for_pydantic(part: Any) -> bool:
    return (
        type(part).__module__.partition(".")[0] in ("annotated_types", "pydantic")
        or hasattr(part, "__get_pydantic_core_schema__")
        or hasattr(part, "__get_pydantic_json_schema__")
        or hasattr(part, "__pydantic_config__")
    )


def _has_fields(cls: type[Any]) -> bool:
    """Tell whether msgspec reads the fields of `cls`: those of TypedDicts, structs and so on."""
    return (
        hasattr(cls, "__required_keys__")
        or hasattr(cls, "__attrs_attrs__")
        or is_dataclass(cls)
        or (hasattr(cls, "_fields") and issubclass(cls, tuple))
        or issubclass(cls, Struct)
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
    for _, _, part in subschemas(document):
        _loosen_durations(part)


def convert(value: Any, annotation: Any) -> Any:
    """Build the Python value of `annotation` from decoded JSON, coercing nothing."""
    return msgspec.convert(value, annotation, str_keys=True)


def to_builtins_of(annotation: Any) -> Callable[[Any], Any]:
    """Return what makes JSON types of values of `annotation`."""
    return _check_keys_first if has_other_keys(_parts(annotation)) else to_builtins


def _check_keys_first(value: Any) -> Any:
    check_keys(value, to_builtins)
    return to_builtins(value)


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
            path += "/" + escape(step.group(1) or step.group(2))
    return Problem(keyword="", path=path, message=message, schema_path="")
