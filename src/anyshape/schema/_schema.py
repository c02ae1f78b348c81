"""A compiled schema: the one object that is published, enforced and explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anyshape.errors import LimitExceeded, Problem, ValidationError
from anyshape.schema._cost import Cost, Meter
from anyshape.schema._dialects import Dialect
from anyshape.schema._engine import Engine, Test, copy_json
from anyshape.schema._graph import Graph
from anyshape.schema._instance import FENCE_DEPTH, holds_json, read_json
from anyshape.schema._limits import Limits
from anyshape.schema._matching import Matching, text_size

__all__ = ["Core", "Schema"]

_FRAMES = 16_000
"""Nested evaluations that the engine was seen to survive on an 8 MB stack, with room to spare."""


@dataclass(slots=True, eq=False)
class Core:
    """What compiling a document gives, shared by all schemas with an equal one.

    `fenced` accepts nothing but JSON (see `_guard`); it is `None` where no fence is safe. A value
    whose text has more than `free_size` bytes has to be looked at before it is validated; `None`
    says that none has.
    """

    documents: Mapping[str, object]
    dialect: Dialect
    limits: Limits
    graph: Graph
    meter: Meter
    engine: Engine
    matching: Matching | None
    fenced: Test | None
    free_size: int | None
    depth: int

    def accepts_measured(self, value: object) -> bool:
        """Decide about `value` where `fenced` may only be used for small ones, or not at all."""
        if self.fenced is not None and self.free_size is not None:
            size = text_size(value)
            if size is not None and size <= self.free_size:
                try:
                    if self.fenced(value):
                        return True
                except Exception:
                    return self.decide(value)
                return self.settle(value)
        return self.decide(value)

    def settle(self, value: object) -> bool:
        """Decide about `value`, which `fenced` did not accept."""
        if not self.matching_backtracks and holds_json(value, FENCE_DEPTH):
            # No fence is deeper than that, so none of them made the difference.
            return False
        return self.decide(value)

    def decide(self, value: object) -> bool:
        """Decide about `value`, of which nothing is known."""
        return self.judge(self.admit(value))

    def admit(self, value: object) -> object:
        """Return `value` as the engine can read it; raise `NotJson` or `LimitExceeded`."""
        if holds_json(value, self.depth):
            return value
        return read_json(value, depth=self.depth, most=self.limits.work)

    def judge(self, value: object) -> bool:
        """Decide about `value`, which is JSON."""
        limits = self.limits
        backtracks = limits.backtracks
        if self.free_size is not None:
            size = text_size(value)
            if size is None or size > self.free_size:
                self.meter.check(value, limits.work, size)
                if self.matching is not None:
                    backtracks = self.matching.backtracks(value)
        if self.engine.plain(backtracks)(value):
            return True
        if self.matching_backtracks and not self.engine.negated(backtracks)(value):
            raise LimitExceeded(
                f"a pattern took more than {backtracks} steps back (limit: backtracks); "
                "simplify the pattern or shorten the text",
                limit="backtracks",
                allowed=backtracks,
            )
        return False

    @property
    def matching_backtracks(self) -> bool:
        """Tell whether a pattern can run out of steps."""
        return self.engine.patterns.backtracking


def depth_for(graph: Graph, limits: Limits) -> int:
    """Return how deep values may be so that the engine's stack holds, recursive schema or not."""
    return max(1, min(limits.instance_depth, _FRAMES // max(1, graph.longest_chain)))


class Schema:
    """A JSON Schema document, compiled: made by `compile`, immutable, safe to share."""

    __slots__ = ("_core", "_document", "_fenced")

    def __init__(self, core: Core, document: dict[str, Any] | bool) -> None:
        self._core = core
        self._document = document
        self._fenced = core.fenced if core.free_size is None else None

    @property
    def document(self) -> dict[str, Any] | bool:
        """The document exactly as given, a fresh copy each time."""
        copied: Any = copy_json(self._document)
        return copied

    @property
    def cost(self) -> Cost:
        """What the analysis proved about the work of validating one value."""
        return self._core.meter.cost

    @property
    def dialect(self) -> str:
        """The URI of the dialect that the document is written in."""
        return self._core.dialect.uri

    @property
    def limits(self) -> Limits:
        """The limits that the schema was compiled with."""
        return self._core.limits

    def accepts(self, value: object) -> bool:
        """Tell whether `value` satisfies the schema.

        Raises `NotJson` when it is no JSON value, and `LimitExceeded` when a budget runs out first.
        """
        fenced = self._fenced
        if fenced is None:
            return self._core.accepts_measured(value)
        try:
            if fenced(value):
                return True
        except Exception:
            # What the engine cannot read, and how it says so, is found out patiently.
            return self._core.decide(value)
        return self._core.settle(value)

    def problems(self, value: object, limit: int = 20) -> list[Problem]:
        """Return up to `limit` ways in which `value` breaks the schema, none when it does not."""
        core = self._core
        admitted = core.admit(value)
        if core.judge(admitted):
            return []
        return _explain(core, admitted, limit)

    def validate(self, value: object) -> None:
        """Raise `ValidationError`, with the problems, when `value` breaks the schema."""
        if not self.accepts(value):
            raise ValidationError(self.problems(value))

    def __repr__(self) -> str:
        """Return the beginning of the document."""
        text = repr(self._document)
        return f"<Schema {text if len(text) <= 60 else text[:59] + '…'}>"


def _explain(core: Core, value: object, limit: int) -> list[Problem]:
    error = next(iter(core.engine.subschemas()["#"].iter_errors(value)))
    path = "".join(f"/{token}" for token in error.instance_path)
    where = "".join(f"/{token}" for token in error.schema_path)
    return [Problem(str(error.kind.name), path, error.message[:200], where)][:limit]
