"""From admitted documents to what judges and explains values: the steps that are always taken.

A document is checked against its metaschema; its references are resolved and followed, so that none
goes round in a circle; its patterns are compiled and weighed; and the engine is made. The same code
runs in the process, for schemas that are cheap by proof, and in a confined one for all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import jsonschema_rs
import msgspec

from anyshape.documents.library import Spot
from anyshape.errors import InvalidSchema, LimitExceeded, Problem
from anyshape.schema._compile.engine import Engine, Test
from anyshape.schema._compile.graph import Graph
from anyshape.schema._compile.patterns import Patterns, check_patterns
from anyshape.schema._compile.sources import Reached, Sources
from anyshape.schema._compile.validity import check_document, check_reached
from anyshape.schema._limits import Limits
from anyshape.schema._wording import shorten, show

if TYPE_CHECKING:
    from anyshape.schema._explain import Explainer

_DYNAMIC = frozenset(("$dynamicRef", "$recursiveRef"))
_UNEVALUATED = frozenset(("unevaluatedProperties", "unevaluatedItems"))


class Analysis(msgspec.Struct, frozen=True, eq=False):
    """What is known of valid documents before the engine compiles them."""

    sources: Sources
    reached: Reached
    patterns: Patterns


def analyse(sources: Sources, limits: Limits) -> Analysis:
    """Return what the documents come to, or raise what is wrong with them."""
    if sources.metaschema() is None:
        check_document(sources.document, sources.dialect)
    reached = sources.reach(limits)
    check_reached(reached, sources)
    _check_keywords(reached.spots.values())
    return Analysis(sources, reached, check_patterns(reached.spots.values(), limits))


def _check_keywords(spots: Iterable[Spot]) -> None:
    """Refuse a reference of another dialect where the engine would follow it all the same.

    To its own dialect it is an unknown keyword; `unevaluated*` looks through it nevertheless.
    """
    found: Spot | None = None
    looks = False
    for spot in spots:
        if isinstance(spot.schema, dict):
            looks = looks or not _UNEVALUATED.isdisjoint(
                spot.schema.keys() & spot.dialect.applicators.keys()
            )
            if not (_DYNAMIC - set(spot.dialect.references)).isdisjoint(spot.schema):
                found = spot
    if found is not None and looks:
        keyword = min(_DYNAMIC.intersection(found.schema if isinstance(found.schema, dict) else ()))
        raise InvalidSchema(
            f"{keyword} at {found.place or '/'} means nothing in {found.dialect.name}; leave it "
            "out beside unevaluatedProperties and unevaluatedItems",
            path=f"{found.pointer}/{keyword}",
        )


class Core(msgspec.Struct, eq=False):
    """What compiling a document gives, shared by all schemas with an equal one.

    Values given to it are JSON, nested at most `Limits.instance_depth` deep.
    """

    engine: Engine
    sources: Sources
    limits: Limits
    test: Test
    rate: float = 0.0
    """Nanoseconds for each byte of a value, where that is known; see `_bounds.classifier`."""
    _explainer: Explainer | None = None

    def accepts(self, value: object) -> bool:
        """Tell whether `value` satisfies the schema."""
        try:
            return self.test(value)
        except Exception as error:
            raise _beyond(error, self.limits) from error

    def problems(self, value: object, limit: int) -> list[Problem]:
        """Return up to `limit` problems, none for a value that satisfies the schema."""
        if self.accepts(value):
            return []
        try:
            return self.explainer().problems(value, limit)
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise _beyond(error, self.limits) from error

    def explainer(self) -> Explainer:
        """Return what finds problems, made when the first value fails."""
        if self._explainer is None:
            from anyshape.schema._explain import Explainer

            self._explainer = Explainer(self.graph, self.engine, self.rate)
        return self._explainer

    @property
    def graph(self) -> Graph:
        """The graph of subschemas, built anew: most schemas never need it again."""
        return self.sources.reach(self.limits).graph


def build(
    sources: Sources, limits: Limits, formats: bool, analysis: Analysis | None = None
) -> Core:
    """Compile the documents, in full."""
    known = analyse(sources, limits) if analysis is None else analysis
    reached = known.reached
    engine = Engine.of(reached, sources.dialect, known.patterns, limits, formats=formats)
    try:
        return Core(engine, sources, limits, engine.test())
    except BaseException as error:
        # A panic of the engine is no Exception; a stranger's schema must not end the process.
        panicked = type(error).__name__ == "PanicException"
        if not panicked and not isinstance(error, (ValueError, jsonschema_rs.ReferencingError)):
            raise
        _check_identifiers(reached.spots.values())
        reason = str(error).partition("\n")[0]
        raise InvalidSchema(f"the engine refuses the schema: {shorten(reason)}") from error


def _check_identifiers(spots: Iterable[Spot]) -> None:
    """Say which identifier it is, where the engine refuses a schema because of one."""
    is_uri = jsonschema_rs.Draft202012Validator({"format": "uri-reference"}, validate_formats=True)
    for spot in spots:
        keyword = spot.dialect.id_keyword
        given = spot.schema.get(keyword) if isinstance(spot.schema, dict) else None
        if not is_uri.is_valid(given):
            raise InvalidSchema(
                f"expected a URI as {keyword} at {spot.place or '/'}, got {show(given)}; "
                "percent-encode what a URI may not hold",
                path=f"{spot.pointer}/{keyword}",
            )


def _beyond(error: Exception, limits: Limits) -> LimitExceeded:
    return LimitExceeded(
        f"the value is beyond the engine: {shorten(str(error).partition(chr(10))[0])}",
        limit="instance_depth",
        allowed=limits.instance_depth,
    )
