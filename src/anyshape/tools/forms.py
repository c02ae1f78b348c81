"""A type becomes a form that a user fills in, and what was filled in a value of that type.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
A form is flat: strings, numbers, booleans, and choices of strings. What else the type says of a
field, such as a pattern, is not in the form, and is checked when the answer comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, cast

import msgspec

from anyshape.documents.positions import Node
from anyshape.errors import Problem, ToolDefinitionError, ValidationError
from anyshape.protocol.encoding import encode_data
from anyshape.schema import Limits, WouldWait, aside
from anyshape.tools.definition import compile_schema, derive_input
from anyshape.tools.docstrings import Documentation
from anyshape.tools.signature import EMPTY, Parameter, Signature
from anyshape.tools.types import ArgumentsError

_VALUE: Final = "value"
"""What a field is called if the type is no object, and so has no name for it."""

_WORDS: Final = ("title", "description")
_KEPT: Final = {
    "string": (*_WORDS, "minLength", "maxLength", "format", "default"),
    "number": (*_WORDS, "minimum", "maximum", "default"),
    "integer": (*_WORDS, "minimum", "maximum", "default"),
    "boolean": (*_WORDS, "default"),
    "array": (*_WORDS, "minItems", "maxItems", "default"),
}
"""What a form says of a field, by its type."""
_FORMATS: Final = ("email", "uri", "date", "date-time")
_LIMITS: Final = Limits()


class UserForm(msgspec.Struct, frozen=True):
    """A form, and how to read what was filled in."""

    document: Node
    """The form as it is sent: `requestedSchema` of 2025-11-25."""
    nullable: tuple[str, ...]
    """Fields that are null where they were left out, though their type has no default."""
    bind: Callable[[dict[str, Any]], Any]

    async def read(self, content: Mapping[str, Any]) -> Any:
        """Return the value that was filled in; raises `ArgumentsError` for what does not fit."""
        given = {**dict.fromkeys(self.nullable), **content}
        try:
            return self.bind(given)
        except WouldWait:
            return await aside(self.bind, given)


def form_of(kind: Any, label: str) -> UserForm:
    """Return the form of a type, of a flat schema, or of nothing but a question (`None`).

    Raises `ToolDefinitionError` for what cannot be a form; `label` is what messages call the place.
    """
    if kind is None or kind is type(None):
        return UserForm({"type": "object", "properties": {}}, (), _ignore)
    if isinstance(kind, Mapping):
        return _written_form(cast("Mapping[str, Any]", kind), label)
    if isinstance(kind, list | tuple):
        raise ToolDefinitionError(
            f"{label}: choices are written as a type, Literal['a', 'b'], or for several of them "
            f"list[Literal['a', 'b']]"
        )
    try:
        return _derived_form(kind, label)
    except TypeError:  # No key for a cache, as what is annotated with a list.
        return _derived_form.__wrapped__(kind, label)


@lru_cache(maxsize=256)
def _derived_form(kind: Any, label: str) -> UserForm:
    parameter = Parameter(_VALUE, kind, EMPTY, required=True)
    signature = Signature("form", label, (parameter,), (), (), EMPTY, asynchronous=False)
    document, _, bind = derive_input(signature, Documentation(), _LIMITS)
    definitions: Node = document.get("$defs", {})
    described = _resolve(document["properties"][_VALUE], definitions)
    if "properties" in described:

        def bind_object(content: dict[str, Any]) -> Any:
            return _without_value(bind, {_VALUE: content})

        return _make_form(described, definitions, bind_object, label)

    def bind_value(content: dict[str, Any]) -> Any:
        return bind(encode_data(content))[_VALUE]

    return _make_form(document, definitions, bind_value, label)


def _without_value(bind: Callable[[bytes], dict[str, Any]], arguments: dict[str, Any]) -> Any:
    """Bind fields that are inside of the one argument, and name them as the form does."""
    try:
        return bind(encode_data(arguments))[_VALUE]
    except ArgumentsError as error:
        raise ArgumentsError([_inside(problem) for problem in error.problems]) from None


def _inside(problem: Problem) -> Problem:
    path = problem.path.removeprefix(f"/{_VALUE}")
    return Problem(problem.keyword, path, problem.message, problem.schema_path, problem.causes)


def _written_form(document: Mapping[str, Any], label: str) -> UserForm:
    schema = compile_schema(dict(document), None, label, _LIMITS)
    written = cast("Node", schema.document)
    if not isinstance(cast("object", written), dict) or written.get("type") != "object":
        raise ToolDefinitionError(f'{label}: a form has to be a schema with "type": "object"')

    def bind(content: dict[str, Any]) -> dict[str, Any]:
        try:
            schema.validate(content)
        except ValidationError as error:
            raise ArgumentsError(error.problems) from None
        return content

    return _make_form(written, written.get("$defs", {}), bind, label)


def _make_form(
    described: Node, definitions: Node, bind: Callable[[dict[str, Any]], Any], label: str
) -> UserForm:
    required = list(described.get("required", ()))
    fields: Node = {}
    nullable: list[str] = []
    for name, written in described.get("properties", {}).items():
        field = _resolve(written, definitions)
        bare = _without_null(field, definitions)
        if bare is not field and name in required:
            required.remove(name)
            nullable.append(name)
        fields[name] = _field(bare, definitions, f"{label}: field '{name}'")
    document: Node = {"type": "object", "properties": fields}
    if required:
        document["required"] = required
    return UserForm(document, tuple(nullable), bind)


def _field(schema: Node, definitions: Node, where: str) -> Node:
    """Return one field as a form has it, or say why it cannot be in one."""
    choices = _choices(schema, definitions)
    kind = "string" if choices else schema.get("type")
    is_other_choice = not choices and ("enum" in schema or "const" in schema)
    if not isinstance(kind, str) or kind not in _KEPT or is_other_choice:
        raise _not_flat(where)
    field: Node = {"type": kind}
    field |= {name: schema[name] for name in _KEPT[kind] if name in schema}
    if choices:
        field = {name: field[name] for name in ("type", *_WORDS, "default") if name in field}
        if field.get("default", 0) is None:
            del field["default"]
        return field | choices
    if kind == "array":
        items = _choices(_resolve(schema.get("items", {}), definitions), definitions)
        if not items:
            raise _not_flat(where)
        titled = items.get("oneOf")
        field["items"] = {"type": "string", **items} if titled is None else {"anyOf": titled}
    elif field.get("format") not in _FORMATS:
        field.pop("format", None)
    if kind == "integer":
        _narrow(field, schema)
    if field.get("default", 0) is None:
        del field["default"]
    return field


def _narrow(field: Node, schema: Node) -> None:
    """Say by inclusive bounds, which a form has, what exclusive ones say of whole numbers."""
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if isinstance(above, int):
        field["minimum"] = max(above + 1, field.get("minimum", above + 1))
    if isinstance(below, int):
        field["maximum"] = min(below - 1, field.get("maximum", below - 1))


def _choices(schema: Node, definitions: Node) -> Node:
    """Return what says which strings may be chosen, in the author's own spelling; else nothing."""
    listed: Any = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(listed, list) and listed and _are_strings(cast("list[Any]", listed)):
        names = schema.get("enumNames")
        return {"enum": listed} if names is None else {"enum": listed, "enumNames": names}
    for keyword in ("oneOf", "anyOf"):
        branches = [_resolve(each, definitions) for each in schema.get(keyword, ())]
        values = [each.get("const") for each in branches]
        if branches and _are_strings(values):
            titles = [each.get("title", each["const"]) for each in branches]
            pairs = zip(values, titles, strict=True)
            return {"oneOf": [{"const": value, "title": title} for value, title in pairs]}
    return {}


