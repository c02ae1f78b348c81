"""A form for any schema: which fields a value has, as far as it is filled in.

The form is worked out anew for every value, so that conditions open and close fields and
alternatives show those of the one that was chosen. What the page cannot show as a field it can
always write as JSON.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

from anyshape.documents.json import is_array, is_object
from anyshape.documents.pointers import MISSING, Place, pointer, reach
from anyshape.page.facts import ALL_KINDS, Facts, FormSource, Path, kind_of
from anyshape.protocol.result import ABSENT

_MOST_FIELDS: Final = 400
_DEEPEST: Final = 12
_MOST_OPTIONS: Final = 200
_EMPTY: Final[Mapping[str, Any]] = {
    "string": "",
    "number": 0,
    "integer": 0,
    "boolean": False,
    "null": None,
    "object": {},
    "array": [],
}


class SchemaForm:
    """The form of one schema document. May wait for verdicts: to be used on a thread."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._source = FormSource(document)

    def describe(self, value: Any, choices: Mapping[str, int]) -> dict[str, Any]:
        """Return the field that stands for the whole value, and in it those of its parts."""
        self._source.begin()
        return _Description(self._source, choices).field((), [()], value, required=True)

    def choose(
        self, value: Any, choices: Mapping[str, int], path: Path, place: str, chosen: int
    ) -> Any:
        """Return the value after another alternative was chosen for its part at `path`.

        What only the alternative before knew of is taken away, and what the new one settles by
        itself is put in.
        """
        old = _at(value, path)
        before, places = self._facts_at(value, choices, path)
        after = self._source.facts(places, old, path, {**choices, place: chosen})
        if not is_object(old) or (after.kinds and "object" not in after.kinds):
            return _put(value, path, self._initial(after))
        gone = (before.properties.keys() | set(before.required)) - set(after.required)
        kept = {
            name: each
            for name, each in old.items()
            if name not in gone or (name in after.properties and name not in before.required)
        }
        settled = self._initial(after)
        return _put(value, path, {**kept, **(settled if is_object(settled) else {})})

    def add(self, value: Any, choices: Mapping[str, int], path: Path) -> Any:
        """Return the value with something to start from at `path`, if nothing is there yet."""
        if _at(value, path) is not ABSENT:
            return value
        for depth in range(len(path)):
            facts, _ = self._facts_at(value, choices, path[:depth])
            kinds = _kinds(facts)
            if kind_of(_at(value, path[:depth])) not in kinds:  # missing, or something else
                value = _put(value, path[:depth], copy.copy(_EMPTY[kinds[0]]))
        facts, _ = self._facts_at(value, choices, path)
        return _put(value, path, self._initial(facts))

    def _facts_at(
        self, value: Any, choices: Mapping[str, int], path: Path
    ) -> tuple[Facts, Sequence[Place]]:
        self._source.begin()
        places: Sequence[Place] = [()]
        facts = self._source.facts(places, value, (), choices)
        for index, token in enumerate(path):
            places = _places_of(facts, value, token)
            value = _at(value, (token,))
            facts = self._source.facts(places, value, path[: index + 1], choices)
        return facts, places

    def _initial(self, facts: Facts) -> Any:
        """Return what to start from; of an object, what is required and can be one value only."""
        if facts.options:
            return facts.options[0]
        if facts.default is not ABSENT:
            return copy.deepcopy(facts.default)
        kind = _kinds(facts)[0]
        if kind != "object":
            return copy.copy(_EMPTY[kind])
        settled: dict[str, Any] = {}
        for name in facts.required:
            inner = self._source.facts(facts.properties.get(name, ()), ABSENT, (), {})
            if inner.options is not None and len(inner.options) == 1:
                settled[name] = inner.options[0]
        return settled


