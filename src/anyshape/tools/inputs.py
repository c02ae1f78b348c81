"""A callable's parameters become an input schema, and a way to turn arguments into them.

Derived input schemas are closed (`additionalProperties: false`): the function can take no other
name, so a misspelt argument is refused with a message that says so, instead of being dropped
while the model believes it was heard. It is also what the specification recommends for tools
without parameters.
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin

import msgspec

from anyshape.errors import ToolDefinitionError
from anyshape.tools import msgspec_types, plain
from anyshape.tools.admission import mentions
from anyshape.tools.docstrings import Documentation
from anyshape.tools.formats import publish, to_read
from anyshape.tools.lean import arrange
from anyshape.tools.plain import Convert
from anyshape.tools.signature import EMPTY, Parameter, Signature

if TYPE_CHECKING:
    from anyshape.tools.pydantic_types import ArgumentsAdapter

__all__ = ["Inputs", "describe_inputs", "takes_whole_object"]

Document = dict[str, Any]

_ANNOTATED: Any = typing.Annotated  # subscribed with what is known only at run time


@dataclass(frozen=True, slots=True)
class Inputs:
    """The derived schema of some parameters, and what conversion their values need.

    `document` is what is published; `enforced` leaves to conversion what that knows better.
    `names` maps JSON names to parameters. Those in `structs` are built by msgspec, those in `plain`
    converted where numbers may need it, and `validate_json` reads all the others.
    """

    document: Document
    enforced: Document
    names: dict[str, str]
    required: frozenset[str]
    plain: tuple[tuple[str, Convert], ...] = ()
    structs: tuple[tuple[str, Any], ...] = ()
    validate_json: Callable[..., dict[str, Any]] | None = None
    fresh: tuple[tuple[str, Any], ...] = ()
    """Parameters whose default is mutable: each call that leaves one out gets its own copy."""


def describe_inputs(
    signature: Signature, documentation: Documentation, *, checked: bool = True
) -> Inputs:
    """Derive the input schema of `signature` and the conversion of its arguments.

    With `checked`, arguments are known to satisfy the derived schema before they are converted;
    without it (the author wrote another schema) their types have yet to be found out.
    """
    fields = [_Field.read(parameter, signature.label) for parameter in signature.parameters]
    described = plain.describe(field.annotation for field in fields)
    adapter: ArgumentsAdapter | None = None
    structs: list[tuple[str, Any]] = []
    converters: list[tuple[str, Convert]] = []
    names: dict[str, str] = {field.name: field.name for field in fields}
    properties: Document = {}
    if described is not None and (checked or not any(form.schema for form in described[0])):
        forms, definitions = described
        properties = {field.name: form.schema for field, form in zip(fields, forms, strict=True)}
        converters = [
            (field.name, form.convert)
            for field, form in zip(fields, forms, strict=True)
            if form.convert is not None
        ]
    else:
        adapter, structured, definitions = _describe_types(fields, signature.label)
        names = {name: name for name in structured} | (adapter.names if adapter else {})
        by_parameter = {parameter: name for name, parameter in names.items()}
        for field in fields:
            name = by_parameter[field.name]
            if field.name in structured:
                properties[name] = structured[field.name]
                structs.append((field.name, field.annotation))
            elif adapter is not None:
                properties[name] = adapter.properties[name]
        names = {name: names[name] for name in properties}
        found = plain.converters(field.annotation for field in fields) if checked else None
        if found is not None:
            # Types that need a library to describe them, and nothing to convert them.
            adapter, structs = None, []
            converters = [
                (field.name, convert)
                for field, convert in zip(fields, found, strict=True)
                if convert is not None
            ]

    by_parameter = {parameter: name for name, parameter in names.items()}
    for field in fields:
        described_property = properties[by_parameter[field.name]]
        text = field.description or documentation.parameters.get(field.name)
        if text and "description" not in described_property:
            described_property["description"] = text
        _publish_default(field, described_property)
    required = [by_parameter[field.name] for field in fields if field.required]
    document = _close(properties, required, definitions)
    return Inputs(
        document=publish(document),
        enforced=to_read(document),
        names=names,
        required=frozenset(required),
        plain=tuple(converters),
        structs=tuple(structs),
        validate_json=adapter.validate_json if adapter is not None else None,
        fresh=tuple((field.name, field.default) for field in fields if _is_mutable(field.default)),
    )


def takes_whole_object(signature: Signature, document: Document) -> str | None:
    """Return the one parameter that takes all arguments as a dict, if that is what is written.

    It is the only parameter, a `dict` or a mapping, and not the name of one of the arguments.
    """
    if len(signature.parameters) != 1 or signature.variable is not None:
        return None
    (parameter,) = signature.parameters
    annotation = parameter.annotation
    if get_origin(annotation) is typing.Annotated:
        annotation = get_args(annotation)[0]
    origin = get_origin(annotation) or annotation
    if mentions(document, parameter.name):
        return None
    mappings = (dict, Mapping, MutableMapping, typing.Dict, typing.Mapping)  # noqa: UP006
    return parameter.name if origin in mappings else None


@dataclass(frozen=True, slots=True)
class _Field:
    """A parameter with what its `Annotated` and its `Field` default said taken apart."""

    name: str
    annotation: Any
    default: Any
    required: bool
    description: str | None

    @classmethod
    def read(cls, parameter: Parameter, label: str) -> _Field:
        annotation = Any if parameter.annotation is EMPTY else parameter.annotation
        default = parameter.default
        description: str | None = None
        if get_origin(annotation) is typing.Annotated:
            bare, *notes = get_args(annotation)
            kept: list[Any] = []
            for note in notes:
                words = note if isinstance(note, str) else getattr(note, "documentation", None)
                if isinstance(words, str):
                    description = words
                else:
                    kept.append(note)
            annotation = _annotate(bare, kept)
        if _is_field_info(default):
            annotation = _annotate(annotation, [default])
            default = EMPTY
        required = default is EMPTY
        for note in get_args(annotation)[1:] if get_origin(annotation) is typing.Annotated else ():
            if _is_field_info(note):
                if msgspec_types.needs_msgspec(annotation):
                    raise ToolDefinitionError(
                        f"{label}: parameter '{parameter.name}' is a msgspec type, which "
                        f"pydantic's Field cannot describe; use msgspec.Meta"
                    )
                required = required and note.is_required()
        return cls(parameter.name, annotation, default, required, description)


def _describe_types(
    fields: list[_Field], label: str
) -> tuple[ArgumentsAdapter | None, dict[str, Document], dict[str, Document]]:
    """Give each parameter to pydantic, or to msgspec if pydantic does not know its type."""
    from anyshape.tools.pydantic_types import UnsupportedError, adapt_arguments

    structured = {
        field.name: field for field in fields if msgspec_types.needs_msgspec(field.annotation)
    }
    adapter: ArgumentsAdapter | None = None
    while True:
        rest = {
            field.name: (field.annotation, field.required)
            for field in fields
            if field.name not in structured
        }
        if not rest:
            break
        try:
            adapter = adapt_arguments(rest)
            break
        except UnsupportedError as error:
            name, reason = _find_unsupported(rest, str(error))
            field = next(field for field in fields if field.name == name)
            if not _has_msgspec_schema(field.annotation):
                raise ToolDefinitionError(
                    f"{label}: parameter '{name}' has no JSON Schema ({reason}); use a type "
                    f"that pydantic or msgspec understands, or bind it with functools.partial"
                ) from error
            structured[name] = field
    definitions = dict(adapter.definitions) if adapter is not None else {}
    annotations = [field.annotation for field in structured.values()]
    try:
        schemas, components = msgspec_types.schemas_of(annotations)
        if components.keys() & definitions.keys():
            schemas, components = msgspec_types.schemas_of(annotations, suffix="Struct")
    except TypeError as error:
        raise ToolDefinitionError(
            f"{label}: parameters {', '.join(map(repr, structured))} have no JSON Schema ({error})"
        ) from error
    return adapter, dict(zip(structured, schemas, strict=True)), {**definitions, **components}


def _find_unsupported(fields: Mapping[str, tuple[Any, bool]], reason: str) -> tuple[str, str]:
    from anyshape.tools.pydantic_types import UnsupportedError, adapt_arguments

    for name, field in fields.items():
        try:
            adapt_arguments({name: field})
        except UnsupportedError as error:
            return name, str(error)
    raise ToolDefinitionError(f"parameters {', '.join(fields)} do not go together: {reason}")


def _has_msgspec_schema(annotation: Any) -> bool:
    try:
        msgspec_types.schemas_of([annotation])
    except (TypeError, NameError):
        return False
    return True


def _close(
    properties: Document, required: list[str], definitions: Mapping[str, Document]
) -> Document:
    document: Document = {"type": "object"}
    if properties:
        document["properties"] = properties
    if required:
        document["required"] = required
    document["additionalProperties"] = False
    return arrange(document, definitions)


def _publish_default(field: _Field, described: Document) -> None:
    """Put a default into the schema if it is JSON and the parameter's own type admits it."""
    default = field.default
    if default is EMPTY or "default" in described:
        return
    if default is None and not _admits_null(described):
        return
    if default is None or type(default) in (bool, int, str):
        described["default"] = default
        return
    if isinstance(default, msgspec.Struct):
        described["default"] = msgspec_types.to_builtins(default)
        return

    from anyshape.tools.pydantic_types import default_to_json

    try:
        value = default_to_json(default)
        msgspec.json.encode(value)
    except (ValueError, TypeError):
        return  # a sentinel of the author's: the parameter is optional, its default is private
    if value == value and value not in (float("inf"), float("-inf")):
        described["default"] = value


