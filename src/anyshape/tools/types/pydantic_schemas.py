"""JSON Schemas as pydantic writes them, without titles that it made up, and once for each type.

The schemas of parameters that tools have in common come from a cache (see `pydantic_cache`), and
are copied for each tool, as what one tool says about its parameter is not said of another's.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import pydantic_core
from pydantic import BaseModel, PydanticUserError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from anyshape.documents.positions import Node
from anyshape.tools.formats import loosen
from anyshape.tools.types.flags import describe_flags
from anyshape.tools.types.library import ParameterTypes, UnsupportedError
from anyshape.tools.types.property_names import has_missing, leave_out_other_names, list_names
from anyshape.tools.types.pydantic_cache import DescriptionCache, is_pydantics, key_of
from anyshape.tools.types.pydantic_constraints import patterns_in, state_bounds, state_pattern

_MISTAKES = (
    *(PydanticUserError, PydanticUndefinedAnnotation, pydantic_core.PydanticSerializationError),
    *(NameError, TypeError, AttributeError, pydantic_core.SchemaError, RuntimeError),
)
_JSON_SCALARS = frozenset((str, int, bool, type(None)))


class CompactSchema(GenerateJsonSchema):
    """Pydantic's JSON Schema without the titles it makes up, in the order things were declared.

    A union member without a schema is an error here: leaving it out, as pydantic would, publishes
    less than the type says. So is a class as a value, for which pydantic would publish `{}`, and
    what pydantic describes as JSON that it then does not read: see `_refuse_unreadable`.

    Formats that Python's dates and durations keep only loosely are marked: see `formats`.
    """

    is_computed = False
    """Whether a function of an author's had a hand in it, so that it may be another next time."""
    has_keys = False
    """Whether something is said of the keys of a dict."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.named: dict[str, Any] = {}
        """Core schemas that others refer to."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _untitled(super().model_schema(schema), schema)

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _untitled(super().dataclass_schema(schema), schema)

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _untitled(super().typed_dict_schema(schema), schema)

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        if not all(map(is_pydantics, _functions_in(schema))):
            self.is_computed = True
        if self.mode == "validation":
            _refuse_paths(schema)
        document = super().generate_inner(schema)
        state_bounds(document, schema)
        if "keys_schema" in schema:
            self._describe_names(self.resolve_ref_schema(document), schema["keys_schema"])
        if schema["type"] == "enum":
            # Pydantic sets this title late, on the definition itself.
            _untitled(self.resolve_ref_schema(document), schema)
        return document

    def definitions_schema(self, schema: core_schema.DefinitionsSchema) -> JsonSchemaValue:
        self.named.update((each["ref"], each) for each in schema["definitions"] if "ref" in each)
        return super().definitions_schema(schema)

    def _describe_names(self, document: JsonSchemaValue, keys: Any) -> None:
        """Say of a dict which names it takes or gives, where pydantic does not say all of it."""
        self.has_keys = True
        keys = self.named.get(keys.get("schema_ref"), keys)
        names = list_names(keys, is_read=self.mode == "validation")
        if names is not None:
            document["propertyNames"] = {"enum": names}
        if "patternProperties" in document:
            # Those would let names pass that do not match, with any value.
            ((pattern, values),) = document.pop("patternProperties").items()
            document["additionalProperties"] = values
            document["propertyNames"] = {**document.get("propertyNames", {}), "pattern": pattern}

    def chain_schema(self, schema: core_schema.ChainSchema) -> JsonSchemaValue:
        patterns = patterns_in(schema["steps"])
        if patterns is None:
            return super().chain_schema(schema)
        document = self.generate_inner(schema["steps"][0])
        for pattern in patterns:
            state_pattern(document, pattern)
        return document

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        return _loosened(super().datetime_schema(schema), schema)

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        return _loosened(super().time_schema(schema), schema)

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        return _loosened(super().timedelta_schema(schema), schema)

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        cls = schema["cls"]
        if issubclass(cls, enum.Flag):
            return {"title": cls.__name__, **describe_flags(cls)}
        if not has_missing(cls):
            self._refuse_unreadable([member.value for member in schema["members"]], cls.__name__)
        return super().enum_schema(schema)

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        self._refuse_unreadable(schema["expected"], "Literal")
        return super().literal_schema(schema)

    def _refuse_unreadable(self, values: Sequence[Any], name: str) -> None:
        """Refuse values that no JSON is equal to: pydantic would publish them, and read none."""
        if self.mode == "serialization":
            return
        for value in values:
            if pydantic_core.to_jsonable_python(value) != value:
                advice = "use a StrEnum" if isinstance(value, enum.Enum) else "use a string"
                raise PydanticInvalidForJsonSchema(
                    f"{name} has a value that is never read from JSON, {value!s}; {advice}"
                )

    def field_is_present(self, field: Any) -> bool:
        # What a dataclass takes only to be made (InitVar) is not in what is written of it.
        is_written = self.mode == "validation" or not field.get("init_only")
        return is_written and super().field_is_present(field)

    def ser_schema(self, schema: Any) -> JsonSchemaValue | None:
        document = super().ser_schema(schema)
        if document is None and schema["type"] == "function-plain":
            # An author's function that does not say what it returns need not return the type.
            return None if is_pydantics(schema["function"]) else {}
        return document

    def is_subclass_schema(self, schema: core_schema.IsSubclassSchema) -> JsonSchemaValue:
        return self.handle_invalid_for_json_schema(schema, f"a class ({schema['cls'].__name__})")

    def callable_schema(self, schema: core_schema.CallableSchema) -> JsonSchemaValue:
        return self.handle_invalid_for_json_schema(schema, "a function")

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
        return super().encode_default(with_sorted_sets(dft))

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value

    def emit_warning(self, kind: Any, detail: str) -> None:
        if kind == "skipped-choice":
            raise PydanticInvalidForJsonSchema(detail)


