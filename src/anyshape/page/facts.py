"""What a schema says about one value, gathered for whoever has to fill it in.

A form needs no more than an outline: which types, which fields, which choices. What holds at once
is put together, of alternatives one is chosen, and a condition is decided by the value as it is so
far. The verdicts come from the schema core; nothing here judges a value by itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast
from urllib.parse import quote

from anyshape.documents.json import identity, is_array, is_object
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place, pointer
from anyshape.documents.positions import Node, branches, declared_types, own_id
from anyshape.errors import AnyshapeError
from anyshape.protocol.result import ABSENT
from anyshape.schema import Schema, compile
from anyshape.schema.notation import notation

Path: TypeAlias = tuple[str, ...]
"""Where a value stands in the arguments."""

ALL_KINDS: Final = ("string", "number", "boolean", "object", "array", "null")
"""The JSON types, in the order in which a person is offered them."""

_WHOLE: Final = "urn:anyshape:whole"
_LONGEST_LABEL: Final = 90
_MOST_PLACES: Final = 200
_MOST_BRANCHES: Final = 50
_PATIENCE: Final = 2.0
"""Seconds for all verdicts of one form: a stranger's schema may have thousands of branches."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A place where one of several schemas has to be chosen, and which one is."""

    place: str
    labels: tuple[str, ...]
    chosen: int


@dataclass(slots=True)
class Facts:
    """What is known about one value before it is there."""

    title: str | None = None
    description: str | None = None
    type: str = ""
    """The first schema in compact notation."""
    default: Any = ABSENT
    kinds: tuple[str, ...] = ()
    """The JSON types that it can have, `integer` among them; empty if nothing is said."""
    options: list[Any] | None = None
    """All values that it can have, where they are listed."""
    titles: dict[int, str] = field(default_factory=dict[int, str])
    """What some of the options are called, by position."""
    is_forbidden: bool = False
    """Whether there can be no such value."""
    is_long: bool = False
    """Whether it is text that is written in several lines."""
    properties: dict[str, list[Place]] = field(default_factory=dict[str, list[Place]])
    required: list[str] = field(default_factory=list[str])
    others: list[Place] = field(default_factory=list[Place])
    """The schemas of properties without a declaration."""
    is_map: bool = False
    """Whether properties without a declaration are expected."""
    items: list[Place] = field(default_factory=list[Place])
    first_items: list[list[Place]] = field(default_factory=list[list[Place]])
    has_more_items: bool = True
    alternatives: list[Alternative] = field(default_factory=list[Alternative])


