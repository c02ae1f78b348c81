"""From a document to a `Schema`, one step after the other; equal documents only once.

The steps: admit (is it JSON, of what size), dialect, fetch (if the operator allows), classify, and
then either build it here or have it built where it can be stopped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from anyshape.decoding import decode_json
from anyshape.documents.names import is_unambiguous
from anyshape.errors import LimitExceeded, Problem, SchemaError
from anyshape.schema._bounds import (
    PATTERN_BYTES,
    SUBSCHEMAS,
    Cost,
    Job,
    NotCheap,
    WouldWait,
    aside,
    ask,
    classify,
    is_official,
    leave_loop,
    screen,
)
from anyshape.schema._cache import Cache
from anyshape.schema._compile import (
    Admitted,
    Analysis,
    Role,
    Sources,
    admit_document,
    analyse,
    build,
    check_role,
)
from anyshape.schema._limits import Limits
from anyshape.schema._schema import Confined, InProcess, Judge, Schema

if TYPE_CHECKING:
    from anyshape.schema._remote import RemoteReferences

_KEPT_BYTES = 64_000_000
# What was seen to be taken at most, matched and explained with the worst of values.
_BYTES_PER_SUBSCHEMA = 8_000
_BYTES_PER_COPY = 1_000
"""For each time that a subschema is compiled, by itself or as a part of what is referred to."""
_BYTES_PER_COPIED = 35
"""For each byte of the text of what else is compiled with it."""
_BYTES_PER_LOCATED = 2
"""For each character of the places of its keywords: once matched with, and once explained with."""
_BYTES_PER_PATTERN = 320_000
_BYTES_PER_OBJECT = 1_000
_BYTES_PER_MEMBER = 300
"""For each of what else the document holds, such as examples: once for us, once for the engine."""

_cache: Cache[Judge] = Cache(most=_KEPT_BYTES)


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

    A schema that is not cheap by proof is compiled in another process, which this waits for: on an
    event loop use `compile_async`.
    """
    return _prepare(document, role, limits, resources, remote, formats).finish()


async def compile_async(
    document: object,
    *,
    role: Role | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    resources: Mapping[str, object] | None = None,
    remote: RemoteReferences | None = None,
    formats: bool = True,
) -> Schema:
    """Return the same as `compile`, without keeping the event loop from others meanwhile."""
    options: Any = {"role": role, "limits": limits, "resources": resources, "formats": formats}
    if remote is None:
        with suppress(WouldWait):
            return compile_here(document, **options)
    return await aside(compile, document, remote=remote, **options)


def compile_here(
    document: object,
    *,
    role: Role | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    resources: Mapping[str, object] | None = None,
    formats: bool = True,
    light: bool = False,
) -> Schema:
    """Return the same as `compile`; on an event loop that would have to wait, raise `WouldWait`.

    Nothing is fetched, since that waits in any case. A schema that is `light` holds its text and
    nothing else: where there are very many, it is compiled again when it is used and what was
    compiled has been forgotten.
    """
    prepared = _prepare(document, role, limits, resources, None, formats, leave=True)
    if prepared.waits:
        leave_loop()
    schema = prepared.finish()
    if not light or schema.cost.confined:
        return schema
    text = prepared.admitted.keep()
    again = partial(compile, limits=limits, resources=resources, formats=formats)
    return Schema(_Recalled(text, again, schema.cost), text, schema.dialect, limits)


class _Recalled(Judge):
    """Judges with a schema that is compiled when it is needed, and kept by the cache alone."""

    def __init__(self, text: Any, again: Callable[[object], Schema], cost: Cost) -> None:
        self._text = text
        self._again = again
        self._last: Callable[[], Judge | None] = lambda: None
        self.cost = cost

    def accepts(self, value: object, size: int | None = None) -> bool:
        return self._recall().accepts(value, size)

    def problems(self, value: object, limit: int, size: int | None = None) -> list[Problem]:
        return self._recall().problems(value, limit, size)

    def _recall(self) -> Judge:
        judge = self._last()
        if judge is None:
            text = self._text
            schema = self._again(decode_json(text) if isinstance(text, bytes) else text)
            judge = schema._judge
            self._last = weakref.ref(judge)  # The cache alone decides how long that is kept.
        return judge


class _Prepared(msgspec.Struct, frozen=True, eq=False):
    """A document that was admitted, and how it is to be compiled."""

    admitted: Admitted
    sources: Sources
    limits: Limits
    formats: bool
    key: bytes
    analysis: Analysis | None
    cost: Cost

    @property
    def waits(self) -> bool:
        """Whether compiling it may wait for another process."""
        return self.cost.confined and _cache.peek(self.key) is None

    def finish(self) -> Schema:
        """Compile it, unless an equal one was."""
        try:
            judge = _cache.get(self.key, self._build)
        except (SchemaError, LimitExceeded):
            if self.sources.document is self.admitted.document:
                raise
            # Says the same again, in the words of this document.
            own = replace(self.sources, document=self.admitted.document)
            judge = replace(self, sources=own, analysis=None)._build()[0]
        return Schema(judge, self.admitted.keep(), self.sources.dialect.uri, self.limits)

    def _build(self) -> tuple[Judge, int]:
        is_cheap, text = not self.cost.confined, self.admitted.text
        sources = self.sources if is_cheap else self.sources.pack()
        job = Job(self.key, sources, self.limits, self.formats, is_cheap=is_cheap)
        confined = Confined(job, self.cost, 4 * len(text))
        if self.cost.confined:
            ask(job)
            return confined, confined.weight
        core = build(self.sources, self.limits, self.formats, self.analysis)
        core.rate = self.cost.rate or 0
        recursive = self.analysis is None or self.analysis.reached.graph.recursive
        weight = confined.weight + _weigh(self.analysis, text)
        return InProcess(core, confined, weight, recursive=recursive), weight


