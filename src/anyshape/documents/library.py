"""Where every subschema of a set of documents stands, and what its references name.

JSON Schema 2020-12 Core, sections 8.2 (identifiers, references) and 9 (loading): a document is a
tree of resources, each with a URI; a reference is resolved against the URI of the resource it
stands in, and names a resource, a place in one by JSON Pointer, or an anchor. Only documents put
into the `Library` are ever looked at: nothing here reads a file or opens a socket.

A strict library refuses documents that break the rules: names given twice, references to nothing,
dialects that change in the middle. One that is not makes the best of any document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast
from urllib.parse import unquote

import msgspec

from anyshape.documents.dialects import DEFAULT_DIALECT, SUPPORTED, Dialect, find_dialect
from anyshape.documents.json import is_object
from anyshape.documents.pointers import MISSING, escape, step, unescape
from anyshape.documents.positions import DATA, Label, dialect_in, subschemas
from anyshape.documents.uris import join, normalize, split_fragment
from anyshape.errors import InvalidSchema, LimitExceeded, UnresolvableReference, UnsupportedDialect

SpotKey: TypeAlias = tuple[str, str]
"""Where a subschema stands: the URI of its document, and the pointer into it."""

ROOT_URI = "json-schema:///"
"""What the engine calls a document that does not name itself."""

MOST_CHARACTERS = 8_000_000
"""Characters that the pointers and identifiers of all places may have together.

