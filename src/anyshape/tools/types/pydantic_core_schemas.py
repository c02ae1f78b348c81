"""What pydantic's core schemas tell of types: how they can be read, and what keys dicts may have.

Pydantic reads JSON text or Python values. Its two modes differ where Python has types that JSON
lacks: text gives a date, strictly; a string that was decoded already does not. Where every part is
of a type that JSON has, both take the same values for the same, and the text, which was decoded to
be checked, need not be parsed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

_SCALARS = frozenset(("bool", "float", "int", "literal", "none", "str"))
_JSON_TYPES = (str, int, bool, type(None))
_DICTS = frozenset(("counter", "dict", "frozendict", "ordered-dict"))
_NO_SCHEMAS = ("cls", "default", "expected", "function", "metadata", "serialization")
"""Where core schemas hold what is none."""
_NAMED = ("choices", "fields")
"""Where they may hold several in a dict, by names that are an author's and mean nothing here."""


def reads_decoded(schema: Mapping[str, Any]) -> bool:
    """Tell whether a core schema strictly takes from decoded JSON what it takes from its text.

    It may refuse more (a number too large for a float, say), never less, and gives equal values.
    """
    pending: list[Mapping[str, Any]] = [schema]
    while pending:
        parts = _parts(pending.pop())
        if parts is None:
            return False
        pending.extend(parts)
    return True


def _parts(node: Mapping[str, Any]) -> list[Any] | None:
    """Return the schemas that `node` consists of; `None` if the modes may differ about it."""
    kind = node["type"]
    if kind == "literal":
        return [] if all(type(value) in _JSON_TYPES for value in node["expected"]) else None
    if kind in _SCALARS or kind in ("any", "definition-ref"):
        return []
    if kind in ("default", "nullable"):
        return [node["schema"]]
    if kind == "definitions":
        return [node["schema"], *node["definitions"]]
    if kind == "list":
        return _given(node, "items_schema")
    if kind == "dict":
        keys = node.get("keys_schema")
        return _given(node, "values_schema") if keys is None or keys["type"] == "str" else None
    if kind in ("function-before", "function-after", "function-wrap"):
        # With `info` it could ask for the mode.
        return [node["schema"]] if node["function"]["type"] == "no-info" else None
    if kind == "model":
        return None if node.get("custom_init") else [node["schema"]]
    if kind in ("model-fields", "typed-dict"):
        return _fields(node)
    if kind == "union":
        return [] if _has_one_reading(node) else None
    if kind == "tagged-union":
        return list(node["choices"].values()) if isinstance(node["discriminator"], str) else None
    return None


def _given(node: Mapping[str, Any], key: str) -> list[Any]:
    return [node[key]] if key in node else []


def _fields(node: Mapping[str, Any]) -> list[Any] | None:
    fields: list[Mapping[str, Any]] = list(node["fields"].values())
    if any(type(step) is not str for field in fields for step in _steps(field)):
        return None
    extras = _given(node, "extras_schema") + _given(node, "extras_keys_schema")
    return [*extras, *(field["schema"] for field in fields)]


def _steps(field: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the keys that lead to the value of a field under its aliases."""
    pending: list[Any] = [field.get("validation_alias", "")]
    while pending:
        step = pending.pop()
        if isinstance(step, list):
            pending.extend(cast("list[Any]", step))
        else:
            yield step


def _has_one_reading(union: Mapping[str, Any]) -> bool:
    """Tell whether a value comes out the same whichever member of a union takes it."""
    choices: list[Any] = [
        cast("tuple[Any, str]", choice)[0] if isinstance(choice, tuple) else choice
        for choice in union["choices"]
    ]
    kinds = {choice["type"] for choice in choices}
    return (
        kinds <= _SCALARS
        and not {"int", "float"} <= kinds
        and all(_parts(choice) is not None for choice in choices)
    )


def has_other_keys(schema: Any) -> bool:
    """Tell whether a dict may have keys that are no strings, given pydantic's core schema."""
    pending: list[Any] = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            node = cast("dict[str, Any]", current)
            if node.get("type") == "any" or "allow" in (
                node.get("extra_behavior"),
                node.get("extra_fields_behavior"),
            ):
                return True
            if node.get("type") in _DICTS and node.get("keys_schema", {}).get("type") != "str":
                return True
            for key, part in node.items():
                if key in _NAMED and isinstance(part, dict):
                    pending.extend(cast("dict[Any, Any]", part).values())
                elif key not in _NO_SCHEMAS:
                    pending.append(part)
        elif isinstance(current, list | tuple):
            pending.extend(cast("list[Any]", current))
    return False