def _admits_null(schema: Document) -> bool:
    if not schema.keys() - {"description", "title", "examples"}:
        return True
    kind = schema.get("type")
    if kind is not None:
        return kind == "null" or "null" in kind
    if "enum" in schema:
        return None in schema["enum"]
    return "const" not in schema and any(
        _admits_null(member) for member in schema.get("anyOf", schema.get("oneOf", ({},)))
    )


def _is_mutable(default: Any) -> bool:
    """Tell whether one call could leave something in a default for the next to find.

    Only what is known to be a mutable value: copying an author's sentinel would break `is`.
    """
    if isinstance(default, tuple):
        return any(_is_mutable(item) for item in cast("tuple[Any, ...]", default))
    if isinstance(default, MutableMapping | MutableSequence | MutableSet | msgspec.Struct):
        return True
    if hasattr(default, "model_copy"):
        return True
    return dataclasses.is_dataclass(default) and not isinstance(default, type)


def _annotate(annotation: Any, notes: list[Any]) -> Any:
    return _ANNOTATED[(annotation, *notes)] if notes else annotation


def _is_field_info(value: Any) -> bool:
    # By name: asking pydantic would load it for every tool.
    cls = cast("type[Any]", type(value))
    return cls.__name__ == "FieldInfo" and cls.__module__ == "pydantic.fields"