A place is named by the way to it, so a long key or `$id` counts for each place beneath it.
"""
_JOINING = 10
"""How many times a base counts when it is taken apart and another name put together from it."""
_NAMING = frozenset(("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"))
"""Keywords by which a subschema gives itself a name, in some dialect."""


class Spot(msgspec.Struct, eq=False):
    """A subschema and where it stands: `pointer` in `document`, inside the resource `base`.

    The library that it is put into finds out its references and the subschemas directly in it.
    """

    schema: dict[str, object] | bool
    document: str
    pointer: str
    base: str
    dialect: Dialect
    references: tuple[tuple[str, str], ...] = ()
    """Each reference that it makes itself: (keyword, reference)."""
    children: list[tuple[str, Label, Spot]] | tuple[()] = ()
    """Each subschema in it: (keyword, name or index, spot), in the order of keyword and name."""

    @property
    def place(self) -> str:
        """What a person calls it: a pointer into their document, or a full URI outside of it."""
        return self.pointer if self.document == ROOT_URI else f"{self.document}#{self.pointer}"


class Anchor(msgspec.Struct, frozen=True):
    """A named spot; a dynamic one can be overridden by resources further out."""

    spot: Spot
    dynamic: bool


Metaschemas: TypeAlias = Callable[[str], "tuple[object, Dialect] | None"]
"""Returns the official metaschema or vocabulary that has a URI, and its dialect."""


def _no_metaschema(uri: str) -> None:
    return None


class Library:
    """The documents that a schema may refer to, indexed by URI, place and anchor."""

    def __init__(
        self,
        resources: Mapping[str, object],
        *,
        subschemas: int | None = None,
        metaschemas: Metaschemas = _no_metaschema,
        strict: bool = True,
    ) -> None:
        self._metaschemas = metaschemas
        self._strict = strict
        self._waiting = {
            normalize(split_fragment(uri)[0]): document for uri, document in resources.items()
        }
        self._most = subschemas
        self._characters = MOST_CHARACTERS
        self._resources: dict[str, Spot] = {}
        self._anchors: dict[tuple[str, str], Anchor] = {}
        self._dynamic: dict[str, list[str]] = {}
        self._found: dict[tuple[str, str, str], tuple[Spot, str | None]] = {}
        self.spots: dict[SpotKey, Spot] = {}
        self.adopted: list[Spot] = []
        """Those that are schemas for no other reason than that something refers to them."""

    def add(self, document: object, uri: str, dialect: Dialect) -> Spot:
        """Index `document`, known by `uri`, and return its root."""
        if not isinstance(document, bool) and not is_object(document):
            raise InvalidSchema(
                f"expected a schema (object or boolean) at {uri}, got {type(document).__name__}"
            )
        root = Spot(document, uri, "", uri, dialect)
        self._resources.setdefault(uri, root)
        self._index(root)
        return self.spots[uri, ""]

    def dynamic_anchors(self, base: str) -> Iterable[str]:
        """Return the names that the resource `base` declares with `$dynamicAnchor`.

        A `$recursiveAnchor` of 2019-09 counts as one with the empty name.
        """
        return self._dynamic.get(base, ())

    def anchor(self, base: str, name: str) -> Anchor | None:
        """Return what `name` names in the resource `base`."""
        return self._anchors.get((base, name))

    def missing(self, spot: Spot) -> Iterator[str]:
        """Yield the URIs of documents that `spot`'s document refers to and nobody supplied."""
        seen: set[str] = set()
        for (document, _), place in list(self.spots.items()):
            if document == spot.document:
                for _, reference in place.references:
                    uri = split_fragment(self._join(place.base, reference))[0]
                    if uri not in seen and self._find(uri) is None:
                        seen.add(uri)
                        yield uri

    def resolve_all(self) -> None:
        """Resolve every reference, those too of the documents that references bring to light.

        What names nothing is raised by a strict library, and passed over by any other.
        """
        done = 0
        while done < len(self.spots):
            spots = list(self.spots.values())
            for spot in spots[done:]:
                for keyword, reference in spot.references:
                    try:
                        self.resolve(spot, keyword, reference)
                    except UnresolvableReference:
                        if self._strict:
                            raise
            done = len(spots)
        if self._strict and self.adopted:
            self._check_constants()

    def resolve(self, spot: Spot, keyword: str, reference: str) -> Spot:
        """Return what `reference`, written at `spot`, names; raise `UnresolvableReference`."""
        return self.resolve_anchor(spot, keyword, reference)[0]

    def resolve_anchor(self, spot: Spot, keyword: str, reference: str) -> tuple[Spot, str | None]:
        """Return the same, and the name of the dynamic anchor by which it was found, if by one."""
        key = (spot.base, keyword, reference)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._resolve(spot, keyword, reference)
        return found

    def _resolve(self, spot: Spot, keyword: str, reference: str) -> tuple[Spot, str | None]:
        uri, fragment = split_fragment(self._join(spot.base, reference))
        resource = self._find(uri)
        if resource is None:
            raise _outside(spot, keyword, reference, uri)
        name = unquote(fragment)
        if name == "":
            recursive = keyword == "$recursiveRef" and (resource.base, "") in self._anchors
            return resource, "" if recursive else None
        if name.startswith("/"):
            found = self._walk(resource, name)
            if found is not None:
                return found, None
        else:
            anchor = self._anchors.get((resource.base, name))
            if anchor is not None:
                return anchor.spot, name if anchor.dynamic else None
        raise UnresolvableReference(
            f"{keyword} {_shown(reference)} at {spot.place or '/'} names nothing: "
            f"{'the document' if uri == ROOT_URI else uri} has no {_shown('#' + name)}",
            uri=uri + "#" + fragment if uri != ROOT_URI else "#" + fragment,
            path=f"{spot.pointer}/{keyword}",
        )

    def _find(self, uri: str) -> Spot | None:
        found = self._resources.get(uri)
        if found is not None:
            return found
        if uri in self._waiting:
            document = self._waiting.pop(uri)
            self.add(document, uri, dialect_of(document, path=uri + "#"))
            return self._resources[uri]
        found = self._metaschemas(uri)
        return None if found is None else self.add(found[0], uri, found[1])

    def _index(self, start: Spot) -> None:
        spots = self.spots
        stack = [start]
        while stack:
            spot = stack.pop()
            schema = spot.schema
            key = (spot.document, spot.pointer)
            if key in spots:
                continue
            if not isinstance(schema, bool):
                if not _NAMING.isdisjoint(schema):
                    self._identify(spot, schema)
                if (
                    self._strict
                    and "$schema" in schema
                    and self._resources.get(spot.base) is not spot
                ):
                    _check_dialect(spot, schema["$schema"])
            spots[key] = spot
            if self._most is not None and len(spots) > self._most:
                raise LimitExceeded(
                    f"the schema has more than {self._most} subschemas (limit: subschemas)",
                    limit="subschemas",
                    allowed=self._most,
                    found=len(spots),
                    path=spot.pointer,
                )
            if isinstance(schema, bool):
                continue
            spot.references = tuple(_references_in(schema, spot.dialect))
            if spot.dialect.applicators.keys().isdisjoint(schema):
                continue
            spot.children = []
            for keyword, name, pointer, inner in _children(spot, schema):
                self._spend(pointer)
                # One that was referred to before what is around it is there already.
                child = spots.get((spot.document, pointer)) or Spot(
                    cast("Any", inner), spot.document, pointer, spot.base, spot.dialect
                )
                spot.children.append((keyword, name, child))
            stack.extend(child for _, _, child in spot.children)

    def _identify(self, spot: Spot, schema: dict[str, object]) -> None:
        """Register the names `schema` gives itself; put the spot inside its own resource."""
        dialect = spot.dialect
        if dialect.hides_siblings_in(schema):
            return
        identifier = schema.get(dialect.id_keyword)
        if isinstance(identifier, str):
            uri, fragment = split_fragment(self._join(spot.base, identifier))
            if dialect.reference_hides_siblings and fragment:
                anchor = self._anchors.setdefault((uri, fragment), Anchor(spot, dynamic=False))
                self._check_single(anchor.spot, spot, dialect.id_keyword, identifier)
            if not fragment and (uri != spot.base or spot.pointer == ""):
                if self._strict:
                    dialect = dialect_of(schema, default=dialect, path=spot.pointer)
                else:
                    dialect = dialect_in(schema, dialect)
                spot.base, spot.dialect = uri, dialect
                self._check_single(
                    self._resources.setdefault(uri, spot), spot, dialect.id_keyword, uri
                )
                if spot.pointer == "":
                    # The document answers to the URI it was loaded by as well as to its own.
                    self._resources[spot.document] = spot
        for keyword in dialect.anchors:
            name = schema.get(keyword)
            if isinstance(name, str):
                dynamic = keyword == "$dynamicAnchor"
                known = self._anchors.get((spot.base, name))
                if known is not None:
                    self._check_single(known.spot, spot, keyword, name)
                else:
                    self._anchors[spot.base, name] = Anchor(spot, dynamic)
                if dynamic:
                    self._dynamic.setdefault(spot.base, []).append(name)
        root = self._resources.get(spot.base)
        if (
            schema.get("$recursiveAnchor") is True
            and "$recursiveRef" in dialect.references
            and root is not None
            and (root.document, root.pointer) == (spot.document, spot.pointer)
        ):  # 2019-09 Core, section 8.2.4.2.2: it means something at the root of a resource only
            self._anchors[spot.base, ""] = Anchor(spot, dynamic=True)
            self._dynamic.setdefault(spot.base, []).append("")

    def _join(self, base: str, reference: str) -> str:
        self._spend(base, 1 if reference.startswith("#") else _JOINING)
        return join(base, reference)

    def _spend(self, name: str, times: int = 1) -> None:
        """Count the characters of one more name."""
        self._characters -= times * len(name)
        if self._characters < 0:
            raise LimitExceeded(
                f"the places of the schema have names of more than {MOST_CHARACTERS} characters "
                "together: shorten its keys and identifiers, or nest them less",
                limit="document_bytes",
                allowed=MOST_CHARACTERS,
            )

    def _walk(self, resource: Spot, pointer: str) -> Spot | None:
        """Follow a JSON Pointer from the root of `resource`."""
        place = resource.pointer + pointer
        found = self.spots.get((resource.document, place))
        if found is not None:
            return found
        value: object = resource.schema
        at = resource.pointer
        nearest = resource
        beyond = ""
        for token in pointer.split("/")[1:]:
            name = unescape(token)
            value = step(value, name)
            if value is MISSING:
                return None
            at = f"{at}/{escape(name)}"
            self._spend(at)
            found = self.spots.get((resource.document, at))
            if found is not None:
                nearest, beyond = found, ""
            else:
                beyond = beyond or name
        if not isinstance(value, bool) and not is_object(value):
            return None
        spot = Spot(value, resource.document, at, nearest.base, nearest.dialect)
        if beyond in DATA and not self._strict:
            return spot
        # A place that no keyword marks as a subschema becomes one by being referred to.
        self.adopted.append(spot)
        self._index(spot)
        return self.spots[resource.document, at]

    def _check_constants(self) -> None:
        """Refuse what is a schema to one place and a value to another: it cannot be read as both.

        References can make a schema of any object, one in a constant or around a definition too.
        """
        for document, pointer in self.spots:
            at = ""
            if "/const" not in pointer and "/enum" not in pointer:
                continue
            for token in pointer.split("/")[1:]:
                if token in ("const", "enum") and (document, at) in self.spots:
                    raise InvalidSchema(
                        f"{at}/{token} is a constant, and {pointer} in it is referred to as a "
                        "schema; put the schema under $defs",
                        path=pointer,
                    )
                at = f"{at}/{token}"

    def _check_single(self, known: Spot, spot: Spot, keyword: str, name: str) -> None:
        """Refuse a name that two subschemas give themselves: the engine may not survive it."""
        if self._strict and (known.document, known.pointer) != (spot.document, spot.pointer):
            raise InvalidSchema(
                f"{keyword} {_shown(name)} at {spot.place or '/'} is taken: "
                f"{known.place or 'the root'} has the same",
                path=f"{spot.pointer}/{keyword}",
            )


