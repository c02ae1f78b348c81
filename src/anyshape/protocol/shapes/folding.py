"""A composition at the root of an input schema, folded into one plain object.

Some hosts leave out a tool whose input schema has `oneOf`, `anyOf` or `allOf` at its root, since
their model's provider refuses it there, and `$ref` too. They are listed what those say about the
object as a whole: which properties there are, and which are always required.

The folded form is wider, never narrower: every object that the original admits, it admits. So a
property that only some alternatives speak of may be anything, unless the others rule it out. What
it no longer says, which properties go together, is said in the description; and calls are checked
against the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from anyshape.documents.json import is_array, is_object
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node, branches
from anyshape.documents.types import TypeBounds, Types
from anyshape.errors import LimitExceeded
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.shapes.alternatives import SchemaNode, either, is_anything, summary

_COMPOSITIONS: Final = ("allOf", "anyOf", "oneOf")
_FOLDED: Final = ("$ref", *_COMPOSITIONS)
_DEFINITIONS: Final = ("$defs", "definitions")
_HOLDERS: Final = (("properties",), *((keyword,) for keyword in _DEFINITIONS))
"""What is no schema unless something refers to it, and does not stay as it is."""
_GROWTH: Final = 64
"""How many times as long as the schema all that its parts say may be."""
_NAMING: Final = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef")


class Statement(NamedTuple):
    """What a schema says of an object that satisfies it: never more than is true."""

    properties: dict[str, SchemaNode]
    required: tuple[str, ...] = ()
    is_closed: bool = False
    """Whether there can be no other properties."""


_SILENCE: Final = Statement({})


def fold_root(schema: Node) -> Node:
    """Return a schema of objects without composition at its root; itself if it has none."""
    if not any(keyword in schema for keyword in _FOLDED):
        return schema
    try:
        document = Outline(schema)
        said, notes = _gather(document)
        movable = _is_movable(document, said)
        folded = _kept(document) if movable else _bare(schema)
    except LimitExceeded:
        said, notes, movable, folded = _SILENCE, [], False, _bare(schema)
    properties = said.properties
    if not movable:
        properties = {name: _words_of(inner) for name, inner in properties.items()}
    folded["properties"] = properties
    folded.pop("required", None)
    if said.required:
        folded["required"] = list(said.required)
    if said.is_closed:
        folded["additionalProperties"] = False
    words = [folded.get("description"), *notes]
    description = " ".join(word for word in words if isinstance(word, str) and word)
    if description:
        folded["description"] = description
    return _without_unused(folded) if movable else folded


def name_properties(schema: Node) -> Node:
    """Return the schema with the properties that only its branches name named at its root, too.

    What the folded schema says of them is true of every object that the schema admits.
    """
    own = schema.get("properties")
    named: Node = dict(own) if is_object(own) else {}
    added = {
        name: inner
        for name, inner in fold_root(schema).get("properties", {}).items()
        if name not in named
    }
    return {**schema, "properties": {**named, **added}} if added else schema


def _gather(document: Outline) -> tuple[Statement, list[str | None]]:
    """Return what the whole document says, and in words what is lost of it."""
    reader = _Reader(document)
    try:
        said = reader.at(()) or _SILENCE
        keywords = [keyword for keyword in ("anyOf", "oneOf") if keyword in document.root]
        return said, [reader.note(keyword) for keyword in keywords]
    except (RecursionError, _TooLongError):
        # What the root says by itself is true all the same.
        is_hidden = document.dialect.hides_siblings_in(document.root)
        return _SILENCE if is_hidden else _own(document.root), []


class _TooLongError(Exception):
    """The schemas of properties, as the branches have them together, are too long to list."""


class _Reader:
    """Reads what the schemas of one document say of objects."""

    def __init__(self, document: Outline) -> None:
        self._document = document
        self._bounds = TypeBounds(document)
        self._known: dict[Place, Statement | None] = {}
        # Definitions that build on each other can double what they say with every step.
        self._room = _GROWTH * len(encode_data(document.root))

    def at(self, place: Place) -> Statement | None:
        """Return what the schema at a place says, or `None` if no object satisfies it."""
        if place not in self._known:
            # A schema that leads back to itself in place says nothing more the second time.
            self._known[place] = _SILENCE
            said = self._known[place] = self._read(place)
            self._room -= 0 if said is None else len(encode_data(said.properties))
            if self._room < 0:
                raise _TooLongError
        return self._known[place]

    def note(self, keyword: str) -> str | None:
        """Return in words what the alternatives at the root ask for."""
        parts = [part for part in self._branches((), keyword) if part is not None]
        return summary(keyword, [(part.properties, part.required) for part in parts])

    def _read(self, place: Place) -> Statement | None:
        if place not in self._document.schemas:
            return None if self._document.at(place) is False else _SILENCE
        if not self._bounds.at(place) & Types.OBJECT:
            return None
        node = self._document.schema_at(place)
        reference = node.get("$ref")
        parts: list[Statement | None] = [_own(node)]
        if isinstance(reference, str):
            target = self._document.resolve(place, reference)
            referred = _SILENCE if target is None else self.at(target)
            if self._document.schemas[place].dialect.reference_hides_siblings:
                return referred
            parts.append(referred)
        parts += self._branches(place, "allOf")
        for keyword in ("anyOf", "oneOf"):
            if is_array(node.get(keyword)):
                parts.append(self._any_of(self._branches(place, keyword)))
        return _all_of(parts)

    def _any_of(self, parts: list[Statement | None]) -> Statement | None:
        possible = [part for part in parts if part is not None]
        if not possible:
            return None
        named: dict[str, list[SchemaNode]] = {}
        silent = sum(not part.is_closed for part in possible)
        silent_on: dict[str, int] = {}
        for part in possible:
            for name, inner in part.properties.items():
                named.setdefault(name, []).append(inner)
                silent_on[name] = silent_on.get(name, silent) - (not part.is_closed)
        has_const = "const" not in self._document.dialect.lacks
        properties = {
            name: either([*inner, *([True] if silent_on[name] else [])], has_const=has_const)
            for name, inner in named.items()
        }
        common = set(possible[0].required).intersection(*(part.required for part in possible))
        required = tuple(name for name in possible[0].required if name in common)
        return Statement(properties, required, all(part.is_closed for part in possible))

    def _branches(self, place: Place, keyword: str) -> list[Statement | None]:
        places = branches(self._document.schema_at(place), place, keyword)
        return [self.at(branch) for branch in places]


def _own(node: Node) -> Statement:
    """Return what the keywords of a schema say by themselves."""
    properties = node.get("properties")
    required = node.get("required")
    return Statement(
        {name: cast("SchemaNode", inner) for name, inner in properties.items()}
        if is_object(properties)
        else {},
        tuple(name for name in required if isinstance(name, str)) if is_array(required) else (),
        node.get("additionalProperties") is False and not node.get("patternProperties"),
    )


def _all_of(parts: Sequence[Statement | None]) -> Statement | None:
    """Return what is said by all parts together, `None` if no object satisfies them all."""
    said = [part for part in parts if part is not None]
    if len(said) < len(parts):
        return None
    named: dict[str, list[SchemaNode]] = {}
    for part in said:
        for name, inner in part.properties.items():
            named.setdefault(name, []).append(inner)
    closed = [part.properties.keys() for part in said if part.is_closed]
    allowed = set(named).intersection(*closed)
    return Statement(
        {name: _meet(inner) for name, inner in named.items() if name in allowed},
        tuple(dict.fromkeys(name for part in said for name in part.required)),
        bool(closed),
    )


def _meet(schemas: Sequence[SchemaNode]) -> SchemaNode:
    """Return a schema that admits what all of the schemas admit."""
    if len(schemas) == 1:
        return schemas[0]
    distinct = {encode_data(schema): schema for schema in schemas if not is_anything(schema)}
    if len(distinct) > 1:
        return {"allOf": list(distinct.values())}
    return next(iter(distinct.values()), schemas[0])


def _is_movable(document: Outline, said: Statement) -> bool:
    """Return whether schemas mean the same at the root as in the branch they come from.

    They do if every reference goes by a pointer from the one root to a place that is not changed.
    """
    own: Any = document.root.get("properties")
    for place, spot in document.schemas.items():
        node = document.schema_at(place)
        if spot.dialect is not document.dialect or any(keyword in node for keyword in _NAMING):
            return False
        if place and spot.dialect.id_keyword in node:
            return False
        reference = node.get("$ref")
        if not isinstance(reference, str):
            continue
        target = document.resolve(place, reference)
        if target is None:
            continue
        if target == () or target[0] in _FOLDED or target in _HOLDERS:
            return False
        if target[0] == "properties" and own[target[1]] is not said.properties.get(target[1]):
            return False
    return True


def _kept(document: Outline) -> Node:
    """Return the keywords of the root that stay as they are."""
    schema = document.root
    if document.dialect.hides_siblings_in(document.root):
        kept = {keyword: schema[keyword] for keyword in _DEFINITIONS if keyword in schema}
        return {**_bare(schema), **kept}
    # What counts as evaluated depends on the branches that are gone.
    gone = (*_FOLDED, "unevaluatedProperties")
    return {keyword: schema[keyword] for keyword in schema if keyword not in gone}


def _bare(schema: Node) -> Node:
    kept = {keyword: schema[keyword] for keyword in ("$schema", "description") if keyword in schema}
    return {**kept, "type": "object"}


def _words_of(schema: SchemaNode) -> Node:
    """Return what describes a property and cannot be wrong wherever it stands."""
    description = schema.get("description") if isinstance(schema, dict) else None
    return {"description": description} if isinstance(description, str) else {}


def _without_unused(schema: Node) -> Node:
    """Return the schema without the definitions that only the branches referred to."""
    if not any(keyword in schema for keyword in _DEFINITIONS):
        return schema
    document = Outline(schema)
    leads: dict[Place, set[Place]] = {}
    for place in document.schemas:
        reference = document.schema_at(place).get("$ref")
        target = document.resolve(place, reference) if isinstance(reference, str) else None
        leads.setdefault(_holder(place), set()).add(_holder(target or ()))
    used: set[Place] = set()
    waiting: list[Place] = [()]
    while waiting:
        holder = waiting.pop()
        if holder not in used:
            used.add(holder)
            waiting += leads.get(holder, ())
    pruned = dict(schema)
    for keyword in _DEFINITIONS:
        definitions = schema.get(keyword)
        if is_object(definitions):
            pruned[keyword] = {
                name: inner for name, inner in definitions.items() if (keyword, name) in used
            }
            if not pruned[keyword]:
                del pruned[keyword]
    return pruned


def _holder(place: Place) -> Place:
    """Return the definition that a place belongs to, or the root."""
    return place[:2] if len(place) > 1 and place[0] in _DEFINITIONS else ()
