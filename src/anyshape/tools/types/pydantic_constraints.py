"""Constraints that pydantic checks by a function, stated as keywords of JSON Schema.

Pydantic has a keyword for a bound on an `int`. On a union, or behind a validator, it checks the
bound by a function and describes it by a name of its own, as in `{"anyOf": […], "ge": 0}`, which
says nothing to anybody. A keyword means the same there: it speaks of numbers, strings or arrays
alone. On a type that cannot have it, such as a bound on a string, pydantic fails with every value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic.errors import PydanticInvalidForJsonSchema

from anyshape.documents.positions import Node
from anyshape.tools.types.pydantic_cache import is_pydantics

_BOUNDS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_SIZES: Final = {
    "minLength": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "maxLength": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
}
_FUNCTIONS: Final = ("function-after", "function-before", "function-wrap")
_TEXTS: Final = frozenset(("bytes", "str"))
_ARRAYS: Final = frozenset(("frozenset", "list", "set", "tuple"))
_OBJECTS: Final = frozenset(("dict", "typed-dict"))
_GROUPS: Final = _ARRAYS | _OBJECTS
_JSON_TYPES: Final = {
    **dict.fromkeys(_TEXTS, "string"),
    **dict.fromkeys(_ARRAYS, "array"),
    **dict.fromkeys(_OBJECTS, "object"),
}
_SCALARS: Final = frozenset(
    (
        *("bool", "complex", "date", "datetime", "decimal", "float", "fraction", "int", "none"),
        *("time", "timedelta", "uuid"),
    )
)
_MISFITS: Final = {
    **dict.fromkeys(_BOUNDS, _TEXTS | _GROUPS | {"bool", "complex", "none", "uuid"}),
    **dict.fromkeys(_SIZES, _SCALARS),
    **dict.fromkeys(("decimal_places", "max_digits"), _TEXTS | _GROUPS | _SCALARS - {"decimal"}),
    "pattern": _GROUPS | _SCALARS,
}
"""The types that cannot have a constraint, by the name that pydantic describes it by."""


def state_bounds(document: Node, schema: Mapping[str, Any]) -> None:
    """Put keywords in place of the names by which pydantic describes constraints of a function.

    What is behind a function of an author's speaks of what that returns, and has no keyword.
    """
    metadata: Mapping[str, Any] = schema.get("metadata") or {}
    described: Mapping[str, Any] = metadata.get("pydantic_js_updates") or {}
    if schema["type"] not in _FUNCTIONS or not described:
        return
    kind = _constrained_type(schema)
    for name in described.keys() & _MISFITS.keys():
        value = document.pop(name)
        _check(name, kind)
        if kind is None or not isinstance(value, int | float):  # It may be a date.
            continue
        if name in _BOUNDS:
            _state(document, _BOUNDS[name], value)
        elif name in _SIZES:
            sizes, own = _SIZES[name], _JSON_TYPES.get(kind, cast("Any", document.get("type")))
            for keyword in [sizes[own]] if own in sizes else sizes.values():
                _state(document, keyword, value)


def patterns_in(steps: list[Any]) -> list[str] | None:
    """Return the patterns that pydantic checks after a type; `None` if it does other things too."""
    kind = _constrained_type(steps[0])
    patterns: list[str] = []
    for step in steps[1:]:
        inner = step.get("schema", {})
        if kind is None or inner.get("type") != "str" or not _is_pydantics(step):
            return None
        if "pattern" in inner:
            _check("pattern", kind)
            patterns.append(inner["pattern"])
    return patterns


def state_pattern(document: Node, pattern: str) -> None:
    """Say that strings match a pattern."""
    _state(document, "pattern", pattern)


def _state(document: Node, keyword: str, value: Any) -> None:
    """Say one thing more, and nothing less."""
    if keyword in document:
        document.setdefault("allOf", []).append({keyword: value})
    else:
        document[keyword] = value


def _constrained_type(schema: Mapping[str, Any]) -> str | None:
    """Return the type of what a constraint speaks of; `None` behind a function of an author's."""
    while schema["type"] in _FUNCTIONS:
        if not _is_pydantics(schema):
            return None
        schema = cast("Mapping[str, Any]", schema["schema"])
    return schema["type"]


def _is_pydantics(schema: Mapping[str, Any]) -> bool:
    function = schema["function"]["function"]
    return is_pydantics(getattr(function, "func", function))


def _check(name: str, kind: str | None) -> None:
    """Raise if a constraint is on a type that cannot have it."""
    if kind in _MISFITS[name]:
        word = name.replace("Length", "_length")
        raise PydanticInvalidForJsonSchema(f"{word} means nothing for {kind}")
