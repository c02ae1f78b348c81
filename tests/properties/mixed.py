"""Documents whose resources are in two dialects and refer to each other, and what they mean.

`judge` follows the specifications to the letter for the few keywords that these documents have, and
for nothing else: Core 2019-09, section 8.2.4.2, and Core 2020-12, section 8.2.3.2.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final, cast

from documents import DIALECTS
from trees import Json, Members, members_of

__all__ = ["Unresolvable", "judge", "make_mixed", "make_value"]

_TYPES: Final[dict[str, type[Any]]] = {"string": str, "integer": int, "object": dict}
_COUNT: Final = 3


def _uri(number: int) -> str:
    return f"https://example.com/r{number}"


def make_mixed(random: Random) -> Members:
    """Return a document of a few resources, each in 2019-09 or 2020-12."""
    resources = [_resource(random, number) for number in range(_COUNT)]
    root, *others = resources
    return {**root, "$defs": {f"r{number + 1}": each for number, each in enumerate(others)}}


def _resource(random: Random, number: int) -> Members:
    dialect = random.choice((19, 20))
    schema: Members = {"$schema": DIALECTS[dialect], "$id": _uri(number)}
    if dialect == 19 and random.random() < 0.8:  # It is no boolean to 2020-12.
        schema["$recursiveAnchor"] = random.random() < 0.8
    if random.random() < 0.7:
        schema["$dynamicAnchor"] = "node"
    if random.random() < 0.4:
        schema["type"] = "object"
    schema["properties"] = {
        name: _part(random, dialect) for name in random.sample("abcd", random.randint(1, 3))
    }
    if random.random() < 0.4:
        schema["required"] = [random.choice("abcd")]
    if random.random() < 0.3:
        schema["allOf"] = [{"properties": {random.choice("abcd"): _part(random, dialect)}}]
    return schema


def _part(random: Random, dialect: int) -> Members:
    chance = random.random()
    if chance < 0.2:
        return {"type": random.choice(tuple(_TYPES))}
    if chance < 0.55:
        return {"$ref": _uri(random.randrange(_COUNT))}
    if chance < 0.65:  # Each is an unknown keyword to the other dialect.
        dialect = 39 - dialect
    if dialect == 19:
        return {"$recursiveRef": "#"}
    return {"$dynamicRef": random.choice(("#node", f"{_uri(random.randrange(_COUNT))}#node"))}


def make_value(random: Random, depth: int = 0) -> Json:
    """Return a value with the names that these documents speak of."""
    if depth > 3 or random.random() < 0.2:
        return random.choice(("x", 1))
    names = random.sample("abcd", random.randint(0, 3))
    return {name: make_value(random, depth + 1) for name in names}


class Unresolvable(Exception):
    """A reference names nothing."""


def judge(document: Members, value: Json) -> bool:
    """Return what the specifications say."""
    resources = {each["$id"]: each for each in (document, *document["$defs"].values())}
    return _valid(resources, document, document, (document["$id"],), value)


def _valid(
    resources: Members, resource: Members, schema: Members, scope: tuple[str, ...], value: Json
) -> bool:
    kind = schema.get("type")
    if kind is not None and not isinstance(value, _TYPES[kind]):
        return False
    if isinstance(value, dict):
        given = cast("Members", value)
        if any(name not in given for name in schema.get("required", ())):
            return False
        for name, part in members_of(schema.get("properties")).items():
            if name in given and not _valid(resources, resource, part, scope, given[name]):
                return False
    for part in schema.get("allOf", ()):
        if not _valid(resources, resource, part, scope, value):
            return False
    for target in _targets(resources, resource, schema, scope):
        uri = target["$id"]
        if not _valid(resources, target, target, (*scope, uri), value):
            return False
    return True


def _targets(
    resources: Members, resource: Members, schema: Members, scope: tuple[str, ...]
) -> list[Members]:
    """Return where the references of a subschema lead, in the dialect of its resource."""
    found: list[Members] = []
    if "$ref" in schema:
        found.append(resources[schema["$ref"]])
    modern = resource["$schema"] == DIALECTS[20]
    if "$dynamicRef" in schema and modern:
        uri = schema["$dynamicRef"].partition("#")[0] or resource["$id"]
        if not _is_dynamic(resources[uri]):
            raise Unresolvable
        found.append(
            resources[next(each for each in (*scope, uri) if _is_dynamic(resources[each]))]
        )
    if "$recursiveRef" in schema and not modern:
        target = resource
        if _is_recursive(resource):
            target = resources[next(each for each in scope if _is_recursive(resources[each]))]
        found.append(target)
    return found


def _is_dynamic(resource: Members) -> bool:
    return resource["$schema"] == DIALECTS[20] and resource.get("$dynamicAnchor") == "node"


def _is_recursive(resource: Members) -> bool:
    return resource["$schema"] == DIALECTS[19] and resource.get("$recursiveAnchor") is True
