"""Values for the differential tests: made from a schema so that they nearly fit, then changed.

A value that has nothing to do with its schema is refused by the first keyword, and proves little.
So each is made to fit as far as that is easy: types, members, required properties, formats, the
branches of a composition. Half of them are then changed in one or two places.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any, cast

from documents import CONSTANTS, FORMATS, NAMES, PATTERNS, SCALARS
from trees import Json, Members, Place, at, clone, items_of, members_of, places, put

MOST_DEPTH = 6
TEXTS = ("", "a", "b", "ab", "name", "x", "é", "1", "aaaa", "2026-01-02", "\u0663", "😀")
NUMBERS = (0, 1, -1, 2, 3, 1.0, 0.5, 2.5, 10, 19.99, 1e20, 2**53 + 1, 2**64, 2**70)
BRANCHES = ("anyOf", "oneOf")
IN_PLACE = frozenset((*BRANCHES, "allOf", "$ref", "$dynamicRef", "$recursiveRef", "if"))


class Sampler:
    """Makes values for one document."""

    def __init__(self, random: Random, document: Json) -> None:
        self.random = random
        self.document = document
        self.names = list(NAMES[:4])
        self.anchors: Members = {}
        for place in places(document):
            if place and place[-1] in ("$anchor", "$dynamicAnchor", "$id", "id"):
                name = at(document, place)
                if isinstance(name, str):
                    self.anchors[name] = at(document, place[:-1])
            elif len(place) > 1 and place[-2] == "properties" and isinstance(place[-1], str):
                self.names.append(place[-1])

    def batch(self, count: int) -> list[Json]:
        """Return `count` values, about half of them as well-fitting as is easy."""
        values: list[Json] = []
        for number in range(count):
            value = self.value(self.document, 0)
            if number % 2:
                value = self.changed(value)
            values.append(value)
        values[-1] = clone(self.random.choice(CONSTANTS))
        return values

    def value(self, schema: Json, depth: int) -> Json:
        """Return a value that may satisfy `schema`."""
        random = self.random
        if depth > MOST_DEPTH or not isinstance(schema, dict):
            known = SCALARS if random.random() < 0.7 else CONSTANTS
            return clone(random.choice(known))
        schema = self.flattened(cast("Members", schema), 0)
        if "const" in schema and random.random() < 0.9:
            return clone(schema["const"])
        members = items_of(schema.get("enum"))
        if members and random.random() < 0.9:
            return clone(random.choice(members))
        kinds = schema.get("type")
        if isinstance(kinds, list):
            kinds = random.choice(items_of(kinds)) if kinds else None
        if not isinstance(kinds, str):
            kinds = self.likely(schema)
        match kinds:
            case "object":
                return self.object(schema, depth)
            case "array":
                return self.array(schema, depth)
            case "string":
                return self.text(schema)
            case "integer" | "number":
                return self.number(schema, kinds)
            case "boolean":
                return random.random() < 0.5
            case "null":
                return None
            case _:
                return clone(random.choice(CONSTANTS))

    def likely(self, schema: Members) -> str:
        """Return a type that the keywords of a schema without one speak of."""
        speaks = {
            "object": ("properties", "required", "additionalProperties", "patternProperties"),
            "array": ("items", "prefixItems", "contains", "uniqueItems", "minItems"),
            "string": ("pattern", "minLength", "maxLength", "format"),
            "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum"),
        }
        kinds = [kind for kind, words in speaks.items() if any(word in schema for word in words)]
        return self.random.choice(kinds or ["any", "string", "number", "object"])

    def flattened(self, schema: Members, times: int) -> Members:
        """Return `schema` with what applies in place put together, as far as that is easy."""
        if times > 4 or schema.keys().isdisjoint(IN_PLACE):
            return schema
        merged = {key: item for key, item in schema.items() if key not in ("allOf", *BRANCHES)}
        parts = [*items_of(schema.get("allOf"))]
        parts += [self.resolved(schema[key]) for key in ("$ref", "$dynamicRef") if key in schema]
        parts += [self.document] if schema.get("$recursiveRef") == "#" else []
        for keyword in BRANCHES:
            branches = items_of(schema.get(keyword))
            if branches:
                parts.append(self.random.choice(branches))
        if "if" in schema:
            parts += [schema["if"], schema.get("then")]
            if self.random.random() < 0.5:
                parts[-2:] = [schema.get("else")]
        for part in filter(None, parts):
            for key, item in self.flattened(members_of(part), times + 1).items():
                if key in ("properties", "patternProperties") and key in merged:
                    merged[key] = {**members_of(item), **members_of(merged[key])}
                elif key == "required" and key in merged:
                    merged[key] = [*items_of(merged[key]), *items_of(item)]
                else:
                    merged[key] = item
        return merged

    def resolved(self, reference: Json) -> Json:
        """Return what a reference leads to, `None` if that is not known."""
        if not isinstance(reference, str):
            return None
        if reference == "#":
            return self.document
        if not reference.startswith("#/"):
            return self.anchors.get(reference.removeprefix("#"))
        place = self.document
        try:
            for step in reference[2:].split("/"):
                name = step.replace("~1", "/").replace("~0", "~")
                place = place[int(name) if isinstance(place, list) else name]
        except (LookupError, ValueError, TypeError):
            return None
        return place

    def object(self, schema: Members, depth: int) -> Members:
        """Return an object with what is required, and some of the rest."""
        random = self.random
        value: Members = {}
        properties = members_of(schema.get("properties"))
        required = [name for name in items_of(schema.get("required")) if isinstance(name, str)]
        for name in dict.fromkeys((*required, *properties)):
            if name in required or random.random() < 0.5:
                value[name] = self.value(properties.get(name), depth + 1)
        extra = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        patterns = members_of(schema.get("patternProperties"))
        if patterns and random.random() < 0.6:
            pattern = random.choice(list(patterns))
            name = random.choice(PATTERNS.get(pattern, TEXTS))
            value[name] = self.value(patterns[pattern], depth + 1)
        if random.random() < (0.1 if extra is False else 0.35):
            value[random.choice(self.names)] = self.value(extra, depth + 1)
        return value

    def array(self, schema: Members, depth: int) -> list[Json]:
        """Return an array, seldom long."""
        random = self.random
        items: Json = schema.get("items")
        prefix = items_of(schema.get("prefixItems", items))
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        least = schema.get("minItems", 0)
        least = least if isinstance(least, int) and 0 <= least < 8 else 0
        value = [self.value(part, depth + 1) for part in prefix[: random.randint(0, 4)]]
        while len(value) < least or random.random() < 0.5:
            value.append(self.value(rest, depth + 1))
            if len(value) > 8:
                break
        if "contains" in schema and random.random() < 0.6:
            value.insert(random.randint(0, len(value)), self.value(schema["contains"], depth + 1))
        if value and random.random() < 0.1:
            value.append(clone(random.choice(value)))
        return value

    def text(self, schema: Members) -> str:
        """Return a string."""
        random = self.random
        pattern, form = schema.get("pattern"), schema.get("format")
        if isinstance(pattern, str) and random.random() < 0.8:
            if pattern in PATTERNS:
                return random.choice(PATTERNS[pattern])
            return random.choice(TEXTS) + pattern.strip("^$")[: random.randint(0, 8)]
        if isinstance(form, str) and form in FORMATS and random.random() < 0.8:
            text = FORMATS[form]
            return text if random.random() < 0.7 else text[: random.randint(0, len(text))]
        text = random.choice(TEXTS)
        least = schema.get("minLength")
        if isinstance(least, int) and 0 < least < 20 and random.random() < 0.8:
            text = text.ljust(least, "a")
        return text

    def number(self, schema: Members, kind: str) -> int | float:
        """Return a number, often at a bound."""
        random = self.random
        keywords = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        found = [schema.get(keyword) for keyword in keywords]
        bounds = [bound for bound in found if isinstance(bound, (int, float))]
        if bounds and random.random() < 0.7:
            bound = random.choice(bounds)
            return bound + random.choice((0, 0, 1, -1, 0.5)) if abs(bound) < 1e15 else bound
        if kind == "integer" and random.random() < 0.7:
            return random.choice((0, 1, 2, 3, 7, 10, 42, -1))
        return random.choice(NUMBERS)

    def changed(self, value: Json) -> Json:
        """Return `value` changed in one place or two."""
        random = self.random
        for _ in range(random.choice((1, 1, 2))):
            known = list(places(value))
            place: Place = random.choice(known[:200])
            holder: Any = at(value, place[:-1]) if place else None
            act = random.choice(("replace", "replace", "delete", "add", "move", "kind"))
            if act == "delete" and place:
                del holder[place[-1]]
            elif act == "add" and isinstance(holder, dict):
                holder[random.choice(self.names)] = clone(random.choice(CONSTANTS))
            elif act == "add" and isinstance(holder, list):
                items_of(holder).append(clone(random.choice(items_of(holder) or [1])))
            elif act == "move" and len(known) > 2:
                value = put(value, place, clone(at(value, random.choice(known))))
            elif act == "kind":
                value = put(value, place, other_kind(at(value, place)))
            else:
                value = put(value, place, clone(random.choice(CONSTANTS)))
        return value


def spoilt(random: Random, value: Json) -> Json:
    """Return `value` with something in it that JSON does not have."""
    value = clone(value)
    place = random.choice([place for place in places(value) if len(place) <= MOST_DEPTH])
    item = at(value, place)
    bad: Json = random.choice((math.nan, math.inf, -math.inf, "\ud800", "a\udfff", b"x"))
    if isinstance(item, dict) and random.random() < 0.5:
        return put(value, place, {**members_of(item), random.choice((1, None, "\ud800")): 1})
    if isinstance(item, list) and random.random() < 0.5:
        return put(value, place, [*items_of(item), bad])
    return put(value, place, bad)


def other_kind(item: Json) -> Json:
    """Return something near `item` that is another type, or the same number spelt otherwise."""
    if isinstance(item, bool):
        return int(item)
    if isinstance(item, int):
        return float(item) if abs(item) < 2**53 else str(item)[:20]
    if isinstance(item, float):
        return int(item) if item.is_integer() and abs(item) < 2**53 else str(item)
    if isinstance(item, str):
        return [item]
    if item is None:
        return False
    return (
        [[key, part] for key, part in members_of(item).items()]
        if isinstance(item, dict)
        else {"0": item}
    )
