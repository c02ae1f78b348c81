"""The engine, given the author's documents: validators of a whole schema and of its parts.

Nothing is added to a document, taken out of it or moved in it. What is put otherwise is text that
the engine would misread: regular expressions, which JSON Schema writes in ECMA-262 and the engine's
matchers in another language (`spelling`), references that name such an expression, the empty
reference, which it takes for none at all, and fragments with characters that no URI may have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, cast
from urllib.parse import quote, unquote

import jsonschema_rs
import msgspec

from anyshape.documents.dialects import Dialect
from anyshape.documents.json import is_array, is_object
from anyshape.documents.library import ROOT_URI, Spot, SpotKey
from anyshape.documents.pointers import escape, reach, tokens_in
from anyshape.errors import InvalidSchema, LimitExceeded
from anyshape.schema._compile.intake import Document
from anyshape.schema._compile.metaschemas import metaschema_documents
from anyshape.schema._compile.patterns import Patterns, patterns_of
from anyshape.schema._compile.sources import Reached
from anyshape.schema._compile.spelling import spell
from anyshape.schema._limits import Limits

Test: TypeAlias = Callable[[object], bool]

_IN_FRAGMENT: Final = "/?:@!$&'()*+,;=-._~%"
_PATTERNS: Final = "/patternProperties/"
_MOST_RENAMED: Final = 1_000_000
"""Characters that references may have together which have to name keys as they are spelt now."""
_NO_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_CONTENT: Final = ("contentMediaType", "contentEncoding")
_ADDRESSES: Final = jsonschema_rs.EmailOptions(allow_display_text=False)
"""What RFC 5321 calls a mailbox: the address alone, nobody's name before it."""


class Engine(msgspec.Struct, eq=False):
    """Makes validators of one schema.

    `documents` are those that it consists of, by URI, `ROOT_URI` the one being compiled, as the
    engine reads them; `renamed` says where in them something is.
    """

    documents: Mapping[str, Document]
    renamed: Renamed
    dialect: Dialect
    formats: bool
    patterns: Patterns
    limits: Limits
    foreign: frozenset[Dialect] = frozenset()
    """Dialects whose metaschemas are referred to and which the engine does not know here."""
    ignored: frozenset[str] = frozenset()
    """Keywords that the engine enforces although the dialect does not have them."""

    @classmethod
    def of(
        cls,
        reached: Reached,
        dialect: Dialect,
        patterns: Patterns,
        limits: Limits,
        *,
        formats: bool,
    ) -> Engine:
        """Return the engine for documents whose patterns were checked."""
        documents, renamed = _translate(reached, patterns.backtracking)
        ignored = _ignored(reached.spots.values())
        foreign = reached.foreign
        return cls(documents, renamed, dialect, formats, patterns, limits, foreign, ignored)

    def test(self) -> Test:
        """Return the test that the document describes; whatever the engine raises is raised."""
        return self.compile(self.documents[ROOT_URI], self._registry()).is_valid

    def compile(
        self, schema: Document, registry: jsonschema_rs.Registry | None, base_uri: str | None = None
    ) -> jsonschema_rs.Validator:
        """Return a validator of any schema, with the options that this one is compiled with."""
        return jsonschema_rs.validator_for(
            schema,
            registry=registry,
            base_uri=base_uri,
            validate_formats=self.formats,
            pattern_options=self.patterns.options(self.limits),
            email_options=_ADDRESSES,
            keywords=cast("Any", dict.fromkeys(self.ignored, _Ignored)) or None,
            offline=True,
        )

    def _registry(self) -> jsonschema_rs.Registry | None:
        # With the document itself, because what it refers to may refer back to it.
        if len(self.documents) == 1 and not self.foreign:
            return None
        official = [i for dialect in self.foreign for i in metaschema_documents(dialect).items()]
        return jsonschema_rs.Registry([*official, *self.documents.items()])


class Renamed:
    """Where the engine's copies of documents have what stands beneath keys that were translated.

    `names` has the new token for each key of `patternProperties` that was, by document and pointer.
    """

    def __init__(self) -> None:
        self.names: dict[SpotKey, str] = {}
        self._known: dict[SpotKey, str] = {}

    def pointer(self, spot: Spot) -> str:
        """Return the pointer to where the engine's copy has `spot`."""
        return self._find(spot.document, spot.pointer) if self.names else spot.pointer

    def _find(self, document: str, pointer: str) -> str:
        # From one key of `patternProperties` to the one above it, each remembered: pointers are
        # long and share their beginnings, and many references lead to one place.
        known = self._known.get((document, pointer))
        if known is None:
            above, keyword, rest = pointer.rpartition(_PATTERNS)
            token, mark, below = rest.partition("/")
            if keyword:
                token = self.names.get((document, above + keyword + token), token)
                above = self._find(document, above)
            known = f"{above}{keyword}{token}{mark}{below}"
            self._known[document, pointer] = known
        return known


class _Ignored:
    """A keyword that judges nothing."""

    def __init__(self, parent: Any, value: Any, path: Any) -> None:
        pass

    def validate(self, instance: Any) -> None:
        """Accept it."""


