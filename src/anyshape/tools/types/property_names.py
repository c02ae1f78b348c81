"""The schemas of a dict's keys, made true of the names of properties.

Names of properties are strings in JSON, whatever the keys are in Python: `{Priority.HIGH: 5}` is
written, and read, as `{"1": 5}`. Pydantic says nothing of keys that are literals. Where they are of
a named type it refers to the schema of that type, which may be one of integers: no name is that.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Final, cast

import pydantic_core
from pydantic.errors import PydanticInvalidForJsonSchema

from anyshape.documents.positions import Node, nodes

_DEFINITIONS: Final = "#/$defs/"
_NEVER_READ: Final = frozenset(
    (
        *("dataclass", "frozenset", "list", "model", "named-tuple", "none", "set", "tuple"),
        *("typed-dict", "call"),  # The latter is a named tuple of older versions.
    )
)
"""Types of core schemas for what pydantic reads from no string."""


def list_names(keys: Mapping[str, Any], *, is_read: bool) -> list[str] | None:
    """Return all names that keys of a core schema can have, `None` if there is no list of them.

    With `is_read` they are the names that pydantic makes keys of, which has to be some: it reads
    `"1"` as a member of an `IntEnum`, and not as one of an `Enum` whose values are integers.
    """
    kind: str = keys["type"]
    values: list[Any] = []
    if kind == "enum":
        cls: type[enum.Enum] = keys["cls"]
        if issubclass(cls, enum.Flag) and not is_read:
            return None  # they may be combinations
        values = [member.value for member in keys["members"]]
        is_read = is_read and not has_missing(cls)
    elif kind == "literal":
        values = keys["expected"]
    elif kind not in _NEVER_READ or not is_read:
        return None
    if is_read:
        values = _readable(values, keys.get("sub_type"))
    if not values:
        raise PydanticInvalidForJsonSchema(
            "keys of a dict are strings in JSON, which none of these are read from; "
            "use strings, or an IntEnum"
        )
    return list(pydantic_core.to_jsonable_python(dict.fromkeys(values)))


def has_missing(cls: type[enum.Enum]) -> bool:
    """Tell whether an enumeration makes members of values that it does not list."""
    ours = enum.Flag if issubclass(cls, enum.Flag) else enum.Enum
    return cast("Any", cls._missing_).__func__ is not cast("Any", ours._missing_).__func__


def leave_out_other_names(document: Node) -> None:
    """Remove every `propertyNames` of a document that does not speak of strings."""
    definitions: Node = document.get("$defs", {})
    for schema in nodes(document):
        names: Node = schema.get("propertyNames", {})
        if not _speaks_of_strings(_resolve(names, definitions), definitions):
            del schema["propertyNames"]


def _readable(values: list[Any], sub_type: str | None) -> list[Any]:
    """Return those values of an enumeration that pydantic reads from strings."""
    read = {"int": (str, bool, int), "float": (str, bool, float)}.get(sub_type or "", (str, bool))
    return [value for value in values if isinstance(value, read)]


def _resolve(schema: Node, definitions: Node) -> Node:
    """Follow references to definitions, to the first schema that is none."""
    seen: set[str] = set()
    while (reference := schema.get("$ref")) is not None and reference not in seen:
        seen.add(reference)
        schema = definitions.get(reference.removeprefix(_DEFINITIONS), {})
    return schema


def _speaks_of_strings(schema: Node, definitions: Node) -> bool:
    """Tell whether a name, which is a string, can be what a schema describes, and nothing else."""
    if "enum" in schema:
        return all(isinstance(value, str) for value in schema["enum"])
    if "anyOf" in schema:
        return all(
            _speaks_of_strings(_resolve(part, definitions), definitions) for part in schema["anyOf"]
        )
    return schema.get("type", "string") == "string"
