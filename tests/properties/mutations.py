"""Schema documents for the differential tests: real ones, taken apart.

Subtrees are deleted, duplicated, swapped, replaced, wrapped, or moved behind a reference; keywords
are added. Many a result is no schema any more, and that is compared as well.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import cast

from documents import CONSTANTS, NAMES, TYPES, Maker
from trees import Json, Place, at, clone, items_of, members_of, places, put


def _delete(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    if not place:
        return tree
    del at(tree, place[:-1])[place[-1]]
    return tree


def _duplicate(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    holder = at(tree, place[:-1]) if place else None
    item = clone(at(tree, place))
    if isinstance(holder, list):
        items_of(holder).append(item)
    elif isinstance(holder, dict):
        holder[random.choice(KEYWORDS if random.random() < 0.5 else NAMES)] = item
    return tree


def _swap(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    other = random.choice(list(places(tree)))
    if other[: len(place)] == place or place[: len(other)] == other:
        return tree
    one, two = at(tree, place), at(tree, other)
    return put(put(tree, place, two), other, one)


def _replace(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    return put(tree, place, clone(at(donor, random.choice(list(places(donor))))))


def _scalar(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    return put(tree, place, clone(random.choice((*CONSTANTS, *TYPES, *NAMES))))


def _wrap(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    inner = at(tree, place)
    keyword = random.choice(("allOf", "anyOf", "oneOf", "not", "items", "additionalProperties"))
    wrapped: Json = [inner] if keyword.endswith("Of") else inner
    if random.random() < 0.3 and keyword.endswith("Of"):
        wrapped.append({"type": random.choice(TYPES)})
    return put(tree, place, {keyword: wrapped})


def _refer(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    if not isinstance(tree, dict) or not place:
        return cast("Json", tree)
    definitions = members_of(tree).setdefault("$defs", {})
    if isinstance(definitions, dict):
        moved = at(members_of(tree), place)
        name = f"moved{len(members_of(definitions))}"
        put(members_of(tree), place, {"$ref": f"#/$defs/{name}"})
        definitions[name] = moved
    return members_of(tree)


def _add(random: Random, tree: Json, place: Place, donor: Json) -> Json:
    target = at(tree, place)
    if isinstance(target, dict):
        members_of(target).update(members_of(Maker(random, 20).schema(2, low=9)))
    return tree


KEYWORDS = (
    *("properties", "required", "additionalProperties", "patternProperties", "items", "type"),
    *("prefixItems", "contains", "not", "if", "then", "else", "enum", "const", "propertyNames"),
    *("unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "minimum", "pattern"),
    *("anyOf", "oneOf", "allOf", "$defs", "definitions", "$id", "$anchor", "$schema", "format"),
)
MUTATIONS: tuple[Callable[[Random, Json, Place, Json], Json], ...] = (
    *(_delete, _delete, _duplicate, _swap, _replace, _scalar, _wrap, _refer, _add, _add),
)


def mutate(random: Random, document: Json, donor: Json, times: int) -> Json:
    """Return a copy of `document` changed `times` times, with material of `donor`."""
    tree = clone(document)
    for _ in range(times):
        known = list(places(tree))
        if len(known) > 3_000:
            break
        tree = random.choice(MUTATIONS)(random, tree, random.choice(known), donor)
    return tree