@contextmanager
def explain_mistakes() -> Generator[None]:
    """Raise `UnsupportedError` for what pydantic raises when it has no schema for a type."""
    try:
        yield
    except _MISTAKES as error:
        if getattr(error, "code", None) == "class-not-fully-defined":
            raise UnsupportedError(
                "a type it refers to is not defined yet, or inside a function; define that before "
                "the tool, in its module"
            ) from error
        if isinstance(error, pydantic_core.SchemaError):
            # The last line; those before it say where, in pydantic's own terms.
            reason = str(error).rpartition("\n")[2].strip().removeprefix("error: ")
            if "regex" in str(error):
                reason += "; write Field(json_schema_extra={'pattern': …}), which is enforced too"
            raise UnsupportedError(reason) from error
        # Its first sentence; what follows is about configuring models.
        raise UnsupportedError(re.split(r"\.?\n|\. |\.$", str(error).strip())[0]) from error


def generate(schema: Any, mode: JsonSchemaMode) -> tuple[Node, bool]:
    """Return the JSON Schema for a core schema, and whether it will be the same each time."""
    generator = CompactSchema(ref_template="#/$defs/{model}")
    document = generator.generate(schema, mode)
    if generator.has_keys:
        leave_out_other_names(document)
    return document, not generator.is_computed


_PLACE: Final = " "
"""Stands for the name of a parameter in the cache, where it may have any."""

_parameters: Final = DescriptionCache[ParameterTypes]()


def describe_fields(schema: Mapping[str, Any], annotations: Mapping[str, Any]) -> ParameterTypes:
    """Describe parameters, given the core schema of a TypedDict that has them as fields.

    Those that have a key in the cache are generated one by one, the others together.
    """
    definitions: list[Any] = []
    if schema["type"] == "definitions":
        definitions, schema = schema["definitions"], schema["schema"]
    if schema["type"] == "definition-ref":  # The parameters themselves: Self of no class.
        raise UnsupportedError("Self is known only inside a class; write the name of that")
    fields: Mapping[str, Any] = schema["fields"]
    parts: list[ParameterTypes] = []
    others: dict[str, Any] = {}
    for name, annotation in annotations.items():
        key = key_of(annotation)
        part = _parameters.get(key)
        if part is None and key is not None:
            part, lasts = _generate({_PLACE: fields[name]}, definitions)
            if lasts:
                _parameters.put(key, part)
        if part is None:
            others[name] = fields[name]
        else:
            parts.append(_called(name, part))
    if others:
        parts.append(_generate(others, definitions)[0])
    # Pydantic gives longer names to definitions that would be called the same.
    return _join(parts, tuple(annotations)) or _generate(fields, definitions)[0]


def _generate(fields: Mapping[str, Any], definitions: list[Any]) -> tuple[ParameterTypes, bool]:
    schema: Any = core_schema.typed_dict_schema(dict(fields))
    if definitions:
        schema = core_schema.definitions_schema(schema, definitions)
    document, lasts = generate(schema, "validation")
    properties: Node = document.get("properties", {})
    if len(properties) < len(fields):
        raise UnsupportedError("two parameters have the same alias")
    names = dict(zip(properties, fields, strict=True))
    return ParameterTypes(properties, names, document.get("$defs", {})), lasts