class FormSource:
    """One schema document, asked about any of its places. May wait: to be used on a thread."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._root = dict(document)
        self._outline = Outline(self._root)
        self._verdicts: dict[Place, Schema | None] = {}
        self._until = 0.0

    def begin(self) -> None:
        """Begin another form: verdicts on it may take so long, and no longer."""
        self._until = time.monotonic() + _PATIENCE

    def facts(
        self, places: Sequence[Place], value: Any, path: Path, choices: Mapping[str, int]
    ) -> Facts:
        """Return what the schemas at some places say together of the value at `path`."""
        gathering = _Gathering(self, value, path, choices)
        gathering.take(places)
        facts = gathering.finish()
        if places:
            facts.type = self.label(places[0])
        return facts

    def schema_at(self, place: Place) -> Node | bool | None:
        """Return the schema at a place, if there is one."""
        found = self._outline.at(place)
        if isinstance(found, bool):
            return found
        return self._outline.schema_at(place) if place in self._outline.schemas else None

    def resolve(self, place: Place, node: Node) -> list[Place]:
        """Return the places that the references of a schema lead to."""
        found = [
            self._outline.resolve(place, node[keyword], keyword)
            for keyword in ("$ref", "$dynamicRef", "$recursiveRef")
            if isinstance(node.get(keyword), str)
        ]
        return [target for target in found if target is not None]

    def hides_siblings(self, place: Place) -> bool:
        """Return whether a reference at a place is all that counts there."""
        return self._outline.schemas[place].dialect.reference_hides_siblings

    def accepts(self, place: Place, value: Any) -> bool | None:
        """Return whether the schema at a place accepts a value; `None` if that is not known."""
        if value is ABSENT or time.monotonic() > self._until:
            return None
        schema = self.schema_at(place)
        if isinstance(schema, bool):
            return schema
        if place not in self._verdicts:
            self._verdicts[place] = self._compile(place)
        compiled = self._verdicts[place]
        try:
            return None if compiled is None else compiled.accepts(value)
        except AnyshapeError:
            return None

    def label(self, place: Place) -> str:
        """Return a schema in compact notation."""
        text = notation(self._root, "#" + quote(pointer(place), safe="/~"))
        return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"

    def _compile(self, place: Place) -> Schema | None:
        """Compile a part of the document where it stands, so that its references lead on."""
        dialect = self._outline.dialect
        uri = own_id(self._root, dialect)
        whole = self._root if uri else {**self._root, dialect.id_keyword: _WHOLE}
        definitions = "$defs" if "$defs" in dialect.applicators else "definitions"
        document = {
            "$schema": dialect.uri,
            definitions: {"whole": whole},
            "$ref": f"{(uri or _WHOLE).rstrip('#')}#{quote(pointer(place), safe='/~')}",
        }
        try:
            return compile(document, formats=False)
        except AnyshapeError:
            return None


class _Gathering:
    """Puts together what holds for one value."""

    def __init__(
        self, source: FormSource, value: Any, path: Path, choices: Mapping[str, int]
    ) -> None:
        self.facts = Facts()
        self._source = source
        self._value = value
        self._path = path
        self._choices = choices
        self._seen: set[Place] = set()
        self._is_closed = False

    def finish(self) -> Facts:
        """Return what came together; an object of which nothing is said may hold anything."""
        facts = self.facts
        if not facts.properties and not facts.required and not self._is_closed:
            facts.is_map = True
        if facts.options is not None and facts.kinds:
            self._offer([each for each in facts.options if _is_of(each, facts.kinds)])
        return facts

    def _offer(self, options: Sequence[Any], titles: Mapping[int, str] | None = None) -> None:
        """Offer these of the options there are so far, called by their titles."""
        facts = self.facts
        so_far = options if facts.options is None else facts.options
        known = {identity(each): index for index, each in enumerate(so_far)}
        places = [known.get(identity(each)) for each in options]
        before = facts.titles
        facts.titles = {}
        offered: list[Any] = []
        for index, place in enumerate(places):
            if place is None:
                continue
            title = (titles or {}).get(index) or before.get(place)
            if title is not None:
                facts.titles[len(offered)] = title
            offered.append(options[index])
        facts.options = offered

    def take(self, places: Sequence[Place]) -> None:
        for place in places:
            if place in self._seen or len(self._seen) > _MOST_PLACES:
                continue
            self._seen.add(place)
            schema = self._source.schema_at(place)
            if schema is False or schema in ({"not": {}}, {"not": True}):
                self.facts.is_forbidden = True
            elif isinstance(schema, dict):
                self._read(place, schema)

    def _read(self, place: Place, node: Node) -> None:
        references = self._source.resolve(place, node)
        if references and self._source.hides_siblings(place):
            self.take(references)
            return
        self._annotations(node)
        self._values(node)
        self._objects(place, node)
        self._arrays(place, node)
        self.take(references)
        self.take(branches(node, place, "allOf"))
        self._conditions(place, node)
        for keyword in ("oneOf", "anyOf"):
            self._choose(place, node, keyword)

    def _annotations(self, node: Node) -> None:
        facts = self.facts
        for name in ("title", "description"):
            if getattr(facts, name) is None and isinstance(node.get(name), str):
                setattr(facts, name, node[name])
        if "default" in node and facts.default is ABSENT:
            facts.default = node["default"]
        longest = node.get("maxLength")
        if "contentMediaType" in node or (type(longest) is int and longest > 300):
            facts.is_long = True

    def _values(self, node: Node) -> None:
        facts = self.facts
        named = declared_types(node)
        if named is not None:
            facts.kinds = _both(facts.kinds, named) if facts.kinds else named
        options: list[Any] | None = None
        if "const" in node:
            options = [node["const"]]
        elif is_array(node.get("enum")):
            options = list(node["enum"])
        if options is not None:
            self._offer(options)

    def _objects(self, place: Place, node: Node) -> None:
        facts = self.facts
        properties = node.get("properties")
        if is_object(properties):
            for name in properties:
                facts.properties.setdefault(name, []).append((*place, "properties", name))
        self._require(node.get("required"))
        patterns = node.get("patternProperties")
        others: list[Place] = [
            (*place, "patternProperties", name)
            for name in (patterns if is_object(patterns) else ())
        ]
        rest = "additionalProperties"
        if rest not in node:
            rest = "unevaluatedProperties"
        additional = node.get(rest)
        if is_object(additional) or (additional is True and not others):
            others.append((*place, rest))
        if others:
            facts.is_map = True
        if len(others) == 1:  # of several patterns, only a match could tell which one is meant
            facts.others += others
        if additional is False:
            self._is_closed = True

    def _arrays(self, place: Place, node: Node) -> None:
        facts = self.facts
        items, rest = node.get("items"), node.get("additionalItems")
        keyword = "items" if is_array(items) else "prefixItems"
        for index, first in enumerate(branches(node, place, keyword)):
            if index == len(facts.first_items):
                facts.first_items.append([])
            facts.first_items[index].append(first)
        more, where = (rest, "additionalItems") if is_array(items) else (items, "items")
        if more is False:
            facts.has_more_items = False
        elif is_object(more):
            facts.items.append((*place, where))
        most = node.get("maxItems")
        if type(most) is int and is_array(self._value) and len(self._value) >= most:
            facts.has_more_items = False

    def _conditions(self, place: Place, node: Node) -> None:
        if "if" in node:
            met = self._source.accepts((*place, "if"), self._value)
            if met is not None:
                self.take([(*place, "then" if met else "else")])
        if not is_object(self._value):
            return
        for keyword in ("dependentSchemas", "dependentRequired", "dependencies"):
            dependent = node.get(keyword)
            for name, wanted in dependent.items() if is_object(dependent) else ():
                if name in self._value and is_array(wanted):
                    self._require(wanted)
                elif name in self._value:
                    self.take([(*place, keyword, name)])

    def _choose(self, place: Place, node: Node, keyword: str) -> None:
        choices = branches(node, place, keyword)[:_MOST_BRANCHES]
        if len(choices) < 2 or self._list_options(choices):
            self.take(choices)
            return
        named = f"{pointer(self._path)} {pointer((*place, keyword))}"
        chosen = self._choices.get(named)
        if chosen is None or not 0 <= chosen < len(choices):
            chosen = self._closest(choices)
        labels = tuple(map(self._label, choices))
        self.facts.alternatives.append(Alternative(named, labels, chosen))
        self.take([choices[chosen]])

    def _list_options(self, branches: Sequence[Place]) -> bool:
        """Take alternatives that are one value each for a list of values with titles."""
        nodes = [self._source.schema_at(branch) for branch in branches]
        if not all(isinstance(node, dict) and "const" in node for node in nodes):
            return False
        found = [cast("Node", node) for node in nodes]
        named = [node.get("title") or node.get("description") for node in found]
        titles = {index: title for index, title in enumerate(named) if isinstance(title, str)}
        self._offer([node["const"] for node in found], titles)
        self._seen.update(branches)
        return True

    def _closest(self, branches: Sequence[Place]) -> int:
        """Return the first alternative that accepts the value, or else the one most like it."""
        if self._value is ABSENT:
            return 0
        for index, branch in enumerate(branches):
            if self._source.accepts(branch, self._value):
                return index
        scores = [self._likeness(branch) for branch in branches]
        return scores.index(max(scores))

    def _likeness(self, branch: Place) -> int:
        """Return how much a value looks like what a schema describes."""
        facts = self._source.facts([branch], ABSENT, self._path, {})
        score = 0
        if facts.kinds and kind_of(self._value) not in _without_integer(facts.kinds):
            score -= 20
        if not is_object(self._value):
            return score
        for name, places in facts.properties.items():
            if name in self._value:
                options = self._source.facts(places, ABSENT, (), {}).options
                score += 1 if options is None else 10 if self._value[name] in options else -10
        return score + sum(1 for name in facts.required if name in self._value)

    def _label(self, branch: Place) -> str:
        schema = self._source.schema_at(branch)
        members = schema if isinstance(schema, dict) else {}
        title: object = members.get("title")
        if isinstance(title, str) and title:
            return title
        names: object = members.get("required")
        if members.keys() == {"required"} and is_array(names):
            return f"with {', '.join(map(str, names))}"
        return self._source.label(branch)

    def _require(self, names: object) -> None:
        for name in names if is_array(names) else ():
            if isinstance(name, str) and name not in self.facts.required:
                self.facts.required.append(name)


def kind_of(value: object) -> str:
    """Return the JSON type of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "array" if isinstance(value, list) else "object"


def _is_of(value: object, kinds: Sequence[str]) -> bool:
    """Tell whether a value has one of the types."""
    kind = kind_of(value)
    if kind != "number" or "number" in kinds:
        return kind in kinds
    return "integer" in kinds and cast("float", value) % 1 == 0


def _without_integer(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple("number" if kind == "integer" else kind for kind in kinds)


def _both(known: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Return the types that two lists have in common; every integer is a number."""
    found = [kind for kind in known if kind in named or (kind == "integer" and "number" in named)]
    if "number" in known and "integer" in named and "number" not in named:
        found.append("integer")
    return tuple(dict.fromkeys(found)) or tuple(named)
