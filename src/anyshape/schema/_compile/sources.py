"""The documents that a schema is compiled from, and the dialect of each.

A document is written in the dialect that its `$schema` names. A resource that names none is taken
for one of the document's dialect. `$schema` may also name a metaschema that the operator supplies
with `resources`, as 2019-09 and 2020-12 provide for (Core, section 8.1.2): what that one is based
on is then the dialect, and the engine applies the vocabularies that it chose.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from anyshape.decoding import decode_json
from anyshape.documents.dialects import Dialect
from anyshape.documents.json import is_object
from anyshape.documents.library import ROOT_URI, Library, Spot, SpotKey, dialect_of, load
from anyshape.documents.uris import normalize, split_fragment
from anyshape.schema._compile.graph import Graph, build_graph
from anyshape.schema._compile.intake import Document, admit_document, canonical
from anyshape.schema._compile.metaschemas import find_metaschema, is_metaschema
from anyshape.schema._limits import Limits

if TYPE_CHECKING:
    from anyshape.schema._remote import RemoteReferences

_MOST_METASCHEMAS = 8
"""How many metaschemas may be based on one another, or come to light one after another."""


class Reached(msgspec.Struct, frozen=True, eq=False):
    """What compiling comes to see: the graph, all places, and the documents the engine needs.

    `foreign` are the dialects other than the document's own whose metaschemas are referred to.
    """

    graph: Graph
    documents: dict[str, Document]
    spots: dict[SpotKey, Spot]
    foreign: frozenset[Dialect]
    adopted: tuple[Spot, ...]
    """Places that are schemas for no other reason than that something refers to them."""


class Sources(msgspec.Struct, frozen=True, eq=False):
    """One document being compiled and the resources it may refer to, all admitted."""

    document: Document
    resources: Mapping[str, Document]
    dialect: Dialect
    text: bytes | None = None
    """All of a long document, of which only the root is here; it is read where it is compiled."""

    @classmethod
    def of(
        cls, document: Document, resources: Mapping[str, Document], text: bytes | None = None
    ) -> Sources:
        """Return the sources; raise `UnsupportedDialect` for a dialect we do not speak."""
        supplied = {normalize(split_fragment(uri)[0]): each for uri, each in resources.items()}
        return cls(document, supplied, _dialect(document, supplied), text)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to a worker as bytes, which are written many times as fast as objects are."""
        parts = (self.document, dict(self.resources))
        try:
            return _unpack, (marshal.dumps(parts), self.dialect, self.text)
        except ValueError:  # decimals
            return Sources, (*parts, self.dialect, self.text)

    def pack(self) -> bytes:
        """Return the same as bytes, a tenth of what the objects take."""
        import pickle

        return pickle.dumps(self, protocol=5)

    def digest(self) -> bytes:
        """Return what is equal for equal resources, by content and name."""
        return b"".join(
            hashlib.sha256(part).digest()
            for uri, resource in sorted(self.resources.items())
            for part in (uri.encode(errors="surrogatepass"), canonical.encode(resource))
        )

    def metaschema(self, uri: str = ROOT_URI) -> str | None:
        """Return the URI of the resource that is the metaschema of a document, if one is."""
        document = self.document if uri == ROOT_URI else self.resources[uri]
        return _own_metaschema(document, self.resources)

    def fetch(self, remote: RemoteReferences, limits: Limits) -> Sources:
        """Return the sources with all that is referred to, not supplied, and may be fetched."""
        from anyshape.schema._remote import fetch_references

        # One library for all, so that a document may refer to what another one contains.
        library = Library(self._based(), subschemas=limits.subschemas, metaschemas=find_metaschema)
        admitted: dict[str, Document] = {}

        def references_of(referrer: Any, base: str) -> Iterable[str]:
            if base:
                referrer = admitted[base] = admit_document(referrer, limits, base).whole()
            before = {uri for uri, _ in library.spots}
            own = _base(referrer, self.resources, self.dialect)
            spot = library.add(own, base or ROOT_URI, dialect_of(own))
            yield from library.missing(spot)
            for uri in sorted({uri for uri, _ in library.spots} - before - {spot.document}):
                yield from library.missing(library.spots[uri, ""])

        document = self.document if self.text is None else decode_json(self.text)
        fetch_references(document, remote, references_of)
        return replace(self, resources={**self.resources, **admitted})

    def reach(self, limits: Limits) -> Reached:
        """Resolve all references and return what there is to compile."""
        library = Library(self._based(), subschemas=limits.subschemas, metaschemas=find_metaschema)
        root = load(_base(self.document, self.resources, self.dialect), library, self.dialect)
        if not self.resources:
            graph = build_graph(root, library, subschemas=limits.subschemas, depth=limits.depth)
            if all(uri == ROOT_URI for uri, _ in library.spots):
                # Most documents stand alone.
                alone = {ROOT_URI: self.document}
                adopted = tuple(library.adopted)
                return Reached(graph, alone, library.spots, frozenset(), adopted)
        custom: set[str] = set()
        for _ in range(_MOST_METASCHEMAS):
            # References of a metaschema may bring to light documents with yet another one.
            for uri in {uri for uri, _ in library.spots} & {ROOT_URI, *self.resources}:
                metaschema = self.metaschema(uri)
                if metaschema is not None:
                    custom.add(metaschema)
                    library.resolve(root, "$schema", metaschema)
            graph = build_graph(root, library, subschemas=limits.subschemas, depth=limits.depth)
            reached = self.resources.keys() & {uri for uri, _ in library.spots}
            if all(self.metaschema(uri) in {None, *custom} for uri in reached):
                break
        else:
            graph = build_graph(root, library, subschemas=limits.subschemas, depth=limits.depth)
        documents = {uri: self._declared(uri) for uri, _ in library.spots if uri in self.resources}
        documents[ROOT_URI] = self.document
        spots = {place: spot for place, spot in library.spots.items() if place[0] in documents}
        official = {is_metaschema(uri) for uri, _ in library.spots if uri not in documents}
        foreign = frozenset(found for found in official if found is not None) - {self.dialect}
        adopted = tuple(spot for spot in library.adopted if spot.document in documents)
        return Reached(graph, documents, spots, foreign, adopted)

    def _based(self) -> dict[str, Document]:
        """Return the resources with an official dialect for each written down."""
        return {
            uri: _base(resource, self.resources, self.dialect)
            for uri, resource in self.resources.items()
        }

    def _declared(self, uri: str) -> Document:
        resource = self.resources[uri]
        if isinstance(resource, bool) or "$schema" in resource:
            return resource
        return {"$schema": self.dialect.uri, **resource}


def _unpack(parts: bytes, dialect: Dialect, text: bytes | None) -> Sources:
    document, resources = marshal.loads(parts)  # noqa: S302 - from our own parent
    return Sources(document if text is None else decode_json(text), resources, dialect)


def _base(document: Document, resources: Mapping[str, Document], default: Dialect) -> Document:
    """Return `document` with the official dialect that its metaschema is based on."""
    if isinstance(document, bool):
        return document
    if "$schema" not in document:
        return {"$schema": default.uri, **document}
    if _own_metaschema(document, resources) is None:
        return document
    return {**document, "$schema": _dialect(document, resources).uri}


def _dialect(document: Document, resources: Mapping[str, Document]) -> Dialect:
    for _ in range(_MOST_METASCHEMAS):
        uri = _own_metaschema(document, resources)
        if uri is None:
            break
        document = resources[uri]
    return dialect_of(document)


def _own_metaschema(document: Document, resources: Mapping[str, Document]) -> str | None:
    declared = document.get("$schema") if resources and is_object(document) else None
    uri = normalize(split_fragment(declared)[0]) if isinstance(declared, str) else ""
    return uri if uri in resources and is_metaschema(uri) is None else None
