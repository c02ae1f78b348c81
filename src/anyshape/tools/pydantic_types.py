"""Every type pydantic understands: its schema, and how its values come in and go out.

This module imports pydantic, which takes longer to load than the rest of Anyshape; it is imported
by the first tool that needs it. Arguments are validated as strict JSON: dates and the like are
read from strings, and nothing else changes its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NotRequired, cast

import msgspec
import pydantic_core
from msgspec.structs import replace
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from anyshape.documents.pointers import escape
from anyshape.errors import Problem
from anyshape.tools.kept import Kept, is_lasting, key_of
from anyshape.tools.keys import check_keys, core_schema_has_other_keys
from anyshape.tools.lean import arrange
from anyshape.tools.outputs import ToBuiltins
from anyshape.tools.pydantic_documents import (
    UnsupportedError,
    copy_document,
    describe_parameters,
    explain_mistakes,
    generate,
    with_sorted_sets,
)
from anyshape.tools.pydantic_modes import reads_decoded

__all__ = [
    "ArgumentsAdapter",
    "OutputAdapter",
    "UnsupportedError",
    "adapt_arguments",
    "adapt_output",
    "default_to_json",
    "problems_of",
    "to_json_value",
]

Document = dict[str, Any]


class ArgumentsAdapter(msgspec.Struct, frozen=True):
    """All parameters that pydantic reads, together: they share definitions and one pass.

    `properties` are keyed by JSON name, `names` maps each of those to its parameter.
    `validate_python` is there if decoded JSON may be read in place of its text.
    """

    properties: Document
    definitions: Document
    names: dict[str, str]
    validate_json: Callable[..., dict[str, Any]]
    validate_python: Callable[..., dict[str, Any]] | None


class OutputAdapter(msgspec.Struct, frozen=True):
    """The schema of one return annotation, and how its values become JSON."""

    document: Document
    to_builtins: ToBuiltins


def adapt_arguments(fields: Mapping[str, tuple[Any, bool]]) -> ArgumentsAdapter:
    """Adapt the parameters in `fields`: for each name its annotation, and whether it is required.

    Raises `UnsupportedError` if any of them has no schema.
    """
    make_typed_dict: Any = TypedDict  # the names are known only now, so no checker can follow
    try:
        arguments = make_typed_dict(
            "Arguments",
            {
                name: annotation if required else NotRequired[annotation]
                for name, (annotation, required) in fields.items()
            },
        )
    except TypeError as error:  # No type at all, such as ClassVar; typing says so in its own words.
        raise UnsupportedError(str(error)) from error
    arguments.__pydantic_config__ = ConfigDict(extra="ignore")
    with explain_mistakes():
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        schema = cast("dict[str, Any]", adapter.core_schema)
        described = describe_parameters(
            schema, {name: annotation for name, (annotation, _) in fields.items()}
        )
    validator = adapter.validator
    return ArgumentsAdapter(
        properties=described.properties,
        definitions=described.definitions,
        names=described.names,
        validate_json=validator.validate_json,
        validate_python=validator.validate_python if reads_decoded(schema) else None,
    )


_outputs: Final = Kept[OutputAdapter]()


def adapt_output(annotation: Any) -> OutputAdapter:
    """Adapt a return annotation; raises `UnsupportedError` if it has no schema."""
    key = key_of(annotation)
    known = _outputs.get(key)
    if known is not None:
        return replace(known, document=copy_document(known.document))
    with explain_mistakes():
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = cast("dict[str, Any]", adapter.core_schema)
        document = generate(schema, "serialization")
    to_python = adapter.serializer.to_python

    def to_builtins(value: Any) -> Any:
        # A value that is not of its type is serialized as what it is; the schema then judges it.
        return to_python(value, mode="json", by_alias=True, warnings=False)

    def check_keys_first(value: Any) -> Any:
        check_keys(value, to_json_value)
        return to_builtins(value)

    definitions = document.pop("$defs", {})
    adapted = OutputAdapter(
        arrange(document, definitions),
        check_keys_first if core_schema_has_other_keys(schema) else to_builtins,
    )
    if key is not None and is_lasting(schema):
        _outputs.keep(key, replace(adapted, document=copy_document(adapted.document)))
    return adapted


def to_json_value(value: Any) -> Any:
    """Return a value of no declared type as JSON types: models, dataclasses, dates and all."""
    return pydantic_core.to_jsonable_python(value, by_alias=True)


def default_to_json(value: Any) -> Any:
    """Return a parameter's default as JSON types, the same on every start."""
    return pydantic_core.to_jsonable_python(with_sorted_sets(value), by_alias=True)


def problems_of(error: ValidationError, arguments: Any) -> list[Problem]:
    """Return what pydantic found wrong with `arguments`, with paths that point into them."""
    return [
        Problem(
            keyword=entry["type"],
            path=_path_of(entry["loc"], arguments),
            message=entry["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, "),
            schema_path="",
        )
        for entry in error.errors(include_url=False, include_context=False, include_input=False)
    ]


def _path_of(location: tuple[int | str, ...], arguments: Any) -> str:
    """Turn pydantic's location into a JSON Pointer: it also names union members, we do not."""
    path = ""
    value = arguments
    for step in location:
        if isinstance(value, dict) and step in value:
            value = cast("dict[Any, Any]", value)[step]
            path += "/" + escape(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(cast("Any", value)):
            value = cast("list[Any]", value)[step]
            path += f"/{step}"
    return path
