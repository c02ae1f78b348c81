"""The published rules of each provider, as a judge of documents.

`check` knows nothing of how a document came about: it reads it as the provider would, and names
what the provider would refuse. Everything that `lower` returns has passed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from anyshape.documents.pointers import pointer
from anyshape.documents.positions import subschemas
from anyshape.providers._expressions import expression_size
from anyshape.providers._patterns import written_pattern
from anyshape.providers._values import KINDS, kind_of
from anyshape.providers.counting import count_problems, referred
from anyshape.providers.profile import AnyValue, Maps, Profile, Writing
from anyshape.providers.profiles import find_profile


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule that a document breaks: where, by which keyword, and what the rule is."""

    path: str
    keyword: str
    message: str

    def __str__(self) -> str:
        """Return where and what, in one line; the name of a tool is at no place of its schema."""
        return self.message if self.keyword == "name" else f"{self.path or '/'}: {self.message}"


def check(document: dict[str, Any], profile: Profile | str) -> list[Violation]:
    """Return every rule of `profile` that `document` breaks, none if the provider would take it."""
    rules = find_profile(profile)
    found = list(_root(document, rules))
    for path, node in _nodes(document):
        found += _node(path, node, document, rules)
    if rules.writing is Writing.REBUILT:
        found += [Violation("", "", message) for message in count_problems(document, rules)]
    # What is made of a document that breaks another rule is not known.
    return found or list(_expression(document, rules))


