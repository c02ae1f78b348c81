"""Suggestions for the argument of a prompt or a template while its user types.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, cast

from anyshape.documents.positions import Node
from anyshape.errors import ToolDefinitionError
from anyshape.protocol.encoding import encode_data
from anyshape.tools.context import Context
from anyshape.tools.routine import Invoke, Routine, RoutineError
from anyshape.tools.signature import Signature, read_signature

_DEFINITIONS: Final = "#/$defs/"
_MOST_SEEN: Final = 10_000
"""Suggestions that are looked at: no user would read on, and an iterator may have no end."""


class Complete:
    """Complete a parameter: `Annotated[str, Complete(suggest)]`, or `Complete(["a", "b"])`.

    `suggest` is given the text typed so far and, if it takes a second parameter, the arguments
    that are there already, as a dict of texts; it returns suggestions, the best first. It may be
    async, and take a `Context`. Of a list those are suggested that begin with the text.
    """

    __slots__ = ("_source",)

    def __init__(self, source: Callable[..., Any] | Iterable[str]) -> None:
        self._source = source

    def completer(self, label: str) -> Completer:
        """Return what completes the parameter of a function that messages call `label`."""
        source = self._source
        if callable(source):
            return Completer(function=_Suggesting(source, label))
        choices = tuple(source)
        if isinstance(source, str) or not all(
            isinstance(each, str) for each in cast("tuple[object, ...]", choices)
        ):
            raise ToolDefinitionError(
                f"{label}: Complete takes a function, or a list of strings to choose from"
            )
        return Completer(choices=choices)


@dataclass(frozen=True, slots=True)
class Completer:
    """What completes one argument: a function, or the choices there are."""

    choices: tuple[str, ...] = ()
    function: _Suggesting | None = None

    async def suggest(
        self,
        typed: str,
        given: Mapping[str, str],
        context: Context | None,
        timeout: float | None,
    ) -> list[str]:
        """Return suggestions for a text; raises `RoutineError` if the function fails."""
        if self.function is None:
            start = typed.casefold()
            return [choice for choice in self.choices if choice.casefold().startswith(start)]
        return await self.function.suggest(typed, given, context, timeout)

    @property
    def takes_context(self) -> bool:
        """Whether the function asks for a `Context`."""
        return self.function is not None and self.function.takes_context


class _Suggesting(Routine):
    """A function that completes an argument."""

    _given: str | None
    _label: str
    _typed: str

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        signature = read_signature(function)
        names = [parameter.name for parameter in signature.parameters]
        needed = [parameter.name for parameter in signature.parameters if parameter.required]
        if not names or len(needed) > 2:
            raise ToolDefinitionError(
                f"{label}: Complete({signature.name}) has to take the text typed so far, and may "
                f"take the other arguments as a dict; it takes {len(names)} parameters"
            )
        self._set_up(signature.label, function, signature, timeout=None, inline=False)
        self._set(
            _typed=names[0],
            _given=names[1] if len(names) > 1 else None,
            _label=f"completion by {signature.label}",
        )

    def _invoker(self, function: Callable[..., Any], signature: Signature) -> Invoke:
        """Return what also reads an iterator where the function runs, which may be slow to give."""
        invoke = super()._invoker(function, signature)
        if signature.asynchronous:
            return invoke

        def gather(**values: Any) -> Any:
            found = invoke(**values)
            if not isinstance(found, Iterator):
                return found
            return list(islice(cast("Iterator[object]", found), _MOST_SEEN))

        return gather

    async def suggest(
        self,
        typed: str,
        given: Mapping[str, str],
        context: Context | None,
        timeout: float | None,
    ) -> list[str]:
        """Return what the function suggests."""
        values: dict[str, Any] = {self._typed: typed}
        if self._given is not None:
            values[self._given] = dict(given)
        found = await self.run(self._label, values, context, timeout)
        if isinstance(found, str) or not isinstance(found, Iterable):
            raise self._unusable(found)
        suggestions = list(islice(cast("Iterable[object]", found), _MOST_SEEN))
        for suggestion in suggestions:
            if not isinstance(suggestion, str):
                raise self._unusable(suggestion)
        return cast("list[str]", suggestions)

    def _unusable(self, found: object) -> RoutineError:
        return self.unusable(self._label, f"expected strings, got {type(found).__name__}")


def choices_in(schema: Node, definitions: Node) -> tuple[str, ...]:
    """Return the texts that a schema plainly offers to choose from; none if it admits others."""
    values = _values_in(schema, definitions)
    return () if values is None else tuple(_text_of(value) for value in values if value is not None)


def _values_in(schema: object, definitions: Node) -> list[Any] | None:
    if not isinstance(schema, dict):
        return None
    node = cast("Node", schema)
    reference: object = node.get("$ref")
    if isinstance(reference, str) and reference.startswith(_DEFINITIONS):
        return _values_in(definitions.get(reference.removeprefix(_DEFINITIONS)), {})
    if "const" in node:
        return [node["const"]]
    if "enum" in node:
        return list(node["enum"])
    if node.get("type") == "boolean":
        return [True, False]
    if node.get("type") == "null":
        return [None]
    for keyword in ("anyOf", "oneOf"):
        if keyword in node:
            found = [_values_in(branch, definitions) for branch in node[keyword]]
            if any(values is None for values in found):
                return None
            return [value for values in found for value in values or ()]
    return None


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else encode_data(value).decode()
