"""Annotations that are JSON already: strings, numbers, lists, dicts, literals, TypedDicts of those.

For these the decoded JSON value *is* the Python value, so a call converts nothing (numbers apart:
JSON Schema calls 1.0 an integer, Python calls 1 no float) and a definition needs no pydantic.
`describe` gives up, returning `None`, on the first thing it is not sure of.

Constraints (`Field(ge=1)`) do not change what a value is. Their schema is for pydantic or msgspec
to write, but once the schema has checked them, such values are as plain as any: `converters` looks
through constraints where `describe` gives up.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any, Literal, Union, cast, get_args, get_origin

import msgspec

from anyshape.tools.constraints import only_constrains
from anyshape.tools.conversion import Conversion, Each, Fields, Member, Number, Values

__all__ = ["Plain", "conversions", "describe"]

Document = dict[str, Any]

_QUALIFIERS = ("Required", "NotRequired", "ReadOnly")


class Plain(msgspec.Struct, frozen=True):
    """A plain annotation: its schema, and how its values are converted (`None`: not at all)."""

    schema: Document
    convert: Conversion | None = None
    kind: str = ""
    """The one JSON type of its values, or empty where there are several."""


def describe(annotations: Iterable[Any]) -> tuple[list[Plain], dict[str, Document]] | None:
    """Describe each annotation, and the definitions they share; `None` unless all are plain."""
    definitions: dict[str, Document] = {}
    reader = _Reader(definitions)
    plains: list[Plain] = []
    for annotation in annotations:
        found = reader.read(annotation)
        if found is None:
            return None
        plains.append(found)
    return plains, definitions


def conversions(annotations: Iterable[Any]) -> list[Conversion | None] | None:
    """Return how values of each annotation are converted; `None` unless all are plain."""
    reader = _Reader({}, constrained=True)
    found: list[Conversion | None] = []
    for annotation in annotations:
        form = reader.read(annotation)
        if form is None:
            return None
        found.append(form.convert)
    return found


class _Reader:
    """One walk over an annotation; every TypedDict met is defined once."""

    def __init__(self, definitions: dict[str, Document], *, constrained: bool = False) -> None:
        self._definitions = definitions
        self._constrained = constrained
        self._dictionaries: dict[str, Any] = {}
        self._fields: dict[str, Fields | None] = {}

    def read(self, annotation: Any) -> Plain | None:
        scalar = _SCALARS.get(annotation) if _is_hashable(annotation) else None
        if scalar is not None:
            return Plain(dict(scalar.schema), scalar.convert, scalar.kind)
        if isinstance(annotation, typing.NewType):
            return self.read(annotation.__supertype__)
        if _is_typed_dict(annotation):
            return self._read_typed_dict(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is typing.Annotated:
            understood = all(
                isinstance(note, str) or (self._constrained and only_constrains(note))
                for note in arguments[1:]
            )
            return self.read(arguments[0]) if understood else None
        if origin is list and len(arguments) == 1:
            return self._read_list(arguments[0])
        if origin is dict and len(arguments) == 2 and arguments[0] is str:
            return self._read_dict(arguments[1])
        if origin is Literal:
            return _read_literal(arguments)
        if origin is Union or origin is types.UnionType:
            return self._read_union(arguments)
        return None

    def _read_list(self, item: Any) -> Plain | None:
        inner = self.read(item)
        if inner is None:
            return None
        schema: Document = {"type": "array", "items": inner.schema} if inner.schema else _array()
        return Plain(schema, None if inner.convert is None else Each(inner.convert), "array")

    def _read_dict(self, item: Any) -> Plain | None:
        inner = self.read(item)
        if inner is None:
            return None
        schema: Document = {"type": "object"}
        if inner.schema:
            schema["additionalProperties"] = inner.schema
        return Plain(schema, None if inner.convert is None else Values(inner.convert), "object")

    def _read_union(self, members: tuple[Any, ...]) -> Plain | None:
        read = [self.read(member) for member in members]
        plains = [plain for plain in read if plain is not None]
        if len(plains) < len(read):
            return None
        if all(plain.convert is None for plain in plains):
            return Plain({"anyOf": [plain.schema for plain in plains]})
        kinds = [plain.kind for plain in plains]
        if "" in kinds or len(set(kinds)) < len(kinds):
            return None  # which member a value belongs to is more than its JSON type
        converters = {plain.kind: plain.convert for plain in plains}
        if "integer" in converters and "number" in converters:
            converters["integer"] = converters["number"] = None
        by_type: dict[type, Conversion] = {}
        for kind, python_type in (
            ("integer", float),
            ("number", int),
            ("array", list),
            ("object", dict),
        ):
            convert = converters.get(kind)
            if convert is not None:
                by_type[python_type] = convert
        schema: Document = {"anyOf": [plain.schema for plain in plains]}
        return Plain(schema, Member(by_type) if by_type else None)

    def _read_typed_dict(self, cls: Any) -> Plain | None:
        name = cls.__name__
        reference = {"$ref": f"#/$defs/{name}"}
        if name in self._dictionaries:
            if self._dictionaries[name] is not cls:
                return None
            return Plain(reference, self._fields[name], "object")
        if _has_unusual_rules(cls):
            return None
        try:
            hints = typing.get_type_hints(cls, include_extras=True)
        except (NameError, TypeError):
            return None
        self._dictionaries[name] = cls
        fields = self._fields[name] = Fields()
        definition: Document = {"type": "object"}
        if cls.__doc__:
            definition["description"] = cleandoc(cls.__doc__)
        self._definitions[name] = definition
        properties: Document = {}
        required: list[str] = []
        for key, hint in hints.items():
            hint, qualifiers = _unqualified(hint)
            # `__required_keys__` misses qualifiers in annotations that were written as strings.
            if (
                key in cls.__required_keys__ and "NotRequired" not in qualifiers
            ) or "Required" in qualifiers:
                required.append(key)
            else:
                fields.optional.add(key)
            field = self.read(hint)
            if field is None:
                return None
            properties[key] = field.schema
            if field.convert is not None:
                fields.by_key[key] = field.convert
        if properties:
            definition["properties"] = properties
        if required:
            definition["required"] = required
        if not fields.by_key:
            self._fields[name] = None
        return Plain(reference, self._fields[name], "object")


def _read_literal(values: tuple[Any, ...]) -> Plain | None:
    if not all(value is None or type(value) in (str, int, bool) for value in values):
        return None
    kinds: set[type[Any]] = {type(value) for value in values}
    schema: Document = {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
    kind = _JSON_TYPES[kinds.pop()] if len(kinds) == 1 else ""
    if kind and kind != "null":
        schema = {"type": kind, **schema}
    if any(type(value) is int for value in values):
        return Plain(schema, Number.WHOLE, kind if kind == "integer" else "")
    return Plain(schema, None, kind)


def _array() -> Document:
    return {"type": "array"}


def _unqualified(hint: Any) -> tuple[Any, list[str]]:
    """Return a field's type, and the qualifiers that stood around it."""
    qualifiers: list[str] = []
    while (name := getattr(get_origin(hint), "_name", None)) in _QUALIFIERS:
        qualifiers.append(cast("str", name))
        hint = get_args(hint)[0]
    return hint, qualifiers


