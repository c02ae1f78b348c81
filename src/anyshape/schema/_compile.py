"""From a document to a `Schema`, one step after the other; equal documents only once.

The steps: admit (is it JSON, of what size), dialect, fetch (if the operator allows), metaschema,
graph (every reference resolved, nothing in circles), patterns, cost, fences, engine.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema_rs

from anyshape.errors import InvalidSchema, LimitExceeded
from anyshape.schema._cache import Cache
from anyshape.schema._cost import Meter
from anyshape.schema._dialects import Dialect, dialect_of, is_metaschema
from anyshape.schema._document import Document, Role, admit_document, canonical, check_role
from anyshape.schema._engine import Engine, places_to_respell
from anyshape.schema._graph import build
from anyshape.schema._guard import plan_fences
from anyshape.schema._instance import FENCE_DEPTH, shorten
from anyshape.schema._json import escape, is_object
from anyshape.schema._limits import Limits
from anyshape.schema._matching import Matching
from anyshape.schema._patterns import check_patterns
from anyshape.schema._references import ROOT_URI, Library, load, split_fragment
from anyshape.schema._remote import RemoteReferences, fetch_references
from anyshape.schema._schema import Core, Schema, depth_for

__all__ = ["compile"]

_cache: Cache[Core] = Cache(most=512)


def compile(
    document: object,
    *,
    role: Role | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    resources: Mapping[str, object] | None = None,
    remote: RemoteReferences | None = None,
    formats: bool = True,
) -> Schema:
    """Return the schema that `document` describes, or raise a `SchemaError` or `LimitExceeded`.

    role:      `"input"` or `"output"` adds the rule that MCP has for that place
    limits:    what compiling and validating may cost
    resources: documents that references may name, by URI
    remote:    permission to fetch what references name; nothing is ever fetched without
    formats:   whether `format` is enforced (unknown formats never are); see docs/concepts/limits.md
    """
    if role not in (None, "input", "output"):
        raise ValueError(f'role must be "input", "output" or None, got {role!r}')
    given, text = admit_document(document, limits)
    check_role(given, role)
    supplied: dict[str, Document] = {}
    for uri, resource in (resources or {}).items():
        supplied[split_fragment(uri)[0]] = admit_document(resource, limits, uri)[0]
    dialect, metaschema = _find_dialect(given, supplied)
    if remote is not None:
        supplied |= _fetch(given, dialect, supplied, remote, limits)
    key = (_digest(text), limits, formats, _digest_all(supplied))
    core = _cache.get(key, lambda: _build(given, dialect, metaschema, supplied, limits, formats))
    return Schema(core, given)


def _find_dialect(
    document: object, resources: Mapping[str, Document]
) -> tuple[Dialect, str | None]:
    """Return the dialect of `document`, and the metaschema that it names if it is a resource."""
    custom = _own_metaschema(document, resources)
    uri = custom
    for _ in range(8):
        if uri is None:
            break
        document = resources[uri]
        uri = _own_metaschema(document, resources)
    return dialect_of(document), custom


def _own_metaschema(document: object, resources: Mapping[str, Document]) -> str | None:
    declared = document.get("$schema") if is_object(document) else None
    uri = split_fragment(declared)[0] if isinstance(declared, str) else ""
    return uri if uri in resources and is_metaschema(uri) is None else None


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def _digest_all(resources: Mapping[str, Document]) -> tuple[tuple[str, bytes], ...]:
    return tuple(
        (uri, _digest(canonical.encode(resource))) for uri, resource in sorted(resources.items())
    )


def _fetch(
    document: Document,
    dialect: Dialect,
    resources: Mapping[str, Document],
    remote: RemoteReferences,
    limits: Limits,
) -> dict[str, Document]:
    """Return the documents that are referred to, not supplied, and allowed to be fetched."""
    supplied = _settle_dialects(resources, dialect)

    def references_of(referrer: Any, base: str) -> Iterable[str]:
        library = Library(supplied, subschemas=limits.subschemas)
        spot = library.add(referrer, base or ROOT_URI, dialect_of(referrer, default=dialect))
        missing = list(library.missing(spot))
        loaded = {document for document, _ in library.spots} - {spot.document}
        for uri in sorted(loaded):
            missing.extend(library.missing(library.spots[uri, ""]))
        return missing

    fetched = fetch_references(document, remote, references_of)
    return {uri: admit_document(found, limits, uri)[0] for uri, found in fetched.items()}


def _settle_dialects(resources: Mapping[str, Document], default: Dialect) -> dict[str, Document]:
    """Return `resources` with the dialect of each written down, the operator's own ones by base."""
    settled: dict[str, Document] = {}
    for uri, resource in resources.items():
        settled[uri] = resource
        if not isinstance(resource, bool):
            if "$schema" not in resource:
                settled[uri] = {"$schema": default.uri, **resource}
            elif _own_metaschema(resource, resources) is not None:
                settled[uri] = {**resource, "$schema": _find_dialect(resource, resources)[0].uri}
    return settled


