"""A document kept as its author wrote it, for targets that read everything and enforce nothing.

Only what such targets refuse is changed: compositions at the root, names there, older dialects,
identifiers, booleans for schemas, arrays without `items`. References are gathered under `$defs`.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from anyshape.errors import CannotLower
from anyshape.providers._branches import ANYTHING, Branches, Raw
from anyshape.providers._cases import Case, Cases
from anyshape.providers._codecs import ANY, Codec
from anyshape.providers._exclusive import Overlaps
from anyshape.providers._losses import Losses, Said, described, worded
from anyshape.providers._members import Field, Members, note_renamed
from anyshape.providers._names import definition_name, fits, safe_name
from anyshape.providers._root import fold, object_cases
from anyshape.providers._source import CONTENT, FORMAT_HINT, Subschema, arranged
from anyshape.providers.profile import Profile

_DROPPED: Final = frozenset(
    (
        *("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"),
        *("$comment", "$defs", "definitions", "$ref", "$dynamicRef", "$recursiveRef"),
        *("contentSchema", "additionalItems", "items", "prefixItems", "dependencies"),
    )
)
_CONTRARY: Final = ("not", "if", "contains", "propertyNames")
_MOST_NODES: Final = 50_000


def kept_document(
    profile: Profile, branches: Branches, cases: Cases, losses: Losses
) -> tuple[dict[str, Any], Codec]:
    """Return the document for a profile that keeps it, and the codec of its values."""
    return _Keeper(profile, branches, cases, losses).document()


class _Keeper:
    def __init__(self, profile: Profile, branches: Branches, cases: Cases, losses: Losses) -> None:
        self._profile = profile
        self._branches = branches
        self._source = branches.source
        self._cases = cases
        self._losses = losses
        self._names: dict[tuple[int, bool], str] = {}
        self._taken: set[str] = set()
        self._pending: list[tuple[int, bool]] = []
        self._formatted: dict[int, bool] = {}
        self._nodes = 0

    def document(self) -> tuple[dict[str, Any], Codec]:
        """Return the document and the codec."""
        root = self._source[self._source.root]
        codec: Codec = ANY
        if self._stands(root):
            written = self._node(self._source.root, exact=False)
        else:
            written, codec = self._folded()
        written = {**written, "type": "object"}
        written.setdefault("properties", {})
        definitions: dict[str, Any] = {}
        while self._pending:
            number, exact = self._pending.pop()
            definitions[self._names[number, exact]] = self._node(number, exact=exact)
        if definitions:
            written["$defs"] = {name: definitions[name] for name in sorted(definitions)}
        return arranged(written), codec

    def _stands(self, root: Subschema) -> bool:
        """Tell whether the root may stay as it is."""
        rule = self._profile.property_names
        return (
            root.value is None
            and self._profile.root_refuses.isdisjoint(root.words)
            and not root.references
            and not root.choices
            and "object" in self._kinds(((self._source.root,),))
            and (rule is None or all(re.fullmatch(rule, name) for name in root.properties))
        )

    def _kinds(self, raw: Raw) -> set[str]:
        return {case.kind for case in self._cases.all(self._branches.site(raw).key)}

    def _folded(self) -> tuple[dict[str, Any], Codec]:
        """Return the root as one object, without compositions, its names as they may be."""
        site = self._branches.site(((self._source.root,),))
        Overlaps(self._branches, self._cases).note(site, self._losses)
        case = fold(object_cases(site, self._cases), self._profile.undeclared, self._losses)
        rule = self._profile.property_names or ".*"
        taken = set(case.properties)
        properties: dict[str, Any] = {}
        fields: dict[str, Field] = {}
        for name, raw in case.properties.items():
            lowered = name if fits(name, rule) else safe_name(name, rule, taken)
            taken.add(lowered)
            node = self._raw(raw)
            if self._profile.nulls_for_optional and name not in case.required:
                node = self._or_null(raw, node, "")
            if lowered != name:
                node["description"] = described(node.get("description", ""), [f"named {name}"])
            properties[lowered] = arranged(node)
            fields[name] = Field(lowered, ANY, name in case.required)
        written: dict[str, Any] = {"type": "object", "properties": properties}
        if case.required:
            written["required"] = [fields[name].lowered for name in case.required]
        renamed = any(name != entry.lowered for name, entry in fields.items())
        if case.extra != ():
            note_renamed(fields, case.place, self._losses)
        self._rest(case, written, renamed=renamed)
        about = (*site.about, *(number for way in site.ways[:1] for number in way.about))
        notes = self._lost(case, written, renamed=renamed)
        text = described(self._source.said(about, "description") or "", notes)
        if text:
            written["description"] = text
        return written, Members(fields, ANY)

    def _rest(self, case: Case, written: dict[str, Any], *, renamed: bool) -> None:
        for name in case.forbidden if case.extra != () else ():
            written["properties"].setdefault(name, {"not": {}})
        # A name that was changed may match what it did not.
        if case.patterns and (renamed or case.overlapping):
            said = Said("patternProperties", list(case.patterns), case.place)
            self._losses.assertion(said)
            return
        if case.patterns:
            written["patternProperties"] = {
                pattern: self._raw(raw) for pattern, raw in case.patterns.items()
            }
        if case.extra == ():
            written["additionalProperties"] = False
        elif not case.implied:
            written["additionalProperties"] = self._raw(case.extra) or True

    def _lost(self, case: Case, written: dict[str, Any], *, renamed: bool) -> list[str]:
        lost: list[Said] = list(case.more)
        for keyword, said in case.said.items():
            if keyword == "propertyNames" or renamed:
                lost.append(said)
            else:
                written[keyword] = said.value
        for said in lost:
            self._losses.assertion(said)
        return [said.words for said in lost]

    def _raw(self, raw: Raw) -> dict[str, Any]:
        """Return a union of conjunctions as a schema."""
        if raw == ANYTHING:
            return {}
        parts: list[dict[str, Any]] = []
        for numbers in raw:
            nodes = [self._node(number, exact=False) for number in numbers]
            nodes = [node for node in nodes if node] or [{}]
            part = nodes[0] if len(nodes) == 1 else {"allOf": nodes}
            if part not in parts:
                parts.append(part)
        return parts[0] if len(parts) == 1 else {"anyOf": parts}

    def _node(self, number: int, *, exact: bool) -> dict[str, Any]:
        """Return one subschema; an `exact` one must not admit more than the original."""
        spot = self._source[number]
        if spot.value is not None:
            return {} if spot.value else {"not": {}}
        self._count(1)
        node: dict[str, Any] = {}
        keywords = {keyword for keyword, _ in spot.parts}
        lost = self._hanging_on_formats(spot)
        hints: list[str] = []
        for keyword, value in spot.words.items():
            if keyword in _DROPPED or keyword in lost:
                continue
            if keyword == FORMAT_HINT:  # As a format it would rule out what the author admits.
                hints.append(worded("format", value))
                continue
            inner = exact or keyword in _CONTRARY
            node[keyword] = (
                self._part(spot, keyword, value, inner) if keyword in keywords else value
            )
        for keyword in CONTENT:
            if keyword in spot.ruling and keyword in node:
                self._losses.assertion(Said(keyword, node[keyword], spot.place))
        self._items(spot, node, exact)
        self._dependencies(spot, node, exact)
        self._refer(spot, node, exact)
        if "oneOf" in node and self._asks(spot, "oneOf"):
            self._any_of(spot, node)
        for said in lost.values():
            self._losses.assertion(said)
            hints.append(said.words)
        if hints:
            node["description"] = described(node.get("description", ""), hints)
        if self._profile.nulls_for_optional and not exact:
            self._admit_nulls(spot, node)
        return arranged(node)

    def _hanging_on_formats(self, spot: Subschema) -> dict[str, Said]:
        """Return what refuses values because they have a format, which is a hint in 2020-12.

        Where all strings have all formats, "not of this format" refuses every one of them.
        """
        lost: dict[str, Said] = {}
        if self._asks(spot, "not"):
            lost["not"] = Said("not", spot.words["not"], spot.place)
        if self._asks(spot, "contains") and "maxContains" in spot.words:
            lost["maxContains"] = Said("maxContains", spot.words["maxContains"], spot.place)
        if self._asks(spot, "if"):
            words = spot.condition_words
            lost |= dict.fromkeys(words, Said("if", words, spot.place))
            self._refuse_unevaluated(spot)
        return lost

    def _refuse_unevaluated(self, spot: Subschema) -> None:
        """Refuse a document in which what a condition evaluates makes a difference."""
        everything = self._source.reachable(self._source.root)
        for word in ("unevaluatedProperties", "unevaluatedItems"):
            if any(word in self._source[number].words for number in everything):
                raise CannotLower(
                    f"the condition at {spot.place or '/'} asks for a format, which "
                    f"{self._profile.name} reads as a hint, and {word} depends on it",
                    path=spot.place,
                )

    def _asks(self, spot: Subschema, keyword: str) -> bool:
        """Tell whether the subschemas of a keyword, or what they lead to, speak of a format.

        What is in a string, where a dialect asserts that, is a hint in 2020-12 as formats are.
        """
        for number in spot.listed(keyword):
            if number not in self._formatted:
                found = self._source.reachable(number)
                self._formatted[number] = any(
                    self._source[n].ruling & {"format", FORMAT_HINT, *CONTENT} for n in found
                )
            if self._formatted[number]:
                return True
        return False

    def _any_of(self, spot: Subschema, node: dict[str, Any]) -> None:
        """Write alternatives that might overlap so that they may."""
        self._losses.add(spot.place, "oneOf", "exactly one alternative")
        node["allOf"] = [*node.get("allOf", ()), {"anyOf": node.pop("oneOf")}]

    def _count(self, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > _MOST_NODES:
            raise CannotLower(
                f"written for {self._profile.name}, the schema has more than {_MOST_NODES} places"
            )

    def _part(self, spot: Subschema, keyword: str, value: Any, exact: bool) -> Any:
        """Return the value of a keyword with its subschemas written."""
        if (keyword, 0) in spot.parts:
            return [self._node(number, exact=exact) for number in spot.listed(keyword)]
        if (keyword, None) in spot.parts:
            if isinstance(value, bool) and keyword == "additionalProperties":
                return value
            return self._node(spot.parts[keyword, None], exact=exact)
        return {name: self._node(spot.parts[keyword, name], exact=exact) for name in value}

    def _items(self, spot: Subschema, node: dict[str, Any], exact: bool) -> None:
        if spot.prefix:
            node["prefixItems"] = [self._node(number, exact=exact) for number in spot.prefix]
        if spot.items is not None:
            node["items"] = self._node(spot.items, exact=exact)
        elif self._profile.array_items_required and "array" in spot.types:
            node["items"] = {}
        if self._profile.array_items_required and "unevaluatedItems" in node:
            # What says `items` leaves nothing unevaluated, here and wherever this is part of.
            said = Said("unevaluatedItems", spot.words["unevaluatedItems"], spot.place)
            self._losses.assertion(said)

    def _dependencies(self, spot: Subschema, node: dict[str, Any], exact: bool) -> None:
        dependencies = spot.words.get("dependencies")
        if not isinstance(dependencies, dict):
            return
        for name, value in cast("dict[str, Any]", dependencies).items():
            if isinstance(value, list):
                node.setdefault("dependentRequired", {})[name] = value
            else:
                number = spot.parts["dependencies", name]
                node.setdefault("dependentSchemas", {})[name] = self._node(number, exact=exact)

    def _refer(self, spot: Subschema, node: dict[str, Any], exact: bool) -> None:
        for number in spot.references:
            reference = {"$ref": f"#/$defs/{self._name(number, exact)}"}
            if "$ref" in node:
                node["allOf"] = [*node.get("allOf", ()), reference]
            else:
                node |= reference
        for keyword, options in spot.choices:
            if keyword in ("anyOf", "oneOf"):
                continue
            if exact:
                raise CannotLower(
                    f"{keyword} at {spot.place} may lead to several places, which cannot be said "
                    "inside a negation",
                    path=spot.place,
                )
            self._losses.add(spot.place, keyword, f"one of {len(options)} alternatives")
            self._count(len(options))
            choice = {"anyOf": [{"$ref": f"#/$defs/{self._name(n, exact)}"} for n in options]}
            node["allOf"] = [*node.get("allOf", ()), choice]

    def _name(self, number: int, exact: bool) -> str:
        key = (number, exact and self._profile.nulls_for_optional)
        if key not in self._names:
            self._names[key] = definition_name(self._source[number].place, self._taken)
            self._taken.add(self._names[key])
            self._pending.append(key)
        return self._names[key]

    def _admit_nulls(self, spot: Subschema, node: dict[str, Any]) -> None:
        """Let optional properties be null, and say so where alternatives might overlap by it."""
        if "oneOf" in node:
            self._any_of(spot, node)
        required = spot.words.get("required", ())
        for name, number in spot.properties.items():
            if name not in required:
                inner = node["properties"][name]
                node["properties"][name] = self._or_null(((number,),), inner, spot.place)

    def _or_null(self, raw: Raw, node: dict[str, Any], place: str) -> dict[str, Any]:
        if "null" in self._kinds(raw):
            return node
        self._losses.add(place, "properties", "null for what is left out")
        return {"anyOf": [node, {"type": "null"}]}
