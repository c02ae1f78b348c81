"""A callable's parameters become an input schema, and a way to turn arguments into them.

Derived input schemas are closed (`additionalProperties: false`): the function can take no other
name, so a misspelt argument is refused with a message that says so, instead of being dropped
while the model believes it was heard. It is also what the specification recommends for tools
without parameters.
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, MutableMapping
from typing import Any, cast, get_args, get_origin

import msgspec
from msgspec.structs import replace

from anyshape.documents.positions import Node
from anyshape.tools.argument_names import mentions
from anyshape.tools.defaults import is_mutable, publish_default
from anyshape.tools.docstrings import Documentation
from anyshape.tools.formats import publish, to_read
from anyshape.tools.inlining import arrange
from anyshape.tools.notes import annotate
from anyshape.tools.signature import EMPTY, Parameter, Signature
from anyshape.tools.types import ReadArguments, describe_parameters


class Inputs(msgspec.Struct, frozen=True):
    """The derived schema of a function's parameters, and how their values are read.

    `document` is what is published; `enforced` leaves to `read` what that knows better. `names`
    maps JSON names to parameters. Where `read` is `None`, decoded arguments are the values.
    """

    document: Node
    enforced: Node
    names: dict[str, str]
    required: frozenset[str]
    read: ReadArguments | None
    fresh: tuple[tuple[str, Any], ...]
    """Parameters whose default is mutable: each call that leaves one out gets its own copy."""


def describe_inputs(
    signature: Signature, documentation: Documentation, *, checked: bool = True
) -> Inputs:
    """Derive the input schema of `signature`, and how its arguments are read.

    With `checked`, arguments are known to satisfy the derived schema before they are read; without
    it (the author wrote another schema) their types have yet to be found out.
    """
    parameters = [_without_words(parameter) for parameter in signature.parameters]
    described = describe_parameters(parameters, signature.label, checked=checked)
    json_names = {parameter: name for name, parameter in described.names.items()}
    for parameter in parameters:
        schema = described.schemas[json_names[parameter.name]]
        text = parameter.description or documentation.parameters.get(parameter.name)
        if text and "description" not in schema:
            schema["description"] = text
        publish_default(parameter.default, schema)
    required = [json_names[parameter.name] for parameter in parameters if parameter.required]
    document = _close(described.schemas, required, described.definitions)
    fresh = [(item.name, item.default) for item in parameters if is_mutable(item.default)]
    unfilled = {
        json_names[item.name]: item.name
        for item in parameters
        if item.default is not EMPTY and _has_default(item.annotation)
    }
    read = described.read
    return Inputs(
        document=publish(document),
        enforced=to_read(document),
        names=described.names,
        required=frozenset(required),
        read=read if read is None or not unfilled else _leave_out(read, unfilled),
        fresh=tuple(fresh),
    )


def takes_whole_object(signature: Signature, document: Node) -> str | None:
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


def _without_words(parameter: Parameter) -> Parameter:
    """Return a parameter with its description taken out of `Annotated`, and its `Field` put in."""
    annotation = Any if parameter.annotation is EMPTY else parameter.annotation
    default = parameter.default
    description: str | None = None
    if get_origin(annotation) is typing.Annotated:
        bare, *notes = get_args(annotation)
        others: list[Any] = []
        for note in notes:
            words = note if isinstance(note, str) else getattr(note, "documentation", None)
            if isinstance(words, str):
                description = words
            else:
                others.append(note)
        annotation = annotate(bare, others)
    if _is_field_info(default):
        annotation = annotate(annotation, [default])
        default = EMPTY
    return replace(
        parameter,
        annotation=annotation,
        default=default,
        required=default is EMPTY and not _has_default(annotation),
        description=description,
    )


def _close(properties: Node, required: list[str], definitions: Mapping[str, Node]) -> Node:
    # Some hosts look `properties` up in every tool, empty or not.
    document: Node = {"type": "object", "properties": properties}
    if required:
        document["required"] = required
    document["additionalProperties"] = False
    return arrange(document, definitions)


def _has_default(annotation: Any) -> bool:
    """Tell whether a `Field` of an annotation has a default."""
    notes = get_args(annotation)[1:] if get_origin(annotation) is typing.Annotated else ()
    return any(_is_field_info(note) and not note.is_required() for note in notes)


def _leave_out(read: ReadArguments, unfilled: Mapping[str, str]) -> ReadArguments:
    """Return what reads arguments, and has the function fill parameters that were not given.

    `unfilled` are those parameters by their JSON names; a default of the annotation's, which the
    library that reads would fill in, counts less than that of the function.
    """

    def read_given(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        absent = [parameter for name, parameter in unfilled.items() if name not in arguments]
        values = read(arguments, raw)
        for parameter in absent:
            values.pop(parameter, None)
        return values

    return read_given


def _is_field_info(value: Any) -> bool:
    # By name: asking pydantic would load it for every tool.
    cls = cast("type[Any]", type(value))
    return cls.__name__ == "FieldInfo" and cls.__module__ == "pydantic.fields"