def _are_strings(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _without_null(schema: Node, definitions: Node) -> Node:
    """Return what a schema says of values that are not null: a form leaves a field out instead."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        others = [kind for kind in cast("list[Any]", kinds) if kind != "null"]
        return {**schema, "type": others[0]} if len(others) == 1 else schema
    for keyword in ("anyOf", "oneOf"):
        branches = [_resolve(each, definitions) for each in schema.get(keyword, ())]
        others = [each for each in branches if each.get("type") != "null"]
        if len(others) < len(branches) and len(others) == 1:
            rest = {name: value for name, value in schema.items() if name != keyword}
            return {**others[0], **rest}
    return schema


def _resolve(schema: Any, definitions: Node) -> Node:
    """Return a schema with what it refers to put in its place; its own words come first."""
    seen: set[str] = set()
    while isinstance(schema, dict) and "$ref" in schema:
        node = cast("Node", schema)
        name = str(node["$ref"]).removeprefix("#/$defs/")
        if name in seen or not isinstance(definitions.get(name), dict):
            break
        seen.add(name)
        rest = {key: value for key, value in node.items() if key != "$ref"}
        schema = {**cast("Node", definitions[name]), **rest}
    return cast("Node", schema) if isinstance(schema, dict) else {}


def _not_flat(where: str) -> ToolDefinitionError:
    return ToolDefinitionError(
        f"{where} cannot be in a form; a form takes str, int, float, bool, a Literal or Enum of "
        f"strings, or a list of those choices"
    )


def _ignore(content: dict[str, Any]) -> None:
    """Read nothing: the user's consent is all that was asked for."""