def _check_dialect(spot: Spot, declared: object) -> None:
    """Refuse a `$schema` that is not at the root of a resource and says something else.

    2020-12 Core, section 8.1.1: it SHOULD be used in the document root, and MUST NOT appear in
    resource subschemas that are not roots. The engine would switch dialects there.
    """
    if isinstance(declared, str) and find_dialect(declared) is spot.dialect:
        return
    raise InvalidSchema(
        f"$schema {_shown(str(declared))} at {spot.place or '/'} differs from that of the resource "
        f"it stands in ({spot.dialect.uri}); give the subschema an $id of its own, or leave it out",
        path=f"{spot.pointer}/$schema",
    )


def _children(spot: Spot, schema: dict[str, object]) -> Iterator[tuple[str, Label, str, object]]:
    """Yield (keyword, label, pointer, subschema) for each subschema directly in `spot`.

    Keywords, and the names beneath them, come in the order in which the engine compiles them.
    """
    found = sorted(
        subschemas(schema, spot.dialect),
        key=lambda one: (one[0], one[1] if isinstance(one[1], str) else ""),
    )
    for keyword, label, inner in found:
        at = f"{spot.pointer}/{keyword}"
        yield keyword, label, at if label is None else f"{at}/{escape(str(label))}", inner


def _references_in(schema: dict[str, object], dialect: Dialect) -> Iterator[tuple[str, str]]:
    for keyword in dialect.references:
        reference = schema.get(keyword)
        if isinstance(reference, str):
            yield keyword, reference


