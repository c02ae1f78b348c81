"""Types built from `msgspec.Struct`, which pydantic does not know."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Flag
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from anyshape.documents.pointers import escape
from anyshape.documents.positions import Node, nodes
from anyshape.tools.dict_keys import check_keys
from anyshape.tools.formats import loosen
from anyshape.tools.inlining import arrange
from anyshape.tools.signature import Parameter
from anyshape.tools.types.flags import describe_flags
from anyshape.tools.types.library import ArgumentsError, ParameterTypes, UnsupportedError, ValueType
from anyshape.tools.types.numbers import with_whole_numbers

FAMILY: str = "a msgspec type"
NOTES: str = "msgspec.Meta"

_PLACE = re.compile(r" - at (?:`key` in )?`\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_UNTYPED: tuple[Any, ...] = (Any, object, dict, Mapping)


def claims(annotation: Any) -> bool:
    """Tell whether a struct, or a `msgspec.Meta`, stands anywhere in `annotation`.

    Pydantic refuses the one and overlooks the other, in which case a constraint would be lost.
    """
    return any(
        isinstance(part, msgspec.Meta) or (isinstance(part, type) and issubclass(part, Struct))
        for part in _parts(annotation)
    )


def overlooks(annotation: Any) -> bool:
    """Tell whether `annotation` says anywhere what only pydantic reads: msgspec would lose it."""
    return any(_is_for_pydantic(part) for part in _parts(annotation))


def describe_parameters(
    parameters: Sequence[Parameter], used: Collection[str] = ()
) -> ParameterTypes:
    """Describe parameters; `used` are names of definitions that others have taken."""
    types = {parameter.name: parameter.annotation for parameter in parameters}
    _refuse_unread_keys(types.values())
    schemas, definitions = _schemas_of(list(types.values()))
    if not definitions.keys().isdisjoint(used):
        schemas, definitions = _schemas_of(list(types.values()), suffix="Struct")

    def read(arguments: dict[str, Any], raw: bytes | None) -> dict[str, Any]:
        for name, annotation in types.items():
            if name in arguments:
                arguments[name] = _convert(arguments[name], annotation, name)
        return arguments

    names = {name: name for name in types}
    return ParameterTypes(dict(zip(types, schemas, strict=True)), names, definitions, read)


def describe_value(annotation: Any) -> ValueType:
    """Describe a return annotation."""
    (schema,), definitions = _schemas_of([annotation])
    write = _check_keys_first if _has_other_keys(annotation) else to_builtins
    return ValueType(arrange(schema, definitions), write)


def to_builtins(value: Any) -> Any:
    """Return a value made of structs as JSON types."""
    return msgspec.to_builtins(value, str_keys=True)


def _convert(value: Any, annotation: Any, name: str) -> Any:
    """Build the Python value of `annotation` from decoded JSON, coercing nothing."""
    try:
        return msgspec.convert(value, annotation, str_keys=True)
    except msgspec.ValidationError as error:
        whole = with_whole_numbers(value)
        try:
            if whole is value:
                raise error
            return msgspec.convert(whole, annotation, str_keys=True)
        except msgspec.ValidationError as again:
            raise _refusal(again, f"/{name}") from None
    except TypeError as error:  # A set of anything was to hold what cannot be in one.
        raise ArgumentsError.at(f"/{name}", str(error)) from None


def _refusal(error: msgspec.ValidationError, path: str) -> ArgumentsError:
    """Return what msgspec found wrong with the argument at `path`, as a problem at its place."""
    message = str(error)
    place = _PLACE.search(message)
    if place is not None:
        message = message[: place.start()]
        for step in _STEP.finditer(place.group(1)):
            path += "/" + escape(step.group(1) or step.group(2))
    return ArgumentsError.at(path, message)


def _schemas_of(
    annotations: Sequence[Any], *, suffix: str = ""
) -> tuple[list[Node], dict[str, Node]]:
    """Return one schema per annotation, and the definitions they share, named with `suffix`."""
    try:
        found, components = msgspec.json.schema_components(
            annotations, ref_template="#/$defs/{name}" + suffix
        )
    except (TypeError, NameError) as error:
        raise UnsupportedError(str(error)) from error
    flags = {
        part.__name__: part
        for annotation in annotations
        for part in _parts(annotation)
        if isinstance(part, type) and issubclass(part, Flag)
    }
    definitions: dict[str, Node] = {}
    for name, definition in components.items():
        # The title of a component is always the name of its class, never the author's words.
        definition.pop("title", None)
        if name in flags:
            del definition["enum"]
            definition.update(describe_flags(flags[name]))
        definitions[name + suffix] = definition
    for schema in (*found, *definitions.values()):
        for node in nodes(schema):
            _tidy(node)
    return list(found), definitions


def _tidy(schema: Node) -> None:
    """Mark durations, and leave out an empty `required`, which older dialects do not allow.

    Dates and times need no mark: they have a format here only where an offset is certain.
    """
    if schema.get("format") == "duration":
        loosen(schema)
    if schema.get("required") == []:
        del schema["required"]


def _check_keys_first(value: Any) -> Any:
    check_keys(value, to_builtins)
    return to_builtins(value)


def _has_other_keys(annotation: Any) -> bool:
    """Tell whether a dict somewhere in `annotation` may have keys that are no strings."""
    return any(key is not str for key in _keys(annotation))


def _refuse_unread_keys(annotations: Iterable[Any]) -> None:
    """Refuse dicts whose keys msgspec describes, and reads from no name of a property."""
    for key in (key for annotation in annotations for key in _keys(annotation)):
        (schema,), definitions = _schemas_of([key])
        if arrange(schema, definitions).get("type") in ("array", "null", "object"):
            raise UnsupportedError(
                "keys of a dict are strings in JSON, which none of these are read from; "
                "use strings, or take a list of pairs"
            )


def _keys(annotation: Any) -> Iterator[Any]:
    """Yield the type of the keys of each dict in `annotation`, `Any` where it has none."""
    for part in _parts(annotation):
        arguments = get_args(part)
        origin: Any = get_origin(part)
        if origin is None and part in _UNTYPED:
            yield Any
        if isinstance(origin, type) and issubclass(origin, Mapping) and arguments:
            yield arguments[0]


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield all that stands in `annotation`: types, notes, and the fields of classes."""
    seen: dict[int, Any] = {}  # with the parts themselves: an identity that is free is given again
    pending = [annotation]
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        yield part
        pending += get_args(part)
        cls: Any = get_origin(part) or part
        try:
            if isinstance(cls, type) and _has_fields(cls):
                pending += [cls, *get_type_hints(cls, include_extras=True).values()]
            else:
                # What a NewType or a `type` statement stands for.
                pending.append(getattr(cls, "__supertype__", getattr(cls, "__value__", None)))
        except (NameError, TypeError):
            continue


def _is_for_pydantic(part: Any) -> bool:
    return (
        type(part).__module__.partition(".")[0] in ("annotated_types", "pydantic")
        or hasattr(part, "__get_pydantic_core_schema__")
        or hasattr(part, "__get_pydantic_json_schema__")
        or hasattr(part, "__pydantic_config__")
    )


def _has_fields(cls: type[Any]) -> bool:
    """Tell whether msgspec reads the fields of `cls`: those of TypedDicts, structs and so on."""
    return (
        hasattr(cls, "__required_keys__")
        or hasattr(cls, "__attrs_attrs__")
        or is_dataclass(cls)
        or (hasattr(cls, "_fields") and issubclass(cls, tuple))
        or issubclass(cls, Struct)
    )
