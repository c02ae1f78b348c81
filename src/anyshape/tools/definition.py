"""Everything about a tool that is decided when it is made, from a function or a handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from anyshape.documents.positions import Node
from anyshape.errors import (
    LimitExceeded,
    NotJson,
    SchemaError,
    ToolDefinitionError,
    UnresolvableReference,
)
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.headers import HeaderPlan, header_plan
from anyshape.protocol.result import ABSENT, Absent
from anyshape.schema import Limits, Schema, compile
from anyshape.tools.argument_names import check_names
from anyshape.tools.binding import Bind, bind_parameters, bind_whole_object
from anyshape.tools.docstrings import Documentation, read_docstring
from anyshape.tools.inputs import describe_inputs, takes_whole_object
from anyshape.tools.outputs import GivenOutputSchema, Output, describe_output
from anyshape.tools.results import Finish, finisher
from anyshape.tools.serialization import encoder
from anyshape.tools.signature import EMPTY, Signature, read_signature
from anyshape.tools.words import Words


class ToolDefinition(msgspec.Struct, frozen=True):
    """What was decided: the listing, the checks, and the steps of a call."""

    listing: ToolDescription
    input: Schema
    output: Schema | None
    headers: HeaderPlan
    bind: Bind
    finish: Finish
    signature: Signature


_Taken: TypeAlias = tuple[Node, Schema, Bind]
"""The arguments' side of a definition: what is published, enforced and run."""


def define_function(
    function: Callable[..., Any],
    words: Words,
    *,
    input_schema: Mapping[str, Any] | None,
    output_schema: GivenOutputSchema,
    limits: Limits,
) -> ToolDefinition:
    """Define a tool from a function, deriving the schemas that were left out."""
    signature = read_signature(function, allow_variable=input_schema is not None)
    documentation = read_docstring(docstring_of(function))
    words = words.or_else(signature.name, documentation.description)
    if input_schema is None:
        taken = derive_input(signature, documentation, limits)
    else:
        taken = _read_input(input_schema, signature, limits)
    output = describe_output(signature.returns, output_schema, signature.label)
    return _define(signature, words, taken, output, limits)


def define_handler(
    handler: Callable[..., Any],
    words: Words,
    *,
    input_schema: Mapping[str, Any],
    output_schema: GivenOutputSchema,
    limits: Limits,
) -> ToolDefinition:
    """Define a tool from a handler, which takes all arguments as one dict."""
    signature = read_signature(handler)
    if len(signature.parameters) != 1:
        raise ToolDefinitionError(
            f"{signature.label}: a handler takes the arguments as one dict, and a Context if it "
            f"likes, but this one has {len(signature.parameters)} parameters for them; use "
            f"Tool.from_function for a function with parameters of its own"
        )
    document, schema = _compile_written(input_schema, signature.label, limits)
    taken = (document, schema, bind_whole_object(schema, signature.parameters[0].name))
    output = describe_output(EMPTY, output_schema, signature.label)
    return _define(signature, words, taken, output, limits)


def _define(
    signature: Signature, words: Words, taken: _Taken, output: Output, limits: Limits
) -> ToolDefinition:
    label = signature.label
    words = words.checked(label)
    name = cast("str", words.name)
    document, schema, bind = taken
    promised = output.document
    checked = None if promised is ABSENT else compile_schema(promised, "output", label, limits)
    try:
        headers = header_plan(document)
    except SchemaError as error:
        raise ToolDefinitionError(f"{label}: {error.message}{_at(error.path)}") from error
    return ToolDefinition(
        listing=ToolDescription(
            name=name,
            input_schema=document,
            title=words.title,
            description=words.description,
            output_schema=_published(output, checked),
            annotations=words.annotations,
            meta=words.meta,
            icons=words.icons,
        ),
        input=schema,
        output=checked,
        headers=headers,
        bind=bind,
        finish=finisher(name, output.kind, encoder(output, checked), promises=checked is not None),
        signature=signature,
    )


def derive_input(signature: Signature, documentation: Documentation, limits: Limits) -> _Taken:
    """Derive what a function takes from its parameters: what is published, enforced and run."""
    inputs = describe_inputs(signature, documentation)
    schema = compile_schema(inputs.enforced, "input", signature.label, limits)
    bind = bind_parameters(schema, inputs, derived=True, takes_any=False)
    return (inputs.document, schema, bind)


def _read_input(written: Mapping[str, Any], signature: Signature, limits: Limits) -> _Taken:
    """Take the author's own schema, and decide how what it accepts reaches the parameters."""
    document, schema = _compile_written(written, signature.label, limits)
    whole = takes_whole_object(signature, document)
    if whole is not None:
        return (document, schema, bind_whole_object(schema, whole))
    inputs = describe_inputs(signature, Documentation(), checked=False)
    takes_any = signature.variable is not None
    check_names(
        document,
        signature.label,
        takes={name: name in inputs.required for name in inputs.names},
        takes_any=takes_any,
    )
    bind = bind_parameters(schema, inputs, derived=False, takes_any=takes_any)
    return (document, schema, bind)


def _published(output: Output, checked: Schema | None) -> dict[str, Any] | bool | Absent:
    if checked is None:
        return ABSENT
    return checked.document if output.published is None else output.published


def _compile_written(written: Mapping[str, Any], label: str, limits: Limits) -> tuple[Node, Schema]:
    """Return a copy of what an author wrote, so that changing it later changes no tool."""
    if not isinstance(cast("object", written), Mapping):
        is_class = isinstance(cast("object", written), type)
        got = "a class; take its fields as parameters" if is_class else type(written).__name__
        raise ToolDefinitionError(
            f"{label}: input_schema has to be a JSON Schema object, got {got}"
        )
    schema = compile_schema(written, "input", label, limits)
    return cast("Node", schema.document), schema


def compile_schema(document: Any, role: Any, label: str, limits: Limits) -> Schema:
    """Compile a schema of the function that messages call `label`."""
    try:
        return compile(document, role=role, limits=limits)
    except UnresolvableReference as error:
        raise ToolDefinitionError(
            f"{label}: {role}_schema{_at(error.path)}: the reference leads to {error.uri[:100]!r}, "
            f"which is not in the document; put what it names under $defs, as clients fetch nothing"
        ) from error
    except SchemaError as error:
        # Most of these messages name the place themselves.
        where = "" if error.path in error.message else _at(error.path)
        raise ToolDefinitionError(f"{label}: {role}_schema{where}: {error.message}") from error
    except LimitExceeded as error:
        raise ToolDefinitionError(f"{label}: {role}_schema: {error.message}") from error
    except NotJson as error:
        raise ToolDefinitionError(f"{label}: {role}_schema is not JSON: {error}") from error


def docstring_of(function: Any) -> str | None:
    """Return the docstring that the author of a callable wrote."""
    while hasattr(function, "func") and hasattr(function, "keywords"):
        function = function.func  # a partial's own docstring is about functools.partial
    text = getattr(function, "__doc__", None)
    if hasattr(function, "__code__") or hasattr(function, "__func__"):
        return text
    return text or getattr(type(function).__call__, "__doc__", None)


def _at(path: str) -> str:
    return f" at {path}" if path else ""
