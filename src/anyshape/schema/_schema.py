"""A compiled schema: the one object that is published, enforced and explained."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from anyshape.errors import LimitExceeded, Problem, ValidationError
from anyshape.schema._cost import Cost, Meter
from anyshape.schema._engine import Engine, Test, copy_json
from anyshape.schema._graph import Graph
from anyshape.schema._guard import Fences
from anyshape.schema._instance import FENCE_DEPTH, json_test, read_json
from anyshape.schema._limits import Limits
from anyshape.schema._matching import Matching, text_size
from anyshape.schema._sources import Sources

if TYPE_CHECKING:
    from anyshape.schema._explain import Explainer

__all__ = ["Core", "Schema"]

_FRAMES = 16_000
"""Nested evaluations that the engine was seen to survive on an 8 MB stack, with room to spare."""


class Core(msgspec.Struct, eq=False):
    """What compiling a document gives, shared by all schemas with an equal one.

    `fences` (see `_guard`) make the engine accept nothing but JSON; they are `None` where none is
    safe. A value whose text has more than `free_size` bytes has to be looked at, with `meter`,
    before it is validated; `None` says that none has. Where fences see to that themselves, for the
    texts that matter, `longest_text` is what they let pass.
    """

    sources: Sources
    limits: Limits
    cost: Cost
    meter: Meter | None
    engine: Engine
    matching: Matching | None
    fences: Fences | None
    free_size: int | None
    longest_text: int | None
    depth: int
    _explainer: Explainer | None = None
    _settling: tuple[Test | None, Test] | None = None

    def explainer(self) -> Explainer:
        """Return what finds problems, made when the first value fails."""
        if self._explainer is None:
            from anyshape.schema._explain import Explainer

            self._explainer = Explainer(self.graph, self.engine, self.cost)
        return self._explainer

    @property
    def graph(self) -> Graph:
        """The graph of subschemas, built anew: most schemas never need it again."""
        return self.sources.reach(self.limits).graph

    def quick_test(self) -> Test:
        """Return a test that accepts only what is valid, and JSON: most of what is, at once."""
        if self.fences is not None:
            test = self.engine.fenced(self.fences, exact=bool(self.fences.exact))
            if self.free_size is None or self.longest_text is not None:
                return test
            return partial(_measure_and_test, self.free_size, test)
        if self.free_size is not None:
            return _never
        return partial(_prove_and_test, json_test(self.depth), self.engine.plain(self.backtracks))

    def settle(self, value: object) -> bool:
        """Decide about `value`, which the quick test did not accept."""
        again, prove = self._settling or self._plan_settling()
        try:
            if again is not None and again(value):
                return True
            if prove(value):
                return False
        except Exception:
            # What the engine cannot read, and how it says so, is found out patiently.
            return self.decide(value)
        return self.decide(value)

    def _plan_settling(self) -> tuple[Test | None, Test]:
        """Return a second test that may accept, and one that proves that "no" was right."""
        fences = self.fences
        again: Test | None = None
        prove: Test = _never
        if fences is None:
            if self._is_final and self.free_size is None:
                prove = json_test(self.depth)
        else:
            if fences.exact:
                again = self.engine.fenced(fences, exact=False)
            if self._is_final:
                # No fence is deeper than that, so that none can have made the difference.
                prove = json_test(FENCE_DEPTH)
            if self.free_size is not None:
                # Nothing had to be looked at, or was refused for its length, in a small value.
                most = self.free_size if self.longest_text is None else self.longest_text
                again = None if again is None else partial(_measure_and_test, most, again)
                prove = partial(_measure_and_test, most, prove)
        self._settling = (again, prove)
        return self._settling

    @property
    def backtracks(self) -> int:
        """How many steps back a match may take in a value of ordinary size."""
        return self.limits.backtracks

    @property
    def _is_final(self) -> bool:
        """Tell whether the engine's "no" cannot mean that it does not know."""
        return not self.engine.patterns.backtracking

    def _needs_look(self, value: object) -> bool:
        if self.free_size is None:
            return False
        size = text_size(value)
        return size is None or size > self.free_size

    def decide(self, value: object) -> bool:
        """Decide about `value`, of which nothing is known."""
        return self.judge(self.admit(value))

    def admit(self, value: object) -> object:
        """Return `value` as the engine can read it; raise `NotJson` or `LimitExceeded`."""
        try:
            if json_test(self.depth)(value):
                return value
        except Exception:
            # The engine's errors are of several types and name no place; ours do.
            return read_json(value, depth=self.depth, most=self.limits.work)
        return read_json(value, depth=self.depth, most=self.limits.work)

    def judge(self, value: object) -> bool:
        """Decide about `value`, which is JSON."""
        backtracks = self.backtracks
        if self.meter is not None and self._needs_look(value):
            self.meter.check(value, self.limits.work, text_size(value))
            if self.matching is not None:
                backtracks = self.matching.backtracks(value)
        return self.engine.plain(backtracks)(value) or self.refuse(value, backtracks)

    def refuse(self, value: object, backtracks: int) -> bool:
        """Return `False`, or raise `LimitExceeded` if a pattern ran out of steps on `value`."""
        if self.engine.patterns.backtracking and not self.engine.negated(backtracks)(value):
            raise LimitExceeded(
                f"a pattern took more than {backtracks} steps back (limit: backtracks); "
                "simplify the pattern or shorten the text",
                limit="backtracks",
                allowed=backtracks,
            )
        return False


