"""What is said of the keys of a dict, as it is true of the names of properties.

Names of properties are strings in JSON, whatever the keys are: `{Priority.HIGH: 5}` is written, and
read, as `{"1": 5}`. Where keys are a named type, pydantic refers to its schema as it is, to that of
an enumeration of integers, say, which no name of a property can satisfy.
"""

from __future__ import annotations

from typing import Any, Final

import pydantic_core
from pydantic.errors import PydanticInvalidForJsonSchema

from anyshape.documents.positions import Node, subschemas

__all__ = ["spell_property_names"]

_DEFINITIONS: Final = "#/$defs/"


def spell_property_names(document: Node, *, is_read: bool) -> None:
    """Make every `propertyNames` of a document speak of strings, or leave it out.

    With `is_read` the names of an enumeration are those that pydantic makes members of: it reads
    `"1"` as 1 where all values are integers, and as nothing but `"1"` where some are not.
    """
    definitions: Node = document.get("$defs", {})
    pending = [document]
    while pending:
        schema = pending.pop()
        if "propertyNames" in schema:
            names = _resolve(schema["propertyNames"], definitions)
            if not _speaks_of_strings(names, definitions):
                del schema["propertyNames"]
                # The text of a list, such as a tuple becomes, is nothing to describe.
                if "enum" in names and not any(isinstance(it, list) for it in names["enum"]):
                    schema["propertyNames"] = {"enum": _spell(names["enum"], is_read=is_read)}
        pending += [part for _, _, part in subschemas(schema) if isinstance(part, dict)]


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


def _spell(values: list[Any], *, is_read: bool) -> list[str]:
    if is_read and not all(isinstance(value, int) for value in values):
        values = [value for value in values if isinstance(value, str)]
        if not values:
            raise PydanticInvalidForJsonSchema(
                "keys of an enumeration are read from JSON only if all are integers, or are strings"
            )
    return list(pydantic_core.to_jsonable_python(dict.fromkeys(values)))