def _is_typed_dict(annotation: Any) -> bool:
    return (
        isinstance(annotation, type)
        and issubclass(annotation, dict)
        and hasattr(cast("Any", annotation), "__required_keys__")
    )


def _has_unusual_rules(cls: Any) -> bool:
    return (
        hasattr(cls, "__pydantic_config__")
        or bool(getattr(cls, "__parameters__", ()))
        or bool(getattr(cls, "__closed__", False))
        or not hasattr(cls, "__annotations__")
    )


def _is_hashable(annotation: Any) -> bool:
    try:
        hash(annotation)
    except TypeError:
        return False
    return True


_JSON_TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    type(None): "null",
}

_SCALARS: dict[Any, Plain] = {
    str: Plain({"type": "string"}, None, "string"),
    bool: Plain({"type": "boolean"}, None, "boolean"),
    int: Plain({"type": "integer"}, Number.WHOLE, "integer"),
    float: Plain({"type": "number"}, Number.FRACTION, "number"),
    None: Plain({"type": "null"}, None, "null"),
    type(None): Plain({"type": "null"}, None, "null"),
    list: Plain({"type": "array"}, None, "array"),
    dict: Plain({"type": "object"}, None, "object"),
    typing.List: Plain({"type": "array"}, None, "array"),  # noqa: UP006 - what an author may write
    typing.Dict: Plain({"type": "object"}, None, "object"),  # noqa: UP006
    Any: Plain({}),
    object: Plain({}),
}