def _prove_and_test(prove: Test, test: Test, value: object) -> bool:
    return prove(value) and test(value)


def _measure_and_test(most: int, test: Test, value: object) -> bool:
    size = text_size(value)
    return size is not None and size <= most and test(value)


def _never(value: object) -> bool:
    return False


def depth_for(graph: Graph, limits: Limits) -> int:
    """Return how deep values may be so that the engine's stack holds, recursive schema or not."""
    return max(1, min(limits.instance_depth, _FRAMES // max(1, graph.longest_chain)))


class Schema:
    """A JSON Schema document, compiled: made by `compile`, immutable, safe to share."""

    __slots__ = ("_core", "_kept", "_quick")

    def __init__(self, core: Core, kept: dict[str, Any] | bool | bytes) -> None:
        """Take what compiling gave, and the document or its text."""
        self._core = core
        self._kept = kept
        self._quick = core.quick_test()

    @property
    def document(self) -> dict[str, Any] | bool:
        """The document exactly as given, a fresh copy each time."""
        kept = self._kept
        copied: Any = msgspec.json.decode(kept) if isinstance(kept, bytes) else copy_json(kept)
        return copied

    @property
    def cost(self) -> Cost:
        """What the analysis proved about the work of validating one value."""
        return self._core.cost

    @property
    def dialect(self) -> str:
        """The URI of the dialect that the document is written in."""
        return self._core.sources.dialect.uri

    @property
    def limits(self) -> Limits:
        """The limits that the schema was compiled with."""
        return self._core.limits

    def accepts(self, value: object) -> bool:
        """Tell whether `value` satisfies the schema.

        Raises `NotJson` when it is no JSON value, and `LimitExceeded` when a budget runs out first.
        """
        quick = self._quick  # called from here it would be looked up as a method: 18 ns
        try:
            if quick(value):
                return True
        except Exception:
            return self._core.decide(value)
        return self._core.settle(value)

    def problems(self, value: object, limit: int = 20) -> list[Problem]:
        """Return up to `limit` ways in which `value` breaks the schema, none when it does not."""
        core = self._core
        admitted = core.admit(value)
        if core.judge(admitted):
            return []
        return core.explainer().problems(admitted, limit)

    def validate(self, value: object) -> None:
        """Raise `ValidationError`, with the problems, when `value` breaks the schema."""
        if not self.accepts(value):
            raise ValidationError(self.problems(value))

    def __repr__(self) -> str:
        """Return the beginning of the document."""
        text = repr(self.document)
        return f"<Schema {text if len(text) <= 60 else text[:59] + '…'}>"
