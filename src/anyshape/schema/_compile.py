"""From a document to a `Schema`, one step after the other; equal documents only once.

The steps: admit (is it JSON, of what size), dialect, fetch (if the operator allows), metaschema,
graph (every reference resolved, nothing in circles), patterns, cost, fences, engine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import jsonschema_rs
from msgspec.structs import replace

from anyshape.errors import InvalidSchema, LimitExceeded, SchemaError
from anyshape.schema._cache import Cache
from anyshape.schema._cost import Meter
from anyshape.schema._document import Role, admit_document, check_role
from anyshape.schema._engine import Engine, places_to_respell
from anyshape.schema._guard import Fences, plan_fences
from anyshape.schema._instance import FENCE_DEPTH, shorten
from anyshape.schema._limits import Limits
from anyshape.schema._matching import Matching
from anyshape.schema._metaschemas import check_document, check_reached
from anyshape.schema._patterns import check_patterns
from anyshape.schema._schema import Core, Schema, depth_for
from anyshape.schema._sources import Reached, Sources

if TYPE_CHECKING:
    from anyshape.schema._remote import RemoteReferences

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
    admitted = admit_document(document, limits)
    check_role(admitted.document, role)
    supplied = {
        uri: admit_document(resource, limits, uri).document
        for uri, resource in (resources or {}).items()
    }
    sources = Sources.of(admitted.document, supplied)
    if remote is not None:
        sources = sources.fetch(remote, limits)

    # A metaschema of one's own may have something to say about descriptions.
    shares = admitted.has_prose and sources.metaschema() is None

    def build() -> Core:
        if not shares:
            return _build(sources, limits, formats)
        # What is kept for all documents with this essence must not depend on the first one.
        return _build(replace(sources, document=admitted.without_prose()), limits, formats)

    text = admitted.essence() if shares else admitted.text
    key = (hashlib.sha256(text).digest(), limits, formats, sources.digest())
    try:
        return Schema(_cache.get(key, build), admitted.keep())
    except (SchemaError, LimitExceeded):
        if not shares:
            raise
    # Says the same again, in the words of this document.
    return Schema(_build(sources, limits, formats), admitted.keep())


def _build(sources: Sources, limits: Limits, formats: bool) -> Core:
    if sources.metaschema() is None:
        check_document(sources.document, sources.dialect)
    reached = sources.reach(limits)
    check_reached(reached, sources)
    graph = reached.graph
    patterns = check_patterns(reached.spots.values(), limits)
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
        documents=reached.documents,
        respelt=places_to_respell(reached.spots, patterns),
        dialect=sources.dialect,
        formats=formats,
        patterns=patterns,
        limits=limits,
        foreign=reached.foreign,
    )
    longest = None if matching is None or meter.cost.checked else matching.longest_texts()
    fences = _plan_fences(engine, reached, meter, longest or {})
    free_size = _free_size(meter, matching, limits)
    return Core(
        sources=sources,
        limits=limits,
        cost=meter.cost,
        meter=None if free_size is None else meter,
        engine=engine,
        matching=matching,
        fences=fences,
        free_size=free_size,
        longest_text=min(longest.values(), default=None) if longest else None,
        depth=depth_for(graph, limits),
    )


def _plan_fences(
    engine: Engine, reached: Reached, meter: Meter, longest: Mapping[tuple[str, str], int]
) -> Fences | None:
    """Plan fences where they are safe, and build the first test, so that the engine agrees."""
    fences = None
    if meter.cost.linear and not reached.custom:
        # A metaschema of one's own may leave out the very keywords that fences are made of.
        depth = engine.limits.instance_depth - FENCE_DEPTH
        fences = plan_fences(reached.graph, depth, formats=engine.formats, longest=longest)
    try:
        if fences is not None and fences.documents() <= reached.documents.keys():
            engine.fenced(fences, exact=bool(fences.exact))
            return fences
        engine.plain(engine.limits.backtracks)
    except BaseException as error:
        # A panic of the engine is no Exception; a stranger's schema must not end the process.
        panicked = type(error).__name__ == "PanicException"
        if not panicked and not isinstance(error, (ValueError, jsonschema_rs.ReferencingError)):
            raise
        raise InvalidSchema(f"the engine refuses the schema: {shorten(str(error), 160)}") from error
    return None


def _free_size(meter: Meter, matching: Matching | None, limits: Limits) -> int | None:
    """Return the size of text up to which nothing about a value needs to be looked at."""
    sizes: list[int] = []
    if meter.cost.checked:
        sizes.append(limits.work // meter.cost.factor if meter.cost.factor else 0)
    if matching is not None:
        sizes.append(matching.free_size)
    return min(sizes, default=None)
