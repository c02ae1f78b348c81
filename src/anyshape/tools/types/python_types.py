"""Python's own types that are JSON already: strings, numbers, lists, dicts, literals, TypedDicts.

For these the decoded JSON value *is* the Python value, so a call converts nothing but numbers, and
a definition needs no pydantic. Anything that is not known for certain is not supported.

Constraints (`Field(ge=1)`) do not change what a value is. It takes pydantic or msgspec to describe
them, but once the schema has checked them such values are like any others: `reader` and `is_json`
look through constraints where the descriptions give up.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Sequence
from inspect import cleandoc
from typing import Any, Literal, Union, cast, get_args, get_origin

import msgspec

from anyshape.documents.positions import Node
from anyshape.tools.inlining import arrange
from anyshape.tools.signature import Parameter
from anyshape.tools.types.constraints import only_constrains
from anyshape.tools.types.library import ParameterTypes, ReadArguments, UnsupportedError, ValueType
from anyshape.tools.types.numbers import (
    Conversion,
    Each,
    Fields,
    Member,
    Number,
    changes,
    number_reader,
)

_QUALIFIERS = ("Required", "NotRequired", "ReadOnly")
_NO_EXTRA_ITEMS = ("NoneType", "NoExtraItemsType")
"""The types of what stands in a TypedDict that says nothing of keys beyond its own."""


class _JsonType(msgspec.Struct, frozen=True):
    """What an annotation comes to: its schema, and where its values have numbers, if they have."""

    schema: Node
    convert: Conversion | None = None
    kind: str = ""
    """The one JSON type of its values, or empty where there are several."""


def describe_parameters(parameters: Sequence[Parameter]) -> ParameterTypes:
    """Describe parameters; raises `UnsupportedError` unless all are JSON already."""
    found, definitions = _describe(parameter.annotation for parameter in parameters)
    names = [parameter.name for parameter in parameters]
    schemas = {name: json_type.schema for name, json_type in zip(names, found, strict=True)}
    return ParameterTypes(
        schemas, dict(zip(names, names, strict=True)), definitions, _read(parameters, found)
    )


def describe_value(annotation: Any) -> ValueType:
    """Describe a return annotation; raises `UnsupportedError` unless it is JSON already."""
    (found,), definitions = _describe([annotation])
    return ValueType(arrange(found.schema, definitions))


def reader(parameters: Sequence[Parameter]) -> ReadArguments | None:
    """Return what reads arguments that have passed their constraints, or `None` for nothing to do.

    Raises `UnsupportedError` unless all parameters are JSON already, but for their constraints.
    """
    walk = _AnnotationWalk({}, constrained=True)
    return _read(parameters, [walk.read(parameter.annotation) for parameter in parameters])


def is_json(annotation: Any) -> bool:
    """Tell whether values of `annotation` are JSON already, whatever its constraints."""
    try:
        _AnnotationWalk({}, constrained=True).read(annotation)
    except UnsupportedError:
        return False
    return True


def _describe(annotations: Iterable[Any]) -> tuple[list[_JsonType], dict[str, Node]]:
    definitions: dict[str, Node] = {}
    walk = _AnnotationWalk(definitions)
    return [walk.read(annotation) for annotation in annotations], definitions


def _read(parameters: Sequence[Parameter], found: Sequence[_JsonType]) -> ReadArguments | None:
    fields = Fields()
    for parameter, json_type in zip(parameters, found, strict=True):
        if json_type.convert is not None and changes(json_type.convert):
            fields.by_key[parameter.name] = json_type.convert
            if not parameter.required:
                fields.optional.add(parameter.name)
    return number_reader(fields) if fields.by_key else None


class _AnnotationWalk:
    """One walk over annotations, in which every TypedDict that is met is defined once."""

    def __init__(self, definitions: dict[str, Node], *, constrained: bool = False) -> None:
        self._definitions = definitions
        self._constrained = constrained
        self._dictionaries: dict[str, Any] = {}
        self._fields: dict[str, Fields | None] = {}

    def read(self, annotation: Any) -> _JsonType:
        try:
            scalar = _SCALARS[annotation]
            return _JsonType(dict(scalar.schema), scalar.convert, scalar.kind)
        except (KeyError, TypeError):  # the latter, if it is not hashable
            pass
        if isinstance(annotation, typing.NewType):
            return self.read(annotation.__supertype__)
        if _is_typed_dict(annotation):
            return self._read_typed_dict(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is typing.Annotated and all(map(self._looks_through, arguments[1:])):
            return self.read(arguments[0])
        if origin is list and len(arguments) == 1:
            inner = self.read(arguments[0])
            schema: Node = {"type": "array", "items": inner.schema}
            convert = None if inner.convert is None else Each(inner.convert)
            return _JsonType(schema if inner.schema else {"type": "array"}, convert, "array")
        if origin is dict and len(arguments) == 2 and arguments[0] is str:
            inner = self.read(arguments[1])
            schema = {"type": "object", "additionalProperties": inner.schema}
            convert = None if inner.convert is None else Each(inner.convert, keyed=True)
            return _JsonType(schema if inner.schema else {"type": "object"}, convert, "object")
        if origin is Literal:
            return _read_literal(arguments)
        if origin is Union or origin is types.UnionType:
            return self._read_union(arguments)
        raise UnsupportedError("not JSON as it is")

    def _looks_through(self, note: Any) -> bool:
        return isinstance(note, str) or (self._constrained and only_constrains(note))

    def _read_union(self, annotations: tuple[Any, ...]) -> _JsonType:
        members = [self.read(annotation) for annotation in annotations]
        schema: Node = {"anyOf": [member.schema for member in members]}
        if all(member.convert is None for member in members):
            return _JsonType(schema)
        conversions = {member.kind: member.convert for member in members}
        if "" in conversions or len(conversions) < len(members):
            raise UnsupportedError("which member a value belongs to is more than its JSON type")
        if "integer" in conversions and "number" in conversions:
            conversions["integer"] = conversions["number"] = None
        by_type = {
            python_type: convert
            for kind, python_type in _TO_CONVERT.items()
            if (convert := conversions.get(kind)) is not None
        }
        return _JsonType(schema, Member(by_type) if by_type else None)

    def _read_typed_dict(self, cls: Any) -> _JsonType:
        name = cls.__name__
        if name not in self._dictionaries:
            self._define(name, cls)
        elif self._dictionaries[name] is not cls:
            raise UnsupportedError(f"two TypedDicts are called {name}")
        return _JsonType({"$ref": f"#/$defs/{name}"}, self._fields[name], "object")

    def _define(self, name: str, cls: Any) -> None:
        if _has_unusual_rules(cls):
            raise UnsupportedError(f"{name} has rules that only pydantic reads")
        try:
            hints = typing.get_type_hints(cls, include_extras=True)
        except (NameError, TypeError) as error:
            raise UnsupportedError(str(error)) from error
        self._dictionaries[name] = cls
        fields = self._fields[name] = Fields()
        definition: Node = {"type": "object"}
        if cls.__doc__:
            definition["description"] = cleandoc(cls.__doc__)
        self._definitions[name] = definition
        properties: Node = {}
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
            properties[key] = field.schema
            if field.convert is not None:
                fields.by_key[key] = field.convert
        if properties:
            definition["properties"] = properties
        if required:
            definition["required"] = required
        if not fields.by_key:
            self._fields[name] = None


def _read_literal(values: tuple[Any, ...]) -> _JsonType:
    if not all(value is None or type(value) in (str, int, bool) for value in values):
        raise UnsupportedError("a literal that JSON does not have")
    types_of_values: set[type[Any]] = {type(value) for value in values}
    schema: Node = {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
    kind = _SCALARS[types_of_values.pop()].kind if len(types_of_values) == 1 else ""
    if kind and kind != "null":
        schema = {"type": kind, **schema}
    if any(type(value) is int for value in values):
        return _JsonType(schema, Number.WHOLE, kind if kind == "integer" else "")
    return _JsonType(schema, None, kind)


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
        or type(getattr(cls, "__extra_items__", None)).__name__ not in _NO_EXTRA_ITEMS
        or not hasattr(cls, "__annotations__")
    )


_TO_CONVERT: dict[str, type] = {"integer": float, "number": int, "array": list, "object": dict}
"""The Python type of decoded values that may have to be converted, for each JSON type."""

_SCALARS: dict[Any, _JsonType] = {
    str: _JsonType({"type": "string"}, None, "string"),
    bool: _JsonType({"type": "boolean"}, None, "boolean"),
    int: _JsonType({"type": "integer"}, Number.WHOLE, "integer"),
    float: _JsonType({"type": "number"}, Number.FRACTION, "number"),
    None: _JsonType({"type": "null"}, None, "null"),
    type(None): _JsonType({"type": "null"}, None, "null"),
    list: _JsonType({"type": "array"}, None, "array"),
    dict: _JsonType({"type": "object"}, None, "object"),
    typing.List: _JsonType({"type": "array"}, None, "array"),  # noqa: UP006 - authors may write it
    typing.Dict: _JsonType({"type": "object"}, None, "object"),  # noqa: UP006
    Any: _JsonType({}),
    object: _JsonType({}),
}