def _build(
    document: Document,
    dialect: Dialect,
    metaschema: str | None,
    resources: Mapping[str, Document],
    limits: Limits,
    formats: bool,
) -> Core:
    if metaschema is None:
        _check_metaschema(document, dialect)
    settled = _settle_dialects(resources, dialect)
    own: Document = document
    if metaschema is not None and not isinstance(document, bool):
        own = {**document, "$schema": dialect.uri}
    library = Library(settled, subschemas=limits.subschemas)
    root = load(own, library, dialect)
    if metaschema is not None:
        library.resolve(root, "$schema", metaschema)
    graph = build(root, library, subschemas=limits.subschemas, depth=limits.depth)
    reached = {uri for uri, _ in library.spots if is_metaschema(uri) is None}
    documents: dict[str, object] = {uri: settled[uri] for uri in reached if uri in settled}
    for uri in documents:
        _check_metaschema(documents[uri], dialect_of(documents[uri]), uri)
        if metaschema is not None:
            documents[uri] = resources[uri]
    documents[ROOT_URI] = document
    spots = {place: spot for place, spot in library.spots.items() if place[0] in reached}
    patterns = check_patterns(spots.values(), limits)
    meter = Meter(graph)
    if meter.cost.least > limits.work:
        raise LimitExceeded(
            f"validating any value would take at least {meter.cost.least} steps, "
            f"more than {limits.work} (limit: work)",
            limit="work",
            allowed=limits.work,
            found=meter.cost.least,
        )
    matching = Matching.of(graph, patterns, limits)
    engine = Engine(
        documents, places_to_respell(spots, patterns), dialect, formats, patterns, limits
    )
    fences = None
    if metaschema is None and meter.cost.linear:
        fences = plan_fences(graph, limits.instance_depth - FENCE_DEPTH)
    try:
        fenced = None if fences is None else engine.fenced(fences)
        if fenced is None:
            engine.plain(limits.backtracks)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise InvalidSchema(f"the engine refuses the schema: {shorten(str(error), 160)}") from error
    return Core(
        documents=documents,
        dialect=dialect,
        limits=limits,
        graph=graph,
        meter=meter,
        engine=engine,
        matching=matching,
        fenced=fenced,
        free_size=_free_size(meter, matching, limits),
        depth=depth_for(graph, limits),
    )


def _free_size(meter: Meter, matching: Matching | None, limits: Limits) -> int | None:
    """Return the size of text up to which nothing about a value needs to be looked at."""
    sizes: list[int] = []
    if meter.cost.checked:
        sizes.append(limits.work // meter.cost.factor if meter.cost.factor else 0)
    if matching is not None:
        sizes.append(matching.free_size)
    return min(sizes, default=None)


@functools.cache
def _metaschema(dialect: Dialect) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        {"$schema": dialect.uri, "$ref": dialect.uri}, validate_formats=False, offline=True
    )


def _check_metaschema(document: object, dialect: Dialect, uri: str = "") -> None:
    if _metaschema(dialect).is_valid(document):
        return
    error = max(_metaschema(dialect).iter_errors(document), key=lambda e: len(e.instance_path))
    path = "".join(f"/{escape(str(token))}" for token in error.instance_path)
    which = f"the schema {uri}" if uri else "the schema"
    raise InvalidSchema(
        f"{which} is invalid at {path or 'its root'}: {error.message[:160]}", path=path
    )
