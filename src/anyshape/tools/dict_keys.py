"""Keys of dicts that are not strings: each is written as text, and no two may become the same.

JSON has only strings for keys, so `{1: "a"}` is written as `{"1": "a"}`. Of `{1: "a", "1": "b"}`
one value would be lost on the way, without a word from any serializer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime
from typing import Any, cast
from uuid import UUID

from anyshape.errors import NotJson

_LEAVES = frozenset((str, int, float, bool, bytes, type(None)))
_DISTINCT = frozenset((str, int, float, date, datetime, UUID))
"""Types whose values differ in text as soon as they differ."""


def check_keys(value: Any, to_builtins: Callable[[Any], Any]) -> None:
    """Raise `NotJson` if `to_builtins` would write two keys of a dict inside `value` as one."""
    seen: set[int] = set()
    pending = [value]
    while pending:
        part = pending.pop()
        if type(part) in _LEAVES or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            held = cast("Mapping[Any, Any]", part)
            kinds = set(map(type, held))
            if not (len(kinds) < 2 and kinds <= _DISTINCT):
                _check(list(held), to_builtins)
            pending.extend(held.values())
        elif isinstance(part, list | tuple | set | frozenset):
            pending.extend(cast("Collection[Any]", part))
        else:
            pending.extend(_fields_of(part))


def _check(keys: list[Any], to_builtins: Callable[[Any], Any]) -> None:
    by_text: dict[str, Any] = {}
    for key in keys:
        (text,) = to_builtins({key: None})
        if text in by_text:
            raise NotJson(
                f"two keys of a dict, {_shown(by_text[text])} and {_shown(key)}, are the same key "
                f"in JSON, where keys are strings"
            )
        by_text[text] = key


def _fields_of(value: Any) -> Iterable[Any]:
    """Return what a model, a dataclass or a struct holds; nothing for any other object."""
    cls = cast("type[Any]", type(value))
    if hasattr(cls, "__pydantic_validator__"):
        extra: Mapping[str, Any] = getattr(value, "__pydantic_extra__", None) or {}
        held = cast("dict[str, Any]", vars(value))
        return [*held.values(), *extra.values()]
    if dataclasses.is_dataclass(cls):
        names: Iterable[str] = [field.name for field in dataclasses.fields(cls)]
    else:
        names = getattr(cls, "__struct_fields__", ())
    return [getattr(value, name, None) for name in names]


def _shown(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= 40 else f"{text[:39]}…"