class _Description:
    """Describes one form, within a budget of fields."""

    def __init__(self, source: FormSource, choices: Mapping[str, int]) -> None:
        self._source = source
        self._choices = choices
        self._left = _MOST_FIELDS

    def field(
        self, path: Path, places: Sequence[Place], value: Any, *, required: bool
    ) -> dict[str, Any]:
        self._left -= 1
        facts = self._source.facts(places, value, path, self._choices)
        kinds = _kinds(facts)
        given = value is not ABSENT
        kind = kind_of(value) if given else kinds[0]
        if kind == "number" and "number" not in kinds and "integer" in kinds:
            kind = "integer"
        if kind not in kinds:  # a wrong value does not change what is asked for
            kind = kinds[0]
        found: dict[str, Any] = {
            "path": pointer(path),
            "name": path[-1] if path else "",
            "kind": kind,
            "kinds": kinds,
            "required": required,
            "given": given,
            "type": facts.type,
            "title": facts.title,
            "description": facts.description,
            "forbidden": facts.is_forbidden,
        }
        if facts.default is not ABSENT:
            found["default"] = facts.default
        if facts.is_long:
            found["long"] = True
        if facts.alternatives:
            found["alternatives"] = [
                {"place": each.place, "labels": each.labels, "chosen": each.chosen}
                for each in facts.alternatives
            ]
        if facts.options is not None and len(facts.options) <= _MOST_OPTIONS:
            found["options"] = facts.options
            found["titles"] = {str(index): title for index, title in facts.titles.items()}
        elif kind == "object" and (given or required):
            self._object(found, facts, path, value if is_object(value) else {})
        elif kind == "array" and (given or required):
            self._array(found, facts, path, value if is_array(value) else [])
        return found

    def _object(
        self, found: dict[str, Any], facts: Facts, path: Path, value: Mapping[str, Any]
    ) -> None:
        names = list(dict.fromkeys([*facts.properties, *facts.required, *value]))
        if len(path) >= _DEEPEST or len(names) > self._left:
            found["beyond"] = True
            return
        fields: list[dict[str, Any]] = []
        for name in names:
            inner = value.get(name, ABSENT)
            places = _places_of(facts, value, name)
            one = self.field((*path, name), places, inner, required=name in facts.required)
            if name not in facts.properties and name not in facts.required:
                one["extra"] = True
            if inner is not ABSENT or not one["forbidden"]:
                fields.append(one)
        found["fields"] = fields
        found["open"] = facts.is_map

    def _array(self, found: dict[str, Any], facts: Facts, path: Path, value: Sequence[Any]) -> None:
        if len(path) >= _DEEPEST or len(value) > self._left:
            found["beyond"] = True
            return
        found["items"] = [
            self.field(
                (*path, str(index)), _places_of(facts, value, str(index)), each, required=True
            )
            for index, each in enumerate(value)
        ]
        found["open"] = facts.has_more_items or len(value) < len(facts.first_items)


def _kinds(facts: Facts) -> tuple[str, ...]:
    """Return the types that a value can have; what the schema does not say, its keywords tell."""
    if facts.kinds:
        return facts.kinds
    if facts.options:
        return tuple(dict.fromkeys(kind_of(option) for option in facts.options))
    if facts.properties or facts.required:
        return ("object",)
    if facts.items or facts.first_items:
        return ("array",)
    return ALL_KINDS


def _places_of(facts: Facts, value: Any, token: str) -> list[Place]:
    """Return the schemas that hold for one part of a value."""
    if is_array(value) or (not is_object(value) and facts.items):
        index = int(token) if token.isdecimal() else len(facts.first_items)
        return facts.first_items[index] if index < len(facts.first_items) else facts.items
    return facts.properties.get(token) or facts.others


def _at(value: Any, path: Path) -> Any:
    found = reach(value, path)
    return ABSENT if found is MISSING else found


def _put(value: Any, path: Path, new: Any) -> Any:
    """Return a value with one part exchanged, or added at the end."""
    if not path:
        return new
    token, rest = path[0], path[1:]
    if is_array(value):
        items = list(value)
        index = int(token) if token.isdecimal() else len(items)
        if index >= len(items):
            return [*items, _put(None, rest, new)]
        items[index] = _put(items[index], rest, new)
        return items
    members = dict(value) if is_object(value) else {}
    members[token] = _put(members.get(token), rest, new)
    return members
