"""Every type pydantic understands: its schema, and how its values come in and go out.

This module imports pydantic, which takes longer to load than the rest of Anyshape; it is imported
by the first tool that needs it. Arguments are validated as strict JSON: dates and the like are
read from strings, and nothing else changes its type.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, NotRequired, cast

import pydantic_core
from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

from anyshape.errors import Problem
from anyshape.tools.formats import loosen
from anyshape.tools.lean import arrange
from anyshape.tools.outputs import ToBuiltins
from anyshape.tools.pydantic_forms import shortcut
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

_MISTAKES = (PydanticUserError, PydanticUndefinedAnnotation, NameError, TypeError, AttributeError)


_JSON_SCALARS = frozenset((str, int, bool, type(None)))


class UnsupportedError(Exception):
    """Pydantic has no schema for a type; the message is its reason, in one line."""


class LeanSchema(GenerateJsonSchema):
    """Pydantic's JSON Schema without the titles it makes up, in the order things were declared.

    A union member without a schema is an error here: leaving it out, as pydantic would, publishes
    less than the type says. So is a class as a value, for which pydantic would publish `{}`. The
    OpenAPI `discriminator` has no meaning in JSON Schema, where `oneOf` over constants already says
    the same.

    Formats that Python's dates and durations keep only loosely are marked: see `formats`.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _untitled(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _untitled(super().dataclass_schema(schema), schema["cls"])

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _untitled(super().typed_dict_schema(schema), schema.get("cls"))

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        document = super().generate_inner(schema)
        if schema["type"] == "enum":
            # Pydantic sets this title late, on the definition itself.
            _untitled(self.resolve_ref_schema(document), schema["cls"])
        return document

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return _loosened(super().datetime_schema(schema), schema)

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return _loosened(super().time_schema(schema), schema)

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        return _loosened(super().timedelta_schema(schema), schema)

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        return self.handle_invalid_for_json_schema(schema, f"a class ({schema['cls'].__name__})")

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        document = super().tagged_union_schema(schema)
        document.pop("discriminator", None)
        return document

    def list_schema(self, schema: core_schema.ListSchema) -> JsonSchemaValue:
        return _without_empty_items(super().list_schema(schema))

    def set_schema(self, schema: core_schema.SetSchema) -> JsonSchemaValue:
        return _without_empty_items(super().set_schema(schema))

    def frozenset_schema(self, schema: core_schema.FrozenSetSchema) -> JsonSchemaValue:
        return _without_empty_items(super().frozenset_schema(schema))

    def tuple_schema(self, schema: core_schema.TupleSchema) -> JsonSchemaValue:
        return _without_empty_items(super().tuple_schema(schema))

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        document = super().dict_schema(schema)
        if document.get("additionalProperties") is True:
            del document["additionalProperties"]
        return document

    def encode_default(self, dft: Any) -> Any:
        if type(dft) in _JSON_SCALARS:
            return dft  # what pydantic would say too, by way of an adapter made for it
        return super().encode_default(_with_sorted_sets(dft))

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value

    def emit_warning(self, kind: Any, detail: str) -> None:
        if kind == "skipped-choice":
            raise PydanticInvalidForJsonSchema(detail)


@dataclasses.dataclass(frozen=True, slots=True)
class ArgumentsAdapter:
    """All parameters that pydantic reads, together: they share definitions and one pass.

    `properties` are keyed by JSON name, `names` maps each of those to its parameter.
    `validate_python` is there if decoded JSON may be read in place of its text.
    """

    properties: Document
    definitions: dict[str, Document]
    names: dict[str, str]
    validate_json: Callable[..., dict[str, Any]]
    validate_python: Callable[..., dict[str, Any]] | None


@dataclasses.dataclass(frozen=True, slots=True)
class OutputAdapter:
    """How values of one return annotation become JSON: see `pydantic_forms` for the shortcut."""

    document: Document
    to_builtins: ToBuiltins
    shortcut: Callable[[], ToBuiltins] | None


