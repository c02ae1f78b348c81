"""Several schemas for one property as one schema, and several objects in one line of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from anyshape.documents.positions import Node
from anyshape.protocol.encoding import encode_data

SchemaNode: TypeAlias = Node | bool
"""A schema, which may be `true` or `false`."""
_Object: TypeAlias = tuple[Mapping[str, SchemaNode], Sequence[str]]
"""The properties of an object and the names of those that are required."""

_CONSTANT: Final = frozenset({"const", "enum", "type"})
_OPENINGS: Final = {"oneOf": "Give exactly one of:", "anyOf": "Give at least one of:"}
_LONGEST: Final = 400
"""Characters of a summary; what would take more is better read in the tool's own description."""


def is_anything(schema: SchemaNode) -> bool:
    """Return whether a schema plainly admits every value."""
    return schema is True or schema == {}


def either(schemas: Sequence[SchemaNode], *, has_const: bool = True) -> SchemaNode:
    """Return a schema that admits what any of the schemas admits.

    `has_const` says whether their dialect knows `const`.
    """
    distinct = {encode_data(schema): schema for schema in schemas if not is_anything(schema)}
    alternatives = list(distinct.values())
    if len(alternatives) > 1 and has_const and _are_constants(alternatives):
        alternatives = [_enumerated(alternatives)]
    if any(is_anything(schema) for schema in schemas):
        # What some alternatives say is worth knowing, though others allow anything.
        return {"anyOf": [*alternatives, {}]} if alternatives else {}
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}


def _are_constants(schemas: Sequence[SchemaNode]) -> bool:
    return all(
        isinstance(schema, dict)
        and schema.keys() <= _CONSTANT
        and ("const" in schema) != isinstance(schema.get("enum"), list)
        for schema in schemas
    )


def _enumerated(schemas: Sequence[Any]) -> Node:
    """Return one `enum` of all constants."""
    values: dict[bytes, Any] = {}
    for schema in schemas:
        for value in [schema["const"]] if "const" in schema else schema["enum"]:
            values.setdefault(encode_data(value), value)
    types = [schema.get("type") for schema in schemas]
    is_shared = types[0] is not None and types.count(types[0]) == len(types)
    return {**({"type": types[0]} if is_shared else {}), "enum": list(values.values())}


def summary(keyword: str, objects: Sequence[_Object]) -> str | None:
    """Return in words which properties the alternatives ask for; `None` if that tells nothing."""
    if len(objects) < 2:
        return None
    shared = set(objects[0][1]).intersection(*(required for _, required in objects))
    groups = [_group(properties, required, shared) for properties, required in objects]
    if "" in groups or len(set(groups)) < len(groups):
        return None
    text = f"{_OPENINGS[keyword]} {' or '.join(f'({group})' for group in groups)}."
    return text if len(text) <= _LONGEST else None


def _group(properties: Mapping[str, SchemaNode], required: Sequence[str], shared: set[str]) -> str:
    tags = {name: _tag(properties.get(name, True)) for name in required}
    told = [f"{name}{tags[name] or ''}" for name in required if tags[name] or name not in shared]
    return ", ".join(told or [name for name in properties if name not in shared])


def _tag(schema: SchemaNode) -> str | None:
    """Return the one value that a property has to have, as it is written."""
    values: Any = schema.get("enum", [schema.get("const")]) if isinstance(schema, dict) else None
    is_tag = isinstance(values, list) and len(values) == 1 and isinstance(values[0], str)  # pyright: ignore[reportUnknownArgumentType]
    return f" = {encode_data(values[0]).decode()}" if is_tag else None
