"""Every type that pydantic understands.

This module imports pydantic, which takes longer to load than the rest of Anyshape; it is imported
by the first tool that needs it. Arguments are validated as strict JSON: dates and the like are
read from strings, and nothing else changes its type.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NotRequired, cast

import pydantic_core
from msgspec.structs import replace
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from anyshape.decoding import decode_json
from anyshape.documents.pointers import escape
from anyshape.errors import Problem
from anyshape.protocol.encoding import encode_data
from anyshape.tools.dict_keys import check_keys
from anyshape.tools.inlining import arrange
from anyshape.tools.signature import Parameter
from anyshape.tools.types.library import (
    ArgumentsError,
    ParameterTypes,
    ReadArguments,
    UnsupportedError,
    ValueType,
)
from anyshape.tools.types.numbers import with_whole_numbers
from anyshape.tools.types.pydantic_cache import DescriptionCache, key_of
from anyshape.tools.types.pydantic_core_schemas import has_other_keys, reads_decoded
from anyshape.tools.types.pydantic_schemas import (
    copy_schema,
    describe_fields,
    explain_mistakes,
    generate,
    with_sorted_sets,
)
from anyshape.typed_reading import LONG, TypedReader, flaws_of

_values: Final = DescriptionCache[ValueType]()
_KEY: Final = "[key]"
"""The last step of where pydantic finds a wrong key of a dict."""


def describe_parameters(
    parameters: Sequence[Parameter], used: Collection[str] = ()
) -> ParameterTypes:
    """Describe parameters together, so that they share definitions and are read in one pass.

    Raises `UnsupportedError` if any of them has no schema. Pydantic is asked first, so that none of
    its definitions has a name that is `used`.
    """
    make_typed_dict: Any = TypedDict  # the names are known only now, so no checker can follow
    if any(isinstance(parameter.annotation, dict) for parameter in parameters):
        raise UnsupportedError("a dict is no type")  # Pydantic takes it for a schema of its own.
    try:
        arguments = make_typed_dict(
            "Arguments",
            {
                parameter.name: parameter.annotation
                if parameter.required
                else NotRequired[parameter.annotation]
                for parameter in parameters
            },
        )
    except TypeError as error:  # No type at all, such as ClassVar; typing says so in its own words.
        raise UnsupportedError(str(error)) from error
    arguments.__pydantic_config__ = ConfigDict(extra="ignore")
    with explain_mistakes():
        adapter: TypeAdapter[Any] = TypeAdapter(arguments)
        schema = cast("dict[str, Any]", adapter.core_schema)
        annotations = {parameter.name: parameter.annotation for parameter in parameters}
        described = describe_fields(schema, annotations)
    reader = TypedReader(adapter)
    read = _read_text(reader)
    return replace(described, read=_read_decoded(reader, read) if reads_decoded(schema) else read)


def describe_value(annotation: Any) -> ValueType:
    """Describe a return annotation; raises `UnsupportedError` if it has no schema."""
    key = key_of(annotation)
    known = _values.get(key)
    if known is not None:
        return replace(known, schema=copy_schema(known.schema))
    with explain_mistakes():
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        schema = cast("dict[str, Any]", adapter.core_schema)
        document, lasts = generate(schema, "serialization")
    to_python = adapter.serializer.to_python

    def write(value: Any) -> Any:
        # A value that is not of its type is serialized as what it is; the schema then judges it.
        return to_python(value, mode="json", by_alias=True, warnings=False, fallback=_to_builtin)

    def check_keys_first(value: Any) -> Any:
        check_keys(value, to_json_value)
        return write(value)

    described = ValueType(
        arrange(document, document.pop("$defs", {})),
        check_keys_first if has_other_keys(schema) else write,
    )
    if key is not None and lasts:
        _values.put(key, replace(described, schema=copy_schema(described.schema)))
    return described


def _read_text(reader: TypedReader) -> ReadArguments:
    """Return what reads arguments from their text."""

    def read(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        text = b"{}" if raw is None else raw
        try:
            return reader.of(len(text)).validate_json(text, strict=True)
        except ValidationError as error:
            whole = with_whole_numbers(arguments)
            try:
                if whole is arguments:
                    raise error
                text = encode_data(whole)
                return reader.of(len(text)).validate_json(text, strict=True)
            except ValidationError as again:
                raise ArgumentsError(_problems_of(again, arguments)) from None

    return read


def _read_decoded(reader: TypedReader, read_text: ReadArguments) -> ReadArguments:
    """Return what reads decoded arguments, which were decoded to be checked."""
    usual = reader.usual.validate_python

    def read(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        validate = usual
        if raw is not None and len(raw) > LONG:
            validate = reader.of(len(raw)).validate_python
        try:
            return validate(arguments, strict=True)
        except ValidationError:
            # The text has the last word, and says what is wrong. Decoded anew: validators that an
            # author wrote may have changed what was decoded before.
            return read_text({} if raw is None else decode_json(raw), raw)

    return read


def to_json_value(value: Any) -> Any:
    """Return a value of no declared type as JSON types: models, dataclasses, dates and all."""
    return pydantic_core.to_jsonable_python(value, by_alias=True, fallback=_to_builtin)


def _to_builtin(value: Any) -> Any:
    """Return what pydantic does not know as a dict or a list, if it is one by another name.

    Numbers and arrays of numpy, and of those who follow it, say by `tolist` what they are.
    """
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if isinstance(value, Sequence):
        return list(cast("Sequence[Any]", value))
    if hasattr(value, "tolist"):
        return value.tolist()
    cls = cast("type[Any]", type(value))
    raise TypeError(
        f"{cls.__module__}.{cls.__qualname__} is no JSON type; make a dict, a list or a model of "
        f"what it holds"
    )


def default_to_json(value: Any) -> Any:
    """Return a parameter's default as JSON types, the same on every start."""
    return pydantic_core.to_jsonable_python(with_sorted_sets(value), by_alias=True)


def _problems_of(error: ValidationError, arguments: Any) -> list[Problem]:
    """Return what pydantic found wrong with `arguments`, with paths that point into them."""
    return [
        _problem_at(entry["loc"], entry["type"], entry["msg"], arguments)
        for entry in flaws_of(error)
    ]


def _problem_at(
    location: tuple[int | str, ...], kind: str, message: str, arguments: Any
) -> Problem:
    """Return one problem; what is missing has no place, and a wrong key is not its value."""
    message = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    path = _path_of(location, arguments)
    if kind == "missing":
        what = "item" if isinstance(location[-1], int) else "property"
        message = f"missing required {what} {encode_data(location[-1]).decode()}"
    elif location[-1:] == (_KEY,) and not path.endswith(f"/{_KEY}"):
        name = encode_data(str(location[-2])[:100]).decode()
        message = f"property name {name}: {message}"
        path = _path_of(location[:-2], arguments)
    return Problem(keyword=kind, path=path, message=message, schema_path="")


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
