"""The validators that the engine makes of a document, each built when it is first needed.

They differ in what stands around the same schema: *fenced* (see `_guard`), *plain*, and *negated*.
The engine's logic has three values: it knows that it does not know when a pattern runs out of
steps, and says "no" to the schema and to its negation alike. That is how the two are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import jsonschema_rs
import msgspec

from anyshape.schema._dialects import Dialect, metaschema_documents
from anyshape.schema._guard import Fences
from anyshape.schema._instance import FENCE_URI, fence_document
from anyshape.schema._json import escape, is_array, is_object, unescape
from anyshape.schema._limits import Limits
from anyshape.schema._patterns import Patterns
from anyshape.schema._references import ROOT_URI, Spot
from anyshape.schema._spelling import spell

__all__ = ["Engine", "Test", "copy_json", "places_to_respell"]

Test: TypeAlias = Callable[[object], bool]
Document: TypeAlias = "dict[str, object] | bool"

_PATTERN_KEYWORDS = {"pattern", "patternProperties"}
_DOCUMENT_URI = "anyshape:///document"
_FENCE_RESOURCE = (FENCE_URI, fence_document())


class Engine(msgspec.Struct, eq=False):
    """Makes validators of one schema.

    `documents` are those that it consists of, by URI, `ROOT_URI` the one being compiled; `respelt`
    are the places in them where a pattern has to be put differently for the engine.
    """

    documents: Mapping[str, object]
    respelt: tuple[tuple[str, str], ...]
    dialect: Dialect
    formats: bool
    patterns: Patterns
    limits: Limits
    foreign: frozenset[Dialect] = frozenset()
    """Dialects whose metaschemas are referred to and which the engine does not know here."""
    _tests: dict[tuple[str, int], Test] = msgspec.field(default_factory=dict[tuple[str, int], Test])
    _plain: dict[str, Document] | None = None
    _names: dict[str, str] = msgspec.field(default_factory=dict[str, str])

    def fenced(self, fences: Fences, *, exact: bool) -> Test:
        """Return the test that accepts only what is JSON throughout, all of it or most of it."""
        key = ("exact" if exact else "fenced", self.limits.backtracks)
        test = self._tests.get(key)
        if test is None:
            copies = self._copy(fences, exact=exact)
            test = self._tests[key] = self._build(copies, self.limits.backtracks).is_valid
        return test

    def plain(self, backtracks: int) -> Test:
        """Return the test that the document itself describes."""
        return self._test("plain", backtracks)

    def negated(self, backtracks: int) -> Test:
        """Return the test that holds where the document certainly does not."""
        return self._test("negated", backtracks)

    def subschemas(self) -> jsonschema_rs.ValidatorMap:
        """Return validators of every subschema of the document, by `pointer` after a `#`."""
        copies = self.copies()
        return jsonschema_rs.validator_map_for(
            copies[ROOT_URI],
            registry=_registry(copies, self.foreign),
            validate_formats=self.formats,
            pattern_options=self.patterns.options(self.limits),
            offline=True,
        )

    def pointer(self, pointer: str) -> str:
        """Return where the engine's copy has what the document has at `pointer`.

        The two differ beneath keys of `patternProperties` that are spelt differently.
        """
        if not self._names:
            return pointer
        given = found = ""
        for token in pointer.split("/")[1:]:
            given = f"{given}/{token}"
            found = f"{found}/{self._names.get(given, token)}"
        return found

    def copies(self) -> dict[str, Document]:
        """Return the documents as the engine is to read them."""
        if self._plain is None:
            self._plain = self._copy(None)
        return self._plain

    def _copy(self, fences: Fences | None, *, exact: bool = False) -> dict[str, Document]:
        copies: dict[str, Document] = {}
        for uri, given in self.documents.items():
            copied = copy_json(given)
            if fences is not None:
                copied = fences.put_up(uri, copied, exact=exact)
            copies[uri] = copied if isinstance(copied, bool) or is_object(copied) else False
        for uri, pointer in self.respelt:
            names = _respell(copies[uri], pointer, self.patterns.backtracking)
            if uri == ROOT_URI:
                self._names.update(names)
        return copies

    def _test(self, kind: str, backtracks: int) -> Test:
        # Two threads may build the same test; either is right and the last one stays.
        test = self._tests.get((kind, backtracks))
        if test is None:
            copies = dict(self.copies())
            if kind == "negated":
                copies[_DOCUMENT_URI] = _declare(copies[ROOT_URI], self.dialect)
                copies[ROOT_URI] = {"not": {"$ref": _DOCUMENT_URI}}
            test = self._tests[kind, backtracks] = self._build(copies, backtracks).is_valid
        return test

    def _build(self, copies: dict[str, Document], backtracks: int) -> jsonschema_rs.Validator:
        limits = self.limits
        if limits.backtracks != backtracks:
            limits = replace(limits, backtracks=backtracks)
        return jsonschema_rs.validator_for(
            copies[ROOT_URI],
            registry=_registry(copies, self.foreign),
            validate_formats=self.formats,
            pattern_options=self.patterns.options(limits),
            offline=True,
        )


_FENCES_ONLY = jsonschema_rs.Registry([_FENCE_RESOURCE])


def _registry(copies: dict[str, Document], foreign: frozenset[Dialect]) -> jsonschema_rs.Registry:
    # With the document itself, because what it refers to may refer back to it.
    if len(copies) == 1 and not foreign:
        return _FENCES_ONLY
    official = [item for dialect in foreign for item in metaschema_documents(dialect).items()]
    return jsonschema_rs.Registry([_FENCE_RESOURCE, *official, *copies.items()])


def _declare(document: Document, dialect: Dialect) -> Document:
    """Return `document` with its dialect, which it may only have had by default, written down."""
    if isinstance(document, bool) or "$schema" in document:
        return document
    return {"$schema": dialect.uri, **document}


def places_to_respell(
    spots: Mapping[tuple[str, str], Spot], patterns: Patterns
) -> tuple[tuple[str, str], ...]:
    """Return where something is to be put differently, inner places before outer ones.

    An empty reference means the document, `#`; the engine takes it for no reference at all.
    """
    empty = tuple(
        place for place, spot in spots.items() for _, text in spot.references if text == ""
    )
    return empty + _places_with_patterns(spots, patterns)


def _places_with_patterns(
    spots: Mapping[tuple[str, str], Spot], patterns: Patterns
) -> tuple[tuple[str, str], ...]:
    if all(spell(text, backtracking=patterns.backtracking) == text for text in patterns.all):
        return ()
    if any("/patternProperties/" in text for spot in spots.values() for _, text in spot.references):
        # The reference names the key as it is spelt now.
        return ()
    found = [
        place
        for place, spot in spots.items()
        if not isinstance(spot.schema, bool) and spot.schema.keys() & _PATTERN_KEYWORDS
    ]
    return tuple(sorted(found, key=lambda place: len(place[1]), reverse=True))


def _respell(document: Document, pointer: str, backtracking: bool) -> dict[str, str]:
    """Rewrite what is at `pointer`, in place; return the renamed pointers' last tokens."""
    schema = _find(document, pointer)
    renamed: dict[str, str] = {}
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if schema.get(keyword) == "":
            schema[keyword] = "#"
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        schema["pattern"] = spell(pattern, backtracking=backtracking)
    properties = schema.get("patternProperties")
    if is_object(properties):
        respelt: dict[str, object] = {}
        for key, inner in properties.items():
            name = spell(key, backtracking=backtracking)
            while name in respelt:
                name = f"(?:{name})"
            respelt[name] = inner
            if name != key:
                renamed[f"{pointer}/patternProperties/{escape(key)}"] = escape(name)
        schema["patternProperties"] = respelt
    return renamed


def _find(document: object, pointer: str) -> dict[str, object]:
    found = document
    for token in pointer.split("/")[1:]:
        name = unescape(token)
        if is_array(found):
            found = found[int(name)]
        elif is_object(found):
            found = found[name]
    return found if is_object(found) else {}


def copy_json(value: object) -> object:
    """Return a copy of a JSON value of bounded depth that shares nothing with it."""
    if is_object(value):
        return {key: copy_json(item) for key, item in value.items()}
    if is_array(value):
        return [copy_json(item) for item in value]
    return value
