"""What providers count in a schema: properties, levels, listed values, characters, recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from anyshape.documents.positions import Node, nodes, subschemas
from anyshape.providers._losses import text_length
from anyshape.providers.profile import Profile

_LONG_ENUM: Final = 250
_DEFINITIONS: Final = "#/$defs/"


def count_problems(document: dict[str, Any], profile: Profile) -> Iterator[str]:
    """Yield a line for every bound of `profile` that `document` exceeds."""
    found_nodes = list(nodes(document))
    bounds = profile.bounds
    counted = {
        "properties": (
            sum(len(node.get("properties", ())) for node in found_nodes),
            bounds.properties,
        ),
        "listed values": (
            sum(len(node.get("enum", ())) for node in found_nodes),
            bounds.enum_values,
        ),
        "optional properties": (count_optional(found_nodes), bounds.optional),
        "unions": (count_unions(found_nodes), bounds.unions),
        "characters of names and listed values": (
            sum(_characters(node) for node in found_nodes),
            bounds.characters,
        ),
    }
    for noun, (found, most) in counted.items():
        if most is not None and found > most:
            yield f"{found} {noun}, where {most} are accepted"
    if bounds.enum_characters is not None:
        for node in found_nodes:
            values = [value for value in node.get("enum", ()) if isinstance(value, str)]
            if len(values) > _LONG_ENUM and sum(map(len, values)) > bounds.enum_characters:
                yield f"an enumeration of more than {bounds.enum_characters} characters"
    if bounds.levels is not None:
        for part in (document, *document.get("$defs", {}).values()):
            found = _levels(part)
            if found > bounds.levels:
                yield f"{found} levels of objects, where {bounds.levels} are accepted"
    if not profile.recursion and recursive_definitions(document):
        yield "a definition that refers to itself"


def count_optional(found: Iterable[Node]) -> int:
    """Return how many properties of some schemas may be left out."""
    return sum(
        len(node.get("properties", {}).keys() - set(node.get("required", ()))) for node in found
    )


def count_unions(found: Iterable[Node]) -> int:
    """Return how many of some schemas are alternatives, or of several types."""
    return sum("anyOf" in node or isinstance(node.get("type"), list) for node in found)


def _characters(node: dict[str, Any]) -> int:
    names = [*node.get("properties", ()), *node.get("$defs", ())]
    return sum(map(len, names)) + sum(map(text_length, node.get("enum", ())))


def _levels(part: object) -> int:
    """Return how many objects are within each other, references not followed."""
    deepest = 0
    pending: list[tuple[object, int]] = [(part, 0)]
    while pending:
        value, level = pending.pop()
        if isinstance(value, dict):
            node = cast("dict[str, Any]", value)
            declared = node.get("type")
            level += declared == "object" or (isinstance(declared, list) and "object" in declared)
            deepest = max(deepest, level)
            pending += [
                (inner, level) for keyword, _, inner in subschemas(node) if keyword != "$defs"
            ]
    return deepest


def referred(node: Mapping[str, Any]) -> str | None:
    """Return the name of the definition that a schema refers to, if it refers to one."""
    reference: object = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(_DEFINITIONS):
        return None
    return reference.removeprefix(_DEFINITIONS)


def recursive_definitions(document: dict[str, Any]) -> set[str]:
    """Return the names of definitions that lead to themselves, or lie between two that do."""
    definitions: dict[str, Any] = document.get("$defs", {})
    onward = {name: {referred(node) for node in nodes(body)} for name, body in definitions.items()}
    while ends := [name for name, others in onward.items() if not others & onward.keys()]:
        for name in ends:
            del onward[name]
    return set(onward)