def _called(name: str, part: ParameterTypes) -> ParameterTypes:
    """Return a copy of the description of one parameter, for one that is called `name`."""
    ((given, schema),) = part.schemas.items()
    json_name = name if given == _PLACE else given
    definitions = copy_schema(part.definitions)
    return ParameterTypes({json_name: copy_schema(schema)}, {json_name: name}, definitions)


def _join(parts: Sequence[ParameterTypes], order: Sequence[str]) -> ParameterTypes | None:
    """Return all `parts` as one, or `None` if they use one name for different definitions."""
    schemas: Node = {}
    names: dict[str, str] = {}
    definitions: Node = {}
    for part in parts:
        if names.keys() & part.names.keys():
            raise UnsupportedError("two parameters have the same alias")
        schemas.update(part.schemas)
        names.update(part.names)
        for name, definition in part.definitions.items():
            if definitions.setdefault(name, definition) != definition:
                return None
    names = dict(sorted(names.items(), key=lambda item: order.index(item[1])))
    return ParameterTypes({name: schemas[name] for name in names}, names, definitions)


def copy_schema(value: Any) -> Any:
    """Return a copy of a schema, or of a part of one, that shares nothing with it."""
    if isinstance(value, dict):
        return {key: copy_schema(item) for key, item in cast("Node", value).items()}
    if isinstance(value, list):
        return [copy_schema(item) for item in cast("list[Any]", value)]
    return value


def _refuse_paths(schema: Mapping[str, Any]) -> None:
    """Refuse a field that is read only from within another value, which no schema here can say."""
    alias = schema.get("validation_alias")
    if not isinstance(alias, list):
        return
    # One path is a list of steps, several are a list of such lists.
    steps = cast("list[Any]", alias)
    if any(isinstance(path, list) and len(cast("list[Any]", path)) == 1 for path in steps):
        return
    first = cast("list[Any]", steps[0] if isinstance(steps[0], list) else steps)
    path = f"AliasPath({', '.join(map(repr, first))})"
    raise PydanticInvalidForJsonSchema(
        f"a field is read from {path} alone; give it a name too, as in AliasChoices('name', {path})"
    )


def _functions_in(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the functions that have a hand in the JSON Schema for one part of a core schema."""
    metadata: Mapping[str, Any] = schema.get("metadata") or {}
    yield from metadata.get("pydantic_js_functions", ())
    yield from metadata.get("pydantic_js_annotation_functions", ())
    extras = [metadata.get("pydantic_js_extra"), _config_of(schema).get("json_schema_extra")]
    yield from filter(callable, extras)


def _config_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the class of a part of a core schema says of its configuration."""
    cls = schema.get("cls")
    return getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", {})


def _untitled(document: JsonSchemaValue, schema: Mapping[str, Any]) -> JsonSchemaValue:
    """Remove the title that is only the name of the class, unless its author asked for it."""
    if document.get("title") != getattr(schema.get("cls"), "__name__", None):
        return document
    config = _config_of(schema)
    extra = config.get("json_schema_extra")
    written = isinstance(extra, dict) and "title" in extra
    if not written and config.get("title") is None and not config.get("model_title_generator"):
        document.pop("title", None)
    return document


def _loosened(document: JsonSchemaValue, schema: Any) -> JsonSchemaValue:
    if schema.get("tz_constraint") in (None, "naive"):
        loosen(document)
    return document


def _without_empty_items(document: JsonSchemaValue) -> JsonSchemaValue:
    if document.get("items") == {}:
        del document["items"]
    return document


def with_sorted_sets(value: Any) -> Any:
    """Return `value` with every set in it as a sorted list: hashing is different on every start."""
    if isinstance(value, set | frozenset):
        items = [with_sorted_sets(item) for item in cast("set[Any]", value)]
        return sorted(items, key=lambda item: pydantic_core.to_json(item, fallback=repr))
    if isinstance(value, list | tuple):
        return [with_sorted_sets(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        mapping = cast("dict[Any, Any]", value)
        return {key: with_sorted_sets(item) for key, item in mapping.items()}
    if isinstance(value, BaseModel):
        return with_sorted_sets(value.model_dump(by_alias=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: with_sorted_sets(getattr(value, field.name)) for field in fields}
    return value