def adapt_arguments(fields: Mapping[str, tuple[Any, bool]]) -> ArgumentsAdapter:
    """Adapt the parameters in `fields`: for each name its annotation, and whether it is required.

    Raises `UnsupportedError` if any of them has no schema.
    """
    make_typed_dict: Any = TypedDict  # the names are known only now, so no checker can follow
    arguments = make_typed_dict(
        "Arguments",
        {
            name: annotation if required else NotRequired[annotation]
            for name, (annotation, required) in fields.items()
        },
    )
    arguments.__pydantic_config__ = ConfigDict(extra="ignore")
    adapter, document = _adapt(arguments, "validation")
    properties = document.get("properties", {})
    if len(properties) < len(fields):
        raise UnsupportedError("two parameters have the same alias")
    validator = adapter.validator
    return ArgumentsAdapter(
        properties=properties,
        definitions=document.get("$defs", {}),
        names=dict(zip(properties, fields, strict=True)),
        validate_json=validator.validate_json,
        validate_python=(validator.validate_python if reads_decoded(adapter.core_schema) else None),
    )


def adapt_output(annotation: Any) -> OutputAdapter:
    """Adapt a return annotation; raises `UnsupportedError` if it has no schema."""
    try:
        return _adapt_output(annotation)
    except TypeError:
        return _adapt_output.__wrapped__(annotation)  # not hashable


@functools.lru_cache(maxsize=256)
def _adapt_output(annotation: Any) -> OutputAdapter:
    adapter, document = _adapt(annotation, "serialization")
    to_python = adapter.serializer.to_python

    def to_builtins(value: Any) -> Any:
        # A value that is not of its type is serialized as what it is; the schema then judges it.
        return to_python(value, mode="json", by_alias=True, warnings=False)

    definitions = document.pop("$defs", {})
    return OutputAdapter(arrange(document, definitions), to_builtins, shortcut(adapter.core_schema))


def to_json_value(value: Any) -> Any:
    """Return a value of no declared type as JSON types: models, dataclasses, dates and all."""
    return pydantic_core.to_jsonable_python(value, by_alias=True)


def default_to_json(value: Any) -> Any:
    """Return a parameter's default as JSON types, the same on every start."""
    return pydantic_core.to_jsonable_python(_with_sorted_sets(value), by_alias=True)


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
            path += "/" + str(step).replace("~", "~0").replace("/", "~1")
        elif isinstance(value, list) and isinstance(step, int) and step < len(cast("Any", value)):
            value = cast("list[Any]", value)[step]
            path += f"/{step}"
    return path


def _adapt(annotation: Any, mode: JsonSchemaMode) -> tuple[TypeAdapter[Any], Document]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        return adapter, adapter.json_schema(
            mode=mode, schema_generator=LeanSchema, by_alias=True, ref_template="#/$defs/{model}"
        )
    except _MISTAKES as error:
        if getattr(error, "code", None) == "class-not-fully-defined":
            raise UnsupportedError(
                "a type it refers to is not defined yet; define that before the tool"
            ) from error
        # Its first sentence; what follows is about configuring models.
        raise UnsupportedError(re.split(r"\n|\. |\.$", str(error).strip())[0]) from error


def _untitled(document: JsonSchemaValue, cls: Any) -> JsonSchemaValue:
    """Remove the title that is only the name of the class, unless its author asked for it."""
    if cls is None or document.get("title") != cls.__name__:
        return document
    config: Mapping[str, Any] = getattr(cls, "model_config", None) or getattr(
        cls, "__pydantic_config__", {}
    )
    extra = config.get("json_schema_extra")
    written = isinstance(extra, dict) and "title" in extra
    if not written and config.get("title") is None and not config.get("model_title_generator"):
        del document["title"]
    return document


def _loosened(document: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    if schema.get("tz_constraint") in (None, "naive"):
        loosen(document)
    return document


def _without_empty_items(document: JsonSchemaValue) -> JsonSchemaValue:
    if document.get("items") == {}:
        del document["items"]
    return document


def _with_sorted_sets(value: Any) -> Any:
    """Return `value` with every set in it as a sorted list: hashing is different on every start."""
    if isinstance(value, set | frozenset):
        items = [_with_sorted_sets(item) for item in cast("set[Any]", value)]
        return sorted(items, key=lambda item: pydantic_core.to_json(item, fallback=repr))
    if isinstance(value, list | tuple):
        return [_with_sorted_sets(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        mapping = cast("dict[Any, Any]", value)
        return {key: _with_sorted_sets(item) for key, item in mapping.items()}
    if isinstance(value, BaseModel):
        return _with_sorted_sets(value.model_dump(by_alias=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: _with_sorted_sets(getattr(value, field.name)) for field in fields}
    return value
