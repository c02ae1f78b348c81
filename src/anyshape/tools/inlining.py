"""Derived schemas made small: definitions that are used once stand where they are used.

Every tool's schema travels in every listing and, in most hosts, in every prompt. A definition
stays under `$defs` when it is shared or contains itself; one that is used once costs a name, a
reference and a reader's jump for nothing. OpenAPI's `discriminator` means nothing in JSON Schema;
what it stands for, that each member of the union has its tag, is said by `required`, and then
`anyOf` says what `oneOf` would. A union in a union is one union. Only documents that Anyshape
derived pass through here; a schema that an author wrote is published as written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from anyshape.documents.pointers import unescape
from anyshape.documents.positions import Node, rebuild, subschemas

_PREFIX = "#/$defs/"
_ANNOTATIONS = frozenset(
    ("default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly")
)
_MERGING = _ANNOTATIONS | {"required"}


def arrange(schema: Node, definitions: Mapping[str, Node]) -> Node:
    """Return `schema` as a document: single-use definitions inlined, shared ones under `$defs`."""
    if not definitions:
        return _Inliner(definitions, set()).place(schema)
    uses = _count_uses(schema, definitions)
    kept = {
        name
        for name in uses
        if uses[name] > 1 or name in _count_uses(definitions[name], definitions)
    }
    arranged = _Inliner(definitions, kept)
    root = arranged.place(schema)
    shared = {name: arranged.place(definitions[name]) for name in sorted(kept)}
    for name in sorted(arranged.unmerged - kept):
        shared[name] = arranged.place(definitions[name])
    return {**root, "$defs": dict(sorted(shared.items()))} if shared else root


class _Inliner:
    def __init__(self, definitions: Mapping[str, Node], kept: set[str]) -> None:
        self._definitions = definitions
        self._kept = kept
        self.unmerged: set[str] = set()

    def place(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        document = self._require_tags(cast("Node", schema))
        name = _target(document)
        if name is not None and name in self._definitions and name not in self._kept:
            target = self._definitions[name]
            beside = {key: value for key, value in document.items() if key != "$ref"}
            if beside.keys() & target.keys() <= _MERGING:
                return self.place({**target, **beside, **_require_both(target, beside)})
            self.unmerged.add(name)
        return _flattened(rebuild(document, self.place))

    def _require_tags(self, union: Node) -> Node:
        discriminator = union.get("discriminator")
        keyword = next((keyword for keyword in ("oneOf", "anyOf") if keyword in union), None)
        if keyword is None or not isinstance(discriminator, dict):
            return union
        tag: str = cast("Node", discriminator)["propertyName"]
        members = [self._require(tag, member) for member in union[keyword]]
        # No value has two tags, so "one of" comes to "any of", which more hosts and models take.
        is_told_apart = keyword == "oneOf" and self._are_told_apart(tag, members)
        return {
            "anyOf" if name == keyword and is_told_apart else name: (
                members if name == keyword else value
            )
            for name, value in union.items()
            if name != "discriminator"
        }

    def _are_told_apart(self, tag: str, members: list[Node]) -> bool:
        """Return whether each member requires the tag, with string values that no other has."""
        seen: set[str] = set()
        for member in members:
            target, required = self._follow(member)
            said: Any = target.get("properties", {}).get(tag, {})
            values: list[Any] = [said["const"]] if "const" in said else said.get("enum", [])
            is_tagged = target.get("type") == "object" and tag in required and values
            if not is_tagged or not all(isinstance(value, str) for value in values):
                return False
            if seen & {*values}:
                return False
            seen |= {*values}
        return True

    def _require(self, tag: str, member: Node) -> Node:
        target, _ = self._follow(member)
        if tag in target.get("required", ()) or tag not in target.get("properties", (tag,)):
            return member
        return {**member, "required": [*member.get("required", ()), tag]}

    def _follow(self, member: Node) -> tuple[Node, set[str]]:
        """Return what a reference leads to, and the names that are required on the way."""
        required = {*member.get("required", ())}
        while (name := _target(member)) in self._definitions:
            member = self._definitions[cast("str", name)]
            required |= {*member.get("required", ())}
        return member, required


def _flattened(schema: Node) -> Node:
    """Return a union without unions in it that say nothing else, such as of an optional one."""
    members: list[Any] = schema.get("anyOf", [])
    if not any(_is_union(member) for member in members):
        return schema
    flat = [part for it in members for part in (it["anyOf"] if _is_union(it) else [it])]
    return {**schema, "anyOf": flat}


def _is_union(schema: Any) -> bool:
    return isinstance(schema, dict) and cast("Node", schema).keys() == {"anyOf"}


def _require_both(target: Node, beside: Node) -> Node:
    names = {*target.get("required", ()), *beside.get("required", ())}
    if not names:
        return {}
    # In the order of declaration, as pydantic has it.
    declared = [name for name in target.get("properties", ()) if name in names]
    return {"required": [*declared, *sorted(names - set(declared))]}


def _count_uses(schema: Node, definitions: Mapping[str, Node]) -> Counter[str]:
    """Count the references to each definition in `schema`, and in the definitions it uses."""
    uses: Counter[str] = Counter()
    pending: list[Any] = [schema]
    while pending:
        current = pending.pop()
        if not isinstance(current, dict):
            continue
        document = cast("Node", current)
        name = _target(document)
        if name is not None and name in definitions:
            uses[name] += 1
            if uses[name] == 1:
                pending.append(definitions[name])
        pending.extend(inner for _, _, inner in subschemas(document))
    return uses


def _target(schema: Node) -> str | None:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(_PREFIX):
        return unescape(reference[len(_PREFIX) :])
    return None
