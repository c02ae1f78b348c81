"""A document written anew for a profile: unions of plain typed schemas, place by place.

What is written, and how values get there and back, is decided together: each place gives a node and
a codec. Definitions are written where the schema is recursive, or where they save space.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Final

from anyshape.documents.positions import nodes
from anyshape.errors import CannotLower
from anyshape.providers._arrays import array
from anyshape.providers._attempts import Attempt
from anyshape.providers._branches import Branches, Raw, Site, Way
from anyshape.providers._cases import Case, Cases
from anyshape.providers._codecs import ANY, AsIs, Codec, Reference
from anyshape.providers._exclusive import Overlaps
from anyshape.providers._forms import LoweredForm, text_form
from anyshape.providers._graph import Key, NodeGraph, is_large
from anyshape.providers._losses import Losses, compact, text_length, worded
from anyshape.providers._names import definition_name
from anyshape.providers._object_forms import object_form
from anyshape.providers._root import fold, object_cases
from anyshape.providers._scalars import enumeration, scalar
from anyshape.providers._source import arranged
from anyshape.providers._unions import unite
from anyshape.providers.counting import recursive_definitions, referred
from anyshape.providers.profile import AnyValue, Profile

_MOST_NODES: Final = 6_000
_CHARACTERS: Final = 500
"""Of descriptions and listed values, which count as one more place."""
_LONGEST_DEFAULT: Final = 60
_NEARLY_EVERYTHING: Final = ANY.kinds - {"integer", "null"}
"""What is as good as any value, with null or without it: null may be added for what is optional."""


class TooManyNodes(CannotLower):
    """The lowered document would be too large, written with so many levels."""

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(
            f"written for {attempt.rules.name}, the schema has more than {_MOST_NODES} places, "
            f"or more than {_CHARACTERS} characters for each of them"
        )
        self.places = attempt.places


@dataclass(frozen=True, slots=True)
class At:
    """Where in the lowered document something is written."""

    levels: int = 0
    """Objects around it, within the root or a definition."""
    active: dict[Key, int] = field(default_factory=dict[Key, int])
    """Places that are being written around it, and how often."""
    guarded: bool = False
    """Whether it is below an optional property."""
    root: bool = False

    def inside(self, key: Key) -> At:
        """Return the place inside of one more `key`."""
        return replace(self, active={**self.active, key: self.active.get(key, 0) + 1}, root=False)


class Reading:
    """A schema as it was read: what every attempt to write it begins with."""

    def __init__(self, branches: Branches, cases: Cases) -> None:
        self.branches = branches
        self.cases = cases
        self.root: Raw = ((branches.source.root,),)
        self.overlaps = Overlaps(branches, cases)
        self.graph = NodeGraph(branches, cases, self.root)

    def is_unrolled(self, profile: Profile) -> bool:
        """Tell whether recursion is written out, so that writing out less of it is an answer."""
        return bool(self.graph.cyclic) and not _defines_recursion(profile)


def _defines_recursion(profile: Profile) -> bool:
    """Tell whether definitions carry recursion, so that nothing has to be unrolled."""
    return "$ref" in profile.keywords and profile.recursion


class Writer:
    """Writes one document for one profile."""

    def __init__(
        self,
        reading: Reading,
        attempt: Attempt,
        losses: Losses,
        *,
        prefix: str = "",
        inlined: frozenset[Key] = frozenset(),
    ) -> None:
        self._attempt = attempt
        self.profile = attempt.rules
        self.losses = losses
        self.cases = reading.cases
        self.branches = reading.branches
        self._overlaps = reading.overlaps
        self._prefix = prefix
        self._nodes = 0
        self._definitions: dict[str, dict[str, Any]] = {}
        self._codecs: dict[str, Codec] = {}
        self._named: dict[Key, str] = {}
        self._root = reading.root
        self._graph = reading.graph
        self._inlined = inlined

    def document(self) -> tuple[dict[str, Any], Codec]:
        """Return the lowered document and the codec of its values."""
        site = self.branches.site(self._root)
        self._overlaps.note(site, self.losses)
        found = object_cases(site, self.cases)
        case = fold(found, self.profile.undeclared, self.losses)
        at = At(root=True)
        if not _defines_recursion(self.profile):
            at = replace(at.inside(site.key), root=True)
        form = object_form(self, case, at)
        about = (*site.about, *(site.ways[0].about if len(site.ways) == 1 else ()))
        form.description = self.branches.source.said(about, "description") or ""
        document: dict[str, Any] = {"type": "object", "properties": {}, **form.written()}
        used = self._used(document)
        if used:
            document["$defs"] = {name: self._definitions[name] for name in sorted(used)}
        if self.profile.root_keywords is not None:
            if "additionalProperties" in document.keys() - self.profile.root_keywords:
                self.losses.add("", "additionalProperties", "at the root")
            document = {
                keyword: value
                for keyword, value in document.items()
                if keyword in self.profile.root_keywords
            }
        return arranged(document), form.codec

    def _used(self, document: dict[str, Any]) -> set[str]:
        """Return the definitions that are left: some places become text after all."""
        found: set[str] = set()
        pending = [document]
        while pending:
            for node in nodes(pending.pop()):
                name = referred(node)
                if name is not None and name not in found:
                    found.add(name)
                    pending.append(self._definitions[name])
        return found

    def needless(self, document: dict[str, Any]) -> frozenset[Key]:
        """Return what has a definition that is used once, or small, and does not use itself."""
        uses = Counter(map(referred, nodes(document)))
        recursive = recursive_definitions(document)
        return frozenset(
            key
            for key, name in self._named.items()
            if name not in recursive and (uses[name] < 2 or not self._is_large(name))
        )

    def _is_large(self, name: str) -> bool:
        body = self._definitions[name]
        return any(
            is_large(len(part.get("properties", ())), len(part.get("enum", ())))
            for part in (body, *body.get("anyOf", ()))
        )

    def site(self, raw: Raw, at: At) -> LoweredForm:
        """Return the form of one place."""
        self._spend(1)
        site = self.branches.site(raw)
        self._overlaps.note(site, self.losses)
        description = self.branches.source.said(site.about, "description") or ""
        form = self._entry(site.key, at)
        if form is None:
            inner = at.inside(site.key)
            form = self._joined(site, self._forms(site, inner), description)
        elif "$ref" not in form.node:
            form.description = description
        elif self.profile.union_siblings:
            own = self.branches.source.said(self._before(site), "description")
            if own:
                form = LoweredForm({"anyOf": [form.node]}, form.codec, form.notes, own, form.null)
        self._annotate(site, form)
        words = len(form.description) + sum(map(len, form.notes))
        self._spend((words + sum(map(text_length, form.node.get("enum", ())))) // _CHARACTERS)
        return form

    def _spend(self, nodes: int) -> None:
        """Count what is written: places, and texts by what they would be in places."""
        self._nodes += nodes
        if self._nodes > _MOST_NODES:
            raise TooManyNodes(self._attempt)

    def _joined(self, site: Site, forms: list[LoweredForm], description: str) -> LoweredForm:
        place = self._place(site)
        if not forms:
            # Only parts that nothing requires come here: whatever they were given is refused.
            raise CannotLower(f"{place or '/'} can have no value", path=place)
        # As types are read now, or as they will be read when this is lowered again.
        kinds = {case.kind for case in self.cases.all(site.key)}
        kinds.update(kind for form in forms for kind in form.codec.kinds)
        texts = self.profile.any_value is AnyValue.TEXT
        if any(form.node == {} for form in forms) or (texts and kinds >= _NEARLY_EVERYTHING):
            return self._anything(site, forms, description)
        return unite(forms, description, self.profile, self.losses, place)

    def _anything(self, site: Site, forms: list[LoweredForm], description: str) -> LoweredForm:
        notes = [note for form in forms for note in form.notes if "JSON text" not in note]
        if not any(form.null or form.node == {} for form in forms):
            self.losses.add(self._place(site), "type", "any value")
        for case in self.cases.all(site.key):
            if not case.plain:
                for said in (*case.said.values(), *case.more):
                    self.losses.assertion(said)
                if case.values or case.shaped:
                    self.losses.add(case.place, "type", "any value")
        if self.profile.any_value is AnyValue.TEXT:
            form = text_form("any value", notes)
        else:
            form = LoweredForm({}, ANY, notes, null=True)
        form.description = description
        return form

    def _forms(self, site: Site, at: At) -> list[LoweredForm]:
        """Return the forms of all alternatives of a place."""
        arrays = any(case.kind == "array" for case in self.cases.all(site.key))
        if len(site.ways) == 1:
            return self._way(site, site.ways[0], at, arrays=arrays)
        forms: list[LoweredForm] = []
        for part in self.branches.parts(site):
            key = tuple(way.branch for way in part)
            found = self._entry(key, at)
            if found is not None:
                forms.append(found)
            else:
                inside = at.inside(key)
                for way in part:
                    forms += self._way(site, way, inside, arrays=arrays)
        return forms

    def _way(self, site: Site, way: Way, at: At, *, arrays: bool) -> list[LoweredForm]:
        """Return the forms of one alternative, one for each type."""
        if not way.branch.spots:
            return [LoweredForm({}, ANY)]
        forms = [self._case(case, at, arrays) for case in self.cases.of(way.branch)]
        about = way.about
        if len(site.ways) == 1 and not site.about:
            about += way.branch.spots
        description = self.branches.source.said(about, "description") or ""
        for form in forms:
            if "$ref" not in form.node and len(forms) == 1:
                form.description = form.description or description
        if self.profile.nullable:
            forms += self._nulls((*site.about, *way.about, *way.branch.spots), forms)
        return forms

    def _nulls(self, about: tuple[int, ...], forms: list[LoweredForm]) -> list[LoweredForm]:
        """Return null as one more form where `nullable`, no word of JSON Schema, says so."""
        for number in about:
            spot = self.branches.source[number]
            if spot.words.get("nullable") is True and not any(form.null for form in forms):
                self.losses.add(spot.place, "nullable", "null as well")
                return [LoweredForm({"type": "null"}, AsIs(frozenset(("null",))), null=True)]
        return []

    def _case(self, case: Case, at: At, arrays: bool) -> LoweredForm:
        if case.values is not None and case.kind in ("array", "object"):
            return enumeration(case, self.profile, self.losses)
        if case.kind == "object":
            return object_form(self, case, at, arrays=arrays)
        if case.kind == "array":
            return array(self, case, at)
        return scalar(case, self.profile, self.losses)

    def _entry(self, key: Key, at: At) -> LoweredForm | None:
        """Return a reference or a cut, where this place is not written out."""
        graph = self._graph
        recursive = key in graph.cyclic
        guarded = at.guarded or not self.profile.guarded_recursion
        followed = not recursive or (self.profile.recursion and guarded)
        defined = key in graph.defined and key not in self._inlined
        if defined and followed and "$ref" in self.profile.keywords:
            return self._reference(key)
        if recursive and at.active.get(key, 0) >= self._attempt.unroll:
            return self._cut(key)
        return None

    def _cut(self, key: Key) -> LoweredForm:
        """Return what stands where recursion is not followed any further."""
        cases = self.cases.all(key)
        kinds = list(dict.fromkeys(case.kind for case in cases))
        place = cases[0].place if cases else ""
        self.losses.add(place, "$ref", f"recursion beyond {self._attempt.unroll} levels")
        closed = self.profile.closed or self.profile.nullable
        if self.profile.any_value is AnyValue.SCHEMA and not closed:
            return LoweredForm({}, ANY, null=True)
        return text_form(" or ".join(kinds))

    def _reference(self, key: Key) -> LoweredForm:
        name = self._named.get(key)
        if name is None:
            name = self._named[key] = self._name(key)
            site = self._definition(key)
            at = At(active={key: 1})
            description = self.branches.source.said(site.about, "description") or ""
            form = self._joined(site, self._forms(site, at), description)
            self._definitions[name] = form.written()
            self._codecs[name] = form.codec
        cases = self.cases.all(key)
        known = self._codecs.get(name)
        kinds = frozenset(case.kind for case in cases) if known is None else known.kinds
        null = any(case.kind == "null" for case in cases)
        reference = Reference(name, kinds, self._codecs)
        return LoweredForm({"$ref": f"#/$defs/{name}"}, reference, null=null)

    def _definition(self, key: Key) -> Site:
        """Return the place that a definition is made of: where references lead, if any do."""
        number = self._graph.names.get(key)
        if number is not None:
            site = self.branches.site(((number,),))
            if site.key == key:
                return site
        return Site(tuple(Way(branch, ()) for branch in key), (), None)

    def _name(self, key: Key) -> str:
        number = self._graph.names.get(key)
        place = self.branches.source[number if number is not None else key[0].spots[0]].place
        prefix = self._prefix if self.profile.prefix_definitions else ""
        return definition_name(place, self._named.values(), prefix)

    def _before(self, site: Site) -> tuple[int, ...]:
        """Return what a place says itself, before the definition that it refers to."""
        spots = {spot for way in site.ways for spot in way.branch.spots}
        end = site.about.index(site.name) if site.name in site.about else len(site.about)
        return tuple(number for number in site.about[:end] if number not in spots)

    def _place(self, site: Site) -> str:
        numbers = (*site.about, *(spot for way in site.ways for spot in way.branch.spots))
        return self.branches.source[numbers[0]].place if numbers else ""

    def _annotate(self, site: Site, form: LoweredForm) -> None:
        """Restate a default: as a keyword where it may stand, else in words."""
        about = site.about or tuple(spot for way in site.ways[:1] for spot in way.branch.spots)
        default = self.branches.source.said(about, "default")
        if default is None:
            return
        beside = self.profile.union_siblings or "anyOf" not in form.node
        kept = isinstance(default, (str, int, float)) and form.codec.plain and beside
        if "default" in self.profile.keywords and kept and "$ref" not in form.node:
            form.node["default"] = default
        elif len(compact(default)) <= _LONGEST_DEFAULT:
            form.remark(worded("default", default), beside=self.profile.union_siblings)
