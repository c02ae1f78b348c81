"""Descriptions of models that pydantic has made, for the next tool that has the same annotation.

To describe a model takes pydantic longer than all the rest of a tool's definition takes, and the
tools of a server share their models. Only what is certain to be described alike each time has a key
here: models that are complete, and scalars, literals, lists, dicts and unions around them.
Everything else is described anew for each tool: other classes, whose fields pydantic looks up each
time, as names may have come to mean something else; notes; and whatever a function of an author's
describes.
"""

from __future__ import annotations

import threading
from types import UnionType
from typing import Any, Generic, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel

Description = TypeVar("Description")
TypeKey: TypeAlias = tuple[Any, ...]

_MOST = 256
_SCALARS = frozenset((str, int, float, bool, type(None)))
_CONTAINERS = (list, dict, Union, UnionType)


class DescriptionCache(Generic[Description]):
    """The latest descriptions by key; older ones are dropped, and with them what they hold."""

    def __init__(self) -> None:
        self._descriptions: dict[TypeKey, Description] = {}
        self._lock = threading.Lock()

    def get(self, key: TypeKey | None) -> Description | None:
        """Return what is known for the annotation with this key."""
        with self._lock:
            found = self._descriptions.pop(key, None) if key is not None else None
            if key is not None and found is not None:
                self._descriptions[key] = found  # now the latest
        return found

    def put(self, key: TypeKey, description: Description) -> None:
        """Remember a description; of too many, forget the one that was used longest ago."""
        with self._lock:
            self._descriptions[key] = description
            if len(self._descriptions) > _MOST:
                del self._descriptions[next(iter(self._descriptions))]


class _SameObject:
    """Stands for an object in a key: equal only for that very object, which it keeps alive."""

    __slots__ = ("_it",)

    def __init__(self, it: object) -> None:
        self._it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameObject) and self._it is other._it

    def __hash__(self) -> int:
        return id(self._it)


def key_of(annotation: Any) -> TypeKey | None:
    """Return a key that two annotations share only if pydantic describes both alike.

    Returns `None` for an annotation that may be described differently the next time.
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        # 1 is equal to True, but no value of the same type is equal to another.
        kinds: tuple[type[Any], ...] = tuple(map(type, arguments))
        return (Literal, kinds, arguments) if _SCALARS.issuperset(kinds) else None
    if origin in _CONTAINERS:
        parts = [key_of(argument) for argument in arguments]
        return (origin, *parts) if all(parts) else None
    if not isinstance(annotation, type):
        return None
    if type(annotation) is type and annotation in _SCALARS:
        return (annotation,)
    if issubclass(annotation, BaseModel) and is_pydantics(annotation.__get_pydantic_core_schema__):
        # A model that is rebuilt is still the same class, with another core schema.
        schema: object = vars(annotation).get("__pydantic_core_schema__")
        return (_SameObject(cast("object", schema)),) if isinstance(schema, dict) else None
    return None


def is_pydantics(function: Any) -> bool:
    """Tell whether a function is one of pydantic's own, and not an author's."""
    return str(getattr(function, "__module__", "")).partition(".")[0] == "pydantic"