def _nodes(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema object of a document with its path."""
    pending: list[tuple[str, object]] = [("", document)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            node = cast("dict[str, Any]", value)
            yield path, node
            pending += [
                (path + pointer((keyword,) if label is None else (keyword, label)), inner)
                for keyword, label, inner in subschemas(node)
            ]


def _root(document: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    if document.get("type") != "object":
        yield Violation("", "type", 'the root must say "type": "object"')
    refused = profile.root_refuses & document.keys()
    if profile.root_keywords is not None:
        refused |= document.keys() - profile.root_keywords
    for keyword in sorted(refused):
        yield Violation("", keyword, f"{keyword} may not stand at the root")
    if profile.root_properties and "properties" not in document:
        yield Violation("", "properties", "the root must have properties")


def _expression(document: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    most = profile.bounds.expression
    found = 0 if most is None else expression_size(document)
    if most is not None and found > most:
        yield Violation(
            "",
            "",
            f"an expression of at least {found} characters, where {most} are accepted: "
            "list fewer values or declare fewer properties",
        )


def _node(
    path: str, node: dict[str, Any], document: dict[str, Any], profile: Profile
) -> Iterator[Violation]:
    declared = node.get("type")
    kinds = cast("list[Any]", declared) if isinstance(declared, list) else [declared]
    if "array" in kinds and profile.array_items_required and "items" not in node:
        yield Violation(path, "items", "every array needs items")
    yield from _names(path, node, profile)
    reference = node.get("$ref")
    if isinstance(reference, str) and referred(node) not in document.get("$defs", {}):
        yield Violation(path, "$ref", f"{reference} is none of the definitions")
    if profile.writing is Writing.KEPT:
        return
    for keyword in sorted(node.keys() - profile.keywords):
        yield Violation(path, keyword, f"{keyword} is not accepted")
    if isinstance(reference, str):
        if len(node) > 1:
            yield Violation(path, "$ref", "nothing may stand beside $ref")
        return
    if "anyOf" in node and not profile.union_siblings and len(node) > 1:
        yield Violation(path, "anyOf", "nothing may stand beside anyOf")
    yield from _booleans(path, node)
    yield from _types(path, node, kinds, profile)
    yield from _numbers(path, node, kinds, profile)
    yield from _values(path, node, kinds, profile)
    if "object" in kinds and "enum" not in node:
        yield from _object(path, node, profile)


def _names(path: str, node: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    if profile.property_names is None or (profile.root_names_only and path):
        return
    for name in node.get("properties", {}):
        if not re.fullmatch(profile.property_names, name):
            yield Violation(path, "properties", f"the property name {name!r} is not accepted")


def _booleans(path: str, node: dict[str, Any]) -> Iterator[Violation]:
    for keyword, label, inner in subschemas(node):
        tail = keyword == "items" and "prefixItems" in node
        if isinstance(inner, bool) and keyword != "additionalProperties" and not tail:
            where = keyword if label is None else f"{keyword}/{label}"
            yield Violation(path, keyword, f"a boolean is not accepted as a schema at {where}")


def _numbers(
    path: str, node: dict[str, Any], kinds: list[Any], profile: Profile
) -> Iterator[Violation]:
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        value = node.get(keyword)
        if value is None:
            continue
        if kinds == ["integer"] and kind_of(value) != "integer":
            yield Violation(path, keyword, "a bound of integers must be one")
        if profile.largest_bound is not None and abs(value) > profile.largest_bound:
            yield Violation(path, keyword, f"bounds may be {profile.largest_bound} at most")


def _types(
    path: str, node: dict[str, Any], kinds: list[Any], profile: Profile
) -> Iterator[Violation]:
    if isinstance(node.get("type"), list) and not profile.type_lists:
        yield Violation(path, "type", "a list of types is not accepted")
    elif "object" in kinds and len(kinds) > 1:
        yield Violation(path, "type", "objects may not share a list of types")
    if "prefixItems" in node and node.get("items") is not False and not profile.open_tuples:
        yield Violation(path, "prefixItems", "a tuple must be closed")
    free = not node.keys() - {"description", "default"} and profile.any_value is AnyValue.SCHEMA
    listed = profile.untyped_enums and "enum" in node
    if "type" not in node and "anyOf" not in node and not free and not listed:
        yield Violation(path, "type", "every schema needs a type")
    for kind in kinds:
        if kind is not None and kind not in KINDS:
            yield Violation(path, "type", f"{kind!r} is no type")


def _values(
    path: str, node: dict[str, Any], kinds: list[Any], profile: Profile
) -> Iterator[Violation]:
    values = node.get("enum")
    if values is not None:
        found = {kind_of(value) for value in values}
        typed = "type" in node or not profile.untyped_enums
        if not values or not all(
            not typed or kind in kinds or (kind == "integer" and "number" in kinds)
            for kind in found
        ):
            yield Violation(path, "enum", "listed values must be of the declared type")
        if not found <= profile.enum_kinds:
            yield Violation(path, "enum", f"{', '.join(sorted(found))} cannot be listed")
        if "" in values and not profile.empty_enum_strings:
            yield Violation(path, "enum", "an empty string cannot be listed")
    form = node.get("format")
    if form is not None and profile.formats is not None and form not in profile.formats:
        yield Violation(path, "format", f"the format {form!r} is not accepted")
    pattern = node.get("pattern")
    for keyword, text in (
        *((("pattern", pattern),) if pattern is not None else ()),
        *(("patternProperties", name) for name in node.get("patternProperties", ())),
    ):
        if written_pattern(text, profile.patterns) != text:
            yield Violation(path, keyword, "the regular expression is not accepted")
    beside = node.keys() & {"minLength", "maxLength", "format"}
    if pattern is not None and beside and not profile.lengths_beside_pattern:
        yield Violation(path, "pattern", "no length may stand beside a pattern")
    least = node.get("minItems")
    if least is not None and profile.most_min_items is not None and least > profile.most_min_items:
        yield Violation(path, "minItems", f"minItems may be {profile.most_min_items} at most")


def _object(path: str, node: dict[str, Any], profile: Profile) -> Iterator[Violation]:
    properties = node.get("properties", {})
    required = node.get("required", [])
    for name in required:
        if name not in properties:
            yield Violation(path, "required", f"{name!r} is required and not declared")
    if profile.all_required and set(required) != set(properties):
        yield Violation(path, "required", "every property must be required")
    additional = node.get("additionalProperties")
    mapped = profile.maps is Maps.ALONE and not properties and additional not in (None, True)
    if profile.closed and additional is not False and not mapped:
        yield Violation(path, "additionalProperties", "every object must be closed")
    if profile.maps is Maps.PAIRS and additional not in (None, False):
        yield Violation(path, "additionalProperties", "properties must be declared")
    if profile.openness_written and additional is None:
        yield Violation(path, "additionalProperties", "every object must say if it is open")
