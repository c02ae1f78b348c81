"""Parameters whose arguments are texts: those of prompts, and the variables of URI templates.

Where a parameter's type admits the text itself, the text is the argument; else it is JSON, so that
`3`, `true` and `["a"]` mean what they mean everywhere. Then it is checked and converted as a tool's
argument is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from anyshape.decoding import decode_json
from anyshape.documents.pointers import escape
from anyshape.documents.positions import Node
from anyshape.errors import LimitExceeded
from anyshape.protocol.encoding import encode_data
from anyshape.schema import Limits, WouldWait, aside
from anyshape.tools.binding import Bind
from anyshape.tools.completion import Complete, Completer, choices_in
from anyshape.tools.definition import compile_schema, derive_input
from anyshape.tools.docstrings import Documentation
from anyshape.tools.notes import take_note
from anyshape.tools.signature import Parameter, Signature
from anyshape.tools.types import ArgumentsError

Admits: TypeAlias = Callable[[str], bool]
"""Tells whether a text is an argument as it is."""

_NEVER_TEXT: Final = frozenset(("integer", "number", "boolean", "array", "object", "null"))


class TextParameters(msgspec.Struct, frozen=True):
    """What was decided about the parameters of one function."""

    schemas: Node
    """What is known of each, by the name of its argument."""
    required: frozenset[str]
    completers: dict[str, Completer]
    bind: Bind
    admits: dict[str, Admits]

    async def read(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the parameters by name, or raise `ArgumentsError`."""
        try:
            return self._read(texts)
        except WouldWait:
            return await aside(self._read, texts)

    def _read(self, texts: Mapping[str, str]) -> dict[str, Any]:
        arguments = {name: self._argument(name, text) for name, text in texts.items()}
        return self.bind(encode_data(arguments))

    def _argument(self, name: str, text: str) -> str | msgspec.Raw:
        try:
            if self.admits.get(name, _always)(text):
                return text
        except LimitExceeded as error:
            raise ArgumentsError.at("/" + escape(name), error.message) from None
        try:
            decode_json(text)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return text  # Checking it tells what was expected instead.
        return msgspec.Raw(text.encode())


def read_text_parameters(
    signature: Signature, documentation: Documentation, limits: Limits
) -> TextParameters:
    """Decide how texts become the arguments of a function."""
    found = [_without_completion(parameter) for parameter in signature.parameters]
    bare = replace(signature, parameters=tuple(parameter for parameter, _ in found))
    document, _, bind = derive_input(bare, documentation, limits)
    schemas: Node = document["properties"]
    definitions: Node = document.get("$defs", {})
    completers: dict[str, Completer] = {}
    for name, (_, complete) in zip(schemas, found, strict=True):
        choices = choices_in(schemas[name], definitions)
        if complete is not None:
            completers[name] = complete.completer(signature.label)
        elif choices:
            completers[name] = Completer(choices=choices)
    return TextParameters(
        schemas=schemas,
        required=frozenset(document.get("required", ())),
        completers=completers,
        bind=bind,
        admits={
            name: _admits(schema, definitions, signature.label, limits)
            for name, schema in schemas.items()
        },
    )


def _without_completion(parameter: Parameter) -> tuple[Parameter, Complete | None]:
    """Return a parameter with its `Complete` taken out of `Annotated`."""
    annotation, complete = take_note(parameter.annotation, Complete)
    return replace(parameter, annotation=annotation), complete


def _admits(schema: Node, definitions: Node, label: str, limits: Limits) -> Admits:
    kinds: object = schema.get("type")
    if kinds == "string":
        return _always  # Nothing else would be admitted, so checking it is left to the binder.
    named = cast("list[object]", kinds) if isinstance(kinds, list) else [kinds]
    if all(kind in _NEVER_TEXT for kind in named):
        return _never
    return compile_schema({**schema, "$defs": definitions}, None, label, limits).accepts


def _always(_text: str) -> bool:
    return True


def _never(_text: str) -> bool:
    return False
