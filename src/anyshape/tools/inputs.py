"""A callable's parameters become an input schema, and a way to turn arguments into them.

Derived input schemas are closed (`additionalProperties: false`): the function can take no other
name, so a misspelt argument is refused with a message that says so, instead of being dropped
while the model believes it was heard. It is also what the specification recommends for tools
without parameters.
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args, get_origin

import msgspec

from anyshape.errors import ToolDefinitionError
from anyshape.tools import msgspec_types, plain
from anyshape.tools.admission import mentions
from anyshape.tools.conversion import Conversion, Fields, changes
from anyshape.tools.defaults import is_mutable, publish_default
from anyshape.tools.docstrings import Documentation
from anyshape.tools.formats import publish, to_read
from anyshape.tools.lean import arrange
from anyshape.tools.signature import EMPTY, Parameter, Signature

if TYPE_CHECKING:
    from anyshape.tools.pydantic_types import ArgumentsAdapter

__all__ = ["Inputs", "describe_inputs", "takes_whole_object"]

Document = dict[str, Any]

_ANNOTATED: Any = typing.Annotated  # subscribed with what is known only at run time


class Inputs(msgspec.Struct, frozen=True):
    """The derived schema of some parameters, and what conversion their values need.

    `document` is what is published; `enforced` leaves to conversion what that knows better.
    `names` maps JSON names to parameters. Those in `structs` are built by msgspec, those in
    `numbers` converted where numbers may need it, and pydantic reads all the others: from the text
    with `validate_json`, or with `validate_python` from decoded JSON where that comes to the same.
    """

    document: Document
    enforced: Document
    names: dict[str, str]
    required: frozenset[str]
    numbers: Fields | None = None
    structs: tuple[tuple[str, Any], ...] = ()
    validate_json: Callable[..., dict[str, Any]] | None = None
    validate_python: Callable[..., dict[str, Any]] | None = None
    fresh: tuple[tuple[str, Any], ...] = ()
    """Parameters whose default is mutable: each call that leaves one out gets its own copy."""


def describe_inputs(
    signature: Signature, documentation: Documentation, *, checked: bool = True
) -> Inputs:
    """Derive the input schema of `signature` and the conversion of its arguments.

    With `checked`, arguments are known to satisfy the derived schema before they are converted;
    without it (the author wrote another schema) their types have yet to be found out.
    """
    fields = [_Field.read(parameter) for parameter in signature.parameters]
    described = _describe_plain(fields, checked=checked) or _describe_typed(
        fields, signature.label, checked=checked
    )
    by_parameter = {parameter: name for name, parameter in described.names.items()}
    for field in fields:
        schema = described.properties[by_parameter[field.name]]
        text = field.description or documentation.parameters.get(field.name)
        if text and "description" not in schema:
            schema["description"] = text
        publish_default(field.default, schema)
    required = [by_parameter[field.name] for field in fields if field.required]
    document = _close(described.properties, required, described.definitions)
    return Inputs(
        document=publish(document),
        enforced=to_read(document),
        names=described.names,
        required=frozenset(required),
        numbers=described.numbers,
        structs=described.structs,
        validate_json=described.validate_json,
        validate_python=described.validate_python,
        fresh=tuple((field.name, field.default) for field in fields if is_mutable(field.default)),
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


class _Field(msgspec.Struct, frozen=True):
    """A parameter with what its `Annotated` and its `Field` default said taken apart."""

    name: str
    annotation: Any
    default: Any
    required: bool
    description: str | None

    @classmethod
    def read(cls, parameter: Parameter) -> _Field:
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
                required = required and note.is_required()
        return cls(parameter.name, annotation, default, required, description)


class _Described(msgspec.Struct, frozen=True):
    """The properties of some parameters, and the parts of `Inputs` that convert their values."""

    properties: Document
    definitions: Mapping[str, Document]
    names: dict[str, str]
    numbers: Fields | None = None
    structs: tuple[tuple[str, Any], ...] = ()
    validate_json: Callable[..., dict[str, Any]] | None = None
    validate_python: Callable[..., dict[str, Any]] | None = None


def _describe_plain(fields: list[_Field], *, checked: bool) -> _Described | None:
    """Describe parameters that are JSON already; `None` if any is not, or is to be found out."""
    described = plain.describe(field.annotation for field in fields)
    if described is None:
        return None
    forms, definitions = described
    if not checked and any(form.schema for form in forms):
        return None
    return _Described(
        properties={field.name: form.schema for field, form in zip(fields, forms, strict=True)},
        definitions=definitions,
        names={field.name: field.name for field in fields},
        numbers=_numbers(fields, [form.convert for form in forms]),
    )


def _describe_typed(fields: list[_Field], label: str, *, checked: bool) -> _Described:
    """Describe parameters with the help of pydantic and msgspec."""
    adapter, structured, definitions = _share_out(fields, label)
    aliases = {} if adapter is None else {field: name for name, field in adapter.names.items()}
    properties: Document = {}
    names: dict[str, str] = {}
    for field in fields:
        name = aliases.get(field.name, field.name)
        if name in names:
            raise ToolDefinitionError(f"{label}: two parameters are called '{name}'; change one")
        names[name] = field.name
        found = structured.get(field.name)
        properties[name] = (
            cast("ArgumentsAdapter", adapter).properties[name] if found is None else found
        )
    conversions = plain.conversions(field.annotation for field in fields) if checked else None
    if conversions is not None:
        # Types that need a library to describe them, and nothing to convert them.
        return _Described(properties, definitions, names, numbers=_numbers(fields, conversions))
    return _Described(
        properties,
        definitions,
        names,
        structs=tuple(
            (field.name, field.annotation) for field in fields if field.name in structured
        ),
        validate_json=None if adapter is None else adapter.validate_json,
        validate_python=None if adapter is None else adapter.validate_python,
    )


def _numbers(fields: list[_Field], conversions: Sequence[Conversion | None]) -> Fields | None:
    numbers = Fields()
    for field, conversion in zip(fields, conversions, strict=True):
        if conversion is not None and changes(conversion):
            numbers.by_key[field.name] = conversion
            if not field.required:
                numbers.optional.add(field.name)
    return numbers if numbers.by_key else None


def _share_out(
    fields: list[_Field], label: str
) -> tuple[ArgumentsAdapter | None, dict[str, Document], dict[str, Document]]:
    """Give each parameter to pydantic, or to msgspec if pydantic does not know its type."""
    from anyshape.tools.pydantic_types import UnsupportedError, adapt_arguments

    structured = {
        field.name: field for field in fields if msgspec_types.needs_msgspec(field.annotation)
    }
    for name, field in structured.items():
        if msgspec_types.overlooks(field.annotation):
            raise ToolDefinitionError(
                f"{label}: parameter '{name}' is a msgspec type, for which notes of pydantic or "
                f"annotated_types mean nothing; use msgspec.Meta"
            )
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
            name, reason = _find_unsupported(rest, str(error), label)
            field = next(field for field in fields if field.name == name)
            if not _has_msgspec_schema(field.annotation):
                raise ToolDefinitionError(
                    f"{label}: parameter '{name}' has no JSON Schema ({reason}); use a type "
                    f"that pydantic or msgspec understands, or bind it with functools.partial"
                ) from error
            if msgspec_types.overlooks(field.annotation):
                raise ToolDefinitionError(
                    f"{label}: parameter '{name}' has notes that only pydantic reads, and pydantic "
                    f"does not read its type ({reason})"
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


def _find_unsupported(
    fields: Mapping[str, tuple[Any, bool]], reason: str, label: str
) -> tuple[str, str]:
    from anyshape.tools.pydantic_types import UnsupportedError, adapt_arguments

    for name, field in fields.items():
        try:
            adapt_arguments({name: field})
        except UnsupportedError as error:
            return name, str(error)
    names = ", ".join(fields)
    raise ToolDefinitionError(f"{label}: parameters {names} do not go together: {reason}")


def _has_msgspec_schema(annotation: Any) -> bool:
    try:
        msgspec_types.schemas_of([annotation])
    except (TypeError, NameError):
        return False
    return True


def _close(
    properties: Document, required: list[str], definitions: Mapping[str, Document]
) -> Document:
    # Some hosts look `properties` up in every tool, empty or not.
    document: Document = {"type": "object", "properties": properties}
    if required:
        document["required"] = required
    document["additionalProperties"] = False
    return arrange(document, definitions)


def _annotate(annotation: Any, notes: list[Any]) -> Any:
    return _ANNOTATED[(annotation, *notes)] if notes else annotation


def _is_field_info(value: Any) -> bool:
    # By name: asking pydantic would load it for every tool.
    cls = cast("type[Any]", type(value))
    return cls.__name__ == "FieldInfo" and cls.__module__ == "pydantic.fields"
