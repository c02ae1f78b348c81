"""What was made for an annotation, kept for the next tool that has the same one.

Pydantic takes longer to describe a model than all the rest of a tool's definition takes, and the
tools of a server share their models. Only the latest few hundred are kept, so that classes which
are gone elsewhere go here too. What may be another the next time is not kept at all: annotations
that are not hashable, or that an author's own function has a hand in describing, and classes whose
fields pydantic looks up each time (dataclasses, TypedDicts, named tuples), as names may have come
to mean something else.
"""

from __future__ import annotations

import enum
import sys
import threading
from collections.abc import Iterator, Mapping
from types import EllipsisType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

__all__ = ["Kept", "Key", "is_lasting", "key_of"]

Value = TypeVar("Value")
Key: TypeAlias = tuple[Any, ...]

_MOST = 256
_SCHEMA = "__pydantic_core_schema__"
_UNREAD = ("cls", "default", "expected", "metadata")
"""Where core schemas hold what is none."""


class Kept(Generic[Value]):
    """Values by annotation; the one not asked for the longest goes when there is one too many."""

    def __init__(self) -> None:
        self._values: dict[Key, Value] = {}
        self._lock = threading.Lock()

    def get(self, key: Key | None) -> Value | None:
        """Return what is kept for the annotation with this key."""
        if key not in self._values:
            return None
        with self._lock:
            value = self._values.pop(key, None)
            if value is not None:
                self._values[key] = value
        return value

    def keep(self, key: Key, value: Value) -> None:
        """Keep `value` for annotations with this key."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > _MOST:
                del self._values[next(iter(self._values))]


class _Same:
    """Equal to another only if that is of the very same object."""

    __slots__ = ("_it",)

    def __init__(self, it: object) -> None:
        self._it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._it is other._it

    def __hash__(self) -> int:
        return id(self._it)


def key_of(annotation: Any) -> Key | None:
    """Return a key that no annotation shares which is described differently; `None` if none is."""
    try:
        hash(annotation)
    except TypeError:
        return None
    schemas: list[_Same] = []
    pending = [annotation]
    while pending:
        current = pending.pop()
        origin, arguments = get_origin(current), get_args(current)
        if origin is Literal or isinstance(current, EllipsisType):
            continue
        if origin is Annotated:
            if not all(map(_is_value, arguments[1:])):
                return None
            pending.append(arguments[0])
        elif origin is not None and origin is not current:  # Generic is its own origin.
            pending.extend(arguments if origin is Union else (origin, *arguments))
        elif isinstance(current, type) and _is_settled(current):
            # A model that is rebuilt is still the same class, with another core schema.
            schemas.append(_Same(vars(current).get(_SCHEMA)))
        else:
            return None
    # Unions and literals are equal in any order, and 1 is equal to True: their texts are not.
    return (annotation, repr(annotation), *schemas)


def _is_value(note: Any) -> bool:
    """Tell whether a note equals others that say the same; each of pydantic's fields is unique."""
    return type(note).__hash__ is not object.__hash__ and not _has_own_hook(note)


def _is_settled(cls: type) -> bool:
    """Tell whether pydantic describes a class alike each time, unless that is rebuilt."""
    if _has_own_hook(cls):
        return False
    package = cls.__module__.partition(".")[0]
    return (
        _SCHEMA in vars(cls)
        or issubclass(cls, enum.Enum)
        or package == "pydantic"
        or package in sys.stdlib_module_names
    )


def _has_own_hook(it: Any) -> bool:
    """Tell whether an author's own function makes the core schema of a class, or for a note."""
    hook = getattr(it, "__get_pydantic_core_schema__", None)
    return hook is not None and not _is_pydantics(hook)


def is_lasting(schema: Any) -> bool:
    """Tell whether a core schema is described alike each time: by pydantic's own functions."""
    pending: list[Any] = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            node = cast("dict[str, Any]", current)
            if not all(map(_is_pydantics, _functions_in(node))):
                return False
            pending.extend(part for key, part in node.items() if key not in _UNREAD)
        elif isinstance(current, list | tuple):
            pending.extend(cast("list[Any]", current))
    return True


def _functions_in(node: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what has a hand in the JSON Schema of what `node` describes."""
    metadata: Mapping[str, Any] = node.get("metadata") or {}
    yield from metadata.get("pydantic_js_functions", ())
    yield from metadata.get("pydantic_js_annotation_functions", ())
    extras = [metadata.get("pydantic_js_extra")]
    if "cls" in node:
        cls = node["cls"]
        config = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", {})
        extras.append(config.get("json_schema_extra"))
    yield from filter(callable, extras)


def _is_pydantics(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "pydantic"