def dialect_of(document: object, *, default: Dialect = DEFAULT_DIALECT, path: str = "") -> Dialect:
    """Return the dialect that `document`, a resource found at `path`, declares.

    Raises `UnsupportedDialect` for any other, and for a `$schema` that is not a string.
    """
    if not is_object(document) or "$schema" not in document:
        return default
    declared = document["$schema"]
    if isinstance(declared, str):
        found = find_dialect(declared)
        if found is not None:
            return found
    shown = repr(declared) if len(repr(declared)) <= 80 else repr(declared)[:79] + "…"
    raise UnsupportedDialect(
        f"$schema is {shown}; supported are {', '.join(SUPPORTED)}. Leave $schema out for 2020-12",
        dialect=declared,
        supported=SUPPORTED,
        path=f"{path}/$schema",
    )


def load(document: object, library: Library, dialect: Dialect = DEFAULT_DIALECT) -> Spot:
    """Put the document being compiled into `library` and return its root."""
    return library.add(document, ROOT_URI, dialect)


def _outside(spot: Spot, keyword: str, reference: str, uri: str) -> UnresolvableReference:
    return UnresolvableReference(
        f"{keyword} {_shown(reference)} at {spot.place or '/'} leaves the document: {_shown(uri)} "
        "is not in it. Put what it names under $defs",
        uri=uri,
        path=f"{spot.pointer}/{keyword}",
    )


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 100 else repr(text[:99] + "…")