def _ignored(spots: Iterable[Spot]) -> frozenset[str]:
    """Return the keywords to ignore: those of `_CONTENT` that a dialect lacks, and we do not."""
    ignored: set[str] = set()
    asserted: dict[str, Spot] = {}
    for spot in spots:
        for keyword in _CONTENT:
            if isinstance(spot.schema, dict) and keyword in spot.schema:
                if spot.dialect.asserts_content:
                    asserted[keyword] = spot
                elif keyword in spot.dialect.lacks:
                    ignored.add(keyword)
    for keyword in ignored & asserted.keys():
        raise InvalidSchema(
            f"{keyword} stands in dialects that have it and in others that do not; "
            "leave it out where it has no meaning",
            path=f"{asserted[keyword].pointer}/{keyword}",
        )
    return frozenset(ignored)


def _translate(reached: Reached, backtracking: bool) -> tuple[Mapping[str, Document], Renamed]:
    renamed = Renamed()
    places = [key for key, spot in reached.spots.items() if _reads_otherwise(spot, backtracking)]
    if not places:
        return reached.documents, renamed
    copies = {uri: copy_json(document) for uri, document in reached.documents.items()}
    # The deepest first: a key that changes is part of the pointers beneath it.
    for uri, pointer in sorted(places, key=lambda place: -place[1].count("/")):
        for place, name in _respell(copies[uri], pointer, backtracking).items():
            renamed.names[uri, place] = name
    if renamed.names:
        _rename_references(copies, reached, renamed)
    return cast("dict[str, Document]", copies), renamed


def _rename_references(copies: dict[str, object], reached: Reached, renamed: Renamed) -> None:
    """Have pointers that lead through a key of `patternProperties` name it as it is spelt now."""
    room = _MOST_RENAMED
    homes: dict[SpotKey, Spot] = {}
    for spot in reached.spots.values():
        homes.setdefault((spot.document, spot.base), spot)  # The root of a resource comes first.
    for node in reached.graph.nodes:
        spot = node.spot
        references = dict(spot.references)
        for edge in node.edges if references else ():
            fragment = references.get(edge.keyword, "").partition("#")[2]
            if not unquote(fragment).startswith("/"):
                continue  # It goes by a name, or is no reference.
            target = edge.target.spot
            now = renamed.pointer(target)
            if now == target.pointer:
                continue
            if (target.document, target.base) != (spot.document, spot.base):
                raise InvalidSchema(
                    f"the reference at {spot.place or '/'} leads through a pattern of another "
                    "resource; put the subschema under $defs",
                    path=f"{spot.pointer}/{edge.keyword}",
                )
            now = now[len(renamed.pointer(homes[spot.document, spot.base])) :]
            room -= len(now)
            if room < 0:
                raise LimitExceeded(
                    "references that lead through patterns would take more than "
                    f"{_MOST_RENAMED} characters: shorten keys, or put what they name under $defs",
                    limit="document_bytes",
                    allowed=_MOST_RENAMED,
                    path=f"{spot.pointer}/{edge.keyword}",
                )
            here = _find(copies[spot.document], renamed.pointer(spot))
            here[edge.keyword] = f"#{quote(now)}"


def _reads_otherwise(spot: Spot, backtracking: bool) -> bool:
    """Tell whether `spot` has something that the engine has to be told differently."""
    schema = spot.schema
    if isinstance(schema, bool):
        return False
    if any(_spell_reference(reference) != reference for _, reference in spot.references):
        return True
    return any(spell(text, backtracking=backtracking) != text for text, _ in patterns_of(schema))


def _respell(document: object, pointer: str, backtracking: bool) -> dict[str, str]:
    """Translate the patterns at one place of a copy; return the keys that have other names now."""
    renamed: dict[str, str] = {}
    schema = _find(document, pointer)
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        reference = schema.get(keyword)
        if isinstance(reference, str):
            schema[keyword] = _spell_reference(reference)
    pattern, properties = schema.get("pattern"), schema.get("patternProperties")
    if isinstance(pattern, str):
        schema["pattern"] = spell(pattern, backtracking=backtracking)
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


def _spell_reference(reference: str) -> str:
    """Return a reference as the engine reads it: the empty one means the document.

    Fragments may hold what no URI may, such as the brackets of `#/$defs/List[int]`.
    """
    before, mark, fragment = reference.partition("#")
    if not reference or not mark:
        return reference or "#"
    return f"{before}#{_NO_ESCAPE.sub('%25', quote(fragment, safe=_IN_FRAGMENT))}"


def _find(document: object, pointer: str) -> dict[str, object]:
    return cast("dict[str, object]", reach(document, tokens_in(pointer)))


def copy_json(value: object) -> object:
    """Return a copy of a JSON value of bounded depth that shares nothing with it."""
    if is_object(value):
        return {key: copy_json(item) for key, item in value.items()}
    if is_array(value):
        return [copy_json(item) for item in value]
    return value