def _weigh(analysis: Analysis | None, text: bytes) -> int:
    """Return about how many bytes are taken by what was compiled in the process."""
    values = _BYTES_PER_OBJECT * text.count(b"{") + _BYTES_PER_MEMBER * text.count(b",")
    if analysis is None:
        return values + _BYTES_PER_SUBSCHEMA
    reached = analysis.reached
    return (
        values
        + _BYTES_PER_SUBSCHEMA * len(reached.spots)
        + _BYTES_PER_COPY * len(reached.graph.nodes)
        + _BYTES_PER_COPIED * reached.graph.copied
        + _BYTES_PER_LOCATED * reached.graph.located
        + _BYTES_PER_PATTERN * len(analysis.patterns.all)
    )


def _prepare(
    document: object,
    role: Role | None,
    limits: Limits,
    resources: Mapping[str, object] | None,
    remote: RemoteReferences | None,
    formats: bool,
    *,
    leave: bool = False,
) -> _Prepared:
    if role not in (None, "input", "output"):
        raise ValueError(f'role must be "input", "output" or None, got {role!r}')
    when_long = leave_loop if leave else None
    admitted = admit_document(document, limits, when_long=when_long)
    check_role(admitted.document, role)
    supplied = {
        uri: admit_document(resource, limits, uri, when_long).whole()
        for uri, resource in (resources or {}).items()
    }
    sources = Sources.of(admitted.document, supplied, admitted.long)
    if remote is not None:
        sources = sources.fetch(remote, limits)
    own, text = sources, admitted.text
    if admitted.has_prose and sources.metaschema() is None:
        # What is kept for all documents that differ in their prose alone must not depend on the
        # first one. (A metaschema of one's own may have something to say about descriptions.)
        sources = replace(sources, document=admitted.without_prose())
        text = admitted.essence()
    key = hashlib.sha256(text + _describe(limits, formats) + sources.digest()).digest()
    known = _cache.peek(key)
    if known is not None:
        return _Prepared(admitted, sources, limits, formats, key, None, known.cost)
    try:
        analysis, cost = _classify(sources, len(text), limits, formats)
    except (SchemaError, LimitExceeded):
        if own is not sources:  # Says the same again, in the words of this document.
            _classify(own, len(admitted.text), limits, formats)
        raise
    return _Prepared(admitted, sources, limits, formats, key, analysis, cost)


@lru_cache(maxsize=64)
def _describe(limits: Limits, formats: bool) -> bytes:
    return repr((limits, formats)).encode()


def _classify(
    sources: Sources, size: int, limits: Limits, formats: bool
) -> tuple[Analysis | None, Cost]:
    """Return the bound that is known of a schema; what is wrong with it, if it is quickly found."""
    try:
        if sources.resources:
            raise NotCheap("references to other documents")
        screen(sources.document, size, sources.dialect)
        analysis = _analyse_small(sources, limits)
        cost = classify(
            analysis.reached.graph,
            analysis.patterns,
            formats=formats,
            instance_depth=limits.instance_depth,
            official=is_official(sources.document, sources.dialect),
        )
    except NotCheap as reason:
        return None, Cost(True, 0, None, str(reason))
    return analysis, cost


@lru_cache(maxsize=64)
def _small(limits: Limits) -> Limits:
    return dataclasses.replace(
        limits,
        subschemas=min(limits.subschemas, SUBSCHEMAS),
        pattern_bytes=min(limits.pattern_bytes, PATTERN_BYTES),
    )


def _analyse_small(sources: Sources, limits: Limits) -> Analysis:
    try:
        analysis = analyse(sources, _small(limits))
    except LimitExceeded as error:
        if error.limit == "subschemas" and limits.subschemas > SUBSCHEMAS:
            raise NotCheap(f"more than {SUBSCHEMAS} subschemas") from None
        if error.limit == "pattern_bytes" and limits.pattern_bytes > PATTERN_BYTES:
            raise NotCheap("many or large patterns") from None
        raise
    if analysis.reached.foreign:
        raise NotCheap("references to metaschemas of other dialects")
    spots, adopted = analysis.reached.spots.values(), analysis.reached.adopted
    if not is_unambiguous(sources.document, spots, adopted, sources.dialect):
        raise NotCheap("identifiers or references that can be read in two ways")
    return analysis
