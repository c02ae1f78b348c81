"""What makes a bad schema worse: many values, many references, another keyword around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from families import Json, Part, names


def _define(part: Part, key: str) -> tuple[dict[str, Json], dict[str, str]]:
    """Return the definitions with the part among them, and a reference to it."""
    return {**part.definitions, key: part.schema}, {"$ref": f"#/$defs/{key}"}


def _items(part: Part, count: int) -> Part:
    copies = max(1, count)
    good = [part.good] * copies
    return replace(part, schema={"items": part.schema}, good=good, bad=[part.bad] * copies)


def _last_is_bad(part: Part, count: int) -> Part:
    good = [part.good] * max(1, count)
    return replace(part, schema={"items": part.schema}, good=good, bad=[*good, part.bad])


def _values(part: Part, count: int) -> Part:
    keys = names(max(1, count))
    schema = {"additionalProperties": part.schema}
    return replace(
        part, schema=schema, good=dict.fromkeys(keys, part.good), bad=dict.fromkeys(keys, part.bad)
    )


def _repeated(word: str) -> Callable[[Part, int], Part]:
    def amplify(part: Part, count: int) -> Part:
        definitions, reference = _define(part, word)
        schema = {word: [reference] * max(1, count)}
        if word == "oneOf":
            return replace(
                part, schema=schema, good=part.bad, bad=part.good, definitions=definitions
            )
        return replace(part, schema=schema, definitions=definitions)

    return amplify


def _unevaluated(part: Part, count: int) -> Part:
    closed = {"unevaluatedProperties": False, "unevaluatedItems": False}
    return replace(part, schema={"anyOf": [part.schema], **closed})


def _conditional(part: Part, count: int) -> Part:
    return replace(
        part, schema={"if": part.schema, "then": part.schema, "else": {"not": part.schema}}
    )


def _lookaround(part: Part, count: int) -> Part:
    return replace(part, schema={"allOf": [part.schema], "propertyNames": {"pattern": "^(?!x)"}})


AMPLIFIERS: dict[str, Callable[[Part, int], Part]] = {
    "as items": _items,
    "as items, the last one bad": _last_is_bad,
    "as values": _values,
    "in allOf by reference": _repeated("allOf"),
    "in anyOf by reference": _repeated("anyOf"),
    "in oneOf by reference": _repeated("oneOf"),
    "under unevaluated": _unevaluated,
    "as a condition": _conditional,
    "beside lookaround": _lookaround,
}
