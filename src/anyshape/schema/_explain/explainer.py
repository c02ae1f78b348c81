"""Why a value breaks a schema: problems that a reader can act on, found with bounded work.

The engine's own error iterator remembers nothing and takes exponential time on an expression tree,
so schema and value are walked together here (`walk`). The engine says which subschemas hold
(`verdicts`, `leaves`), the walk goes only where one fails, and of alternatives only into the
closest (`alternatives`). Each subschema is explained at most once for each place in the value.

The steps of the walk are generators; the loop here runs them on a stack of its own, so that neither
a deep schema nor a deep value can exhaust Python's. Work is charged in nanoseconds, counted rather
than measured, so that the same value has the same problems on every machine. Where the budget ends,
what was found so far is the answer: that the value is invalid is known already.

docs/concepts/problems.md says how the lines read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from anyshape.errors import Problem
from anyshape.schema._compile import Engine, Graph
from anyshape.schema._explain.knowledge import Knowledge, Steps
from anyshape.schema._explain.places import Findings, Spent, ValuePlace, Work
from anyshape.schema._explain.plans import Plan, Plans
from anyshape.schema._explain.walk import Walk
from anyshape.schema._wording import count

_BUDGET = 100_000_000
"""Nanoseconds that explaining one value may take."""
_EXPLAINING = 20_000
"""Nanoseconds that explaining one subschema at one place takes, beside what is charged for."""
_CHARACTER = 10
"""Nanoseconds charged for each character of what was found: pointers may be of any length."""

_MOST_TENTATIVE = 6
"""How many problems are looked for where they only serve to compare alternatives."""


@dataclass(slots=True, eq=False)
class _Explanation:
    """A subschema that is being explained at a place."""

    plan: Plan
    place: ValuePlace
    steps: Steps
    found: Findings
    certain: bool
    failed: bool


class Explainer:
    """Finds the problems of values with one schema; safe to share between threads."""

    def __init__(self, graph: Graph, engine: Engine, rate: float) -> None:
        """Take the schema; `rate` bounds what the engine takes for each byte of a value."""
        self._plans = Plans(graph, engine, rate)
        self._root = self._plans[graph.root]

    def problems(self, value: object, limit: int) -> list[Problem]:
        """Return up to `limit` problems of `value`, JSON that the schema is known not to accept.

        The message of the last one says how many more there are at least.
        """
        run = _Run(self._plans, value, most=2 * limit)
        problems = run.explain(self._root, rejected=True)
        return _cut(problems, limit, run.spent)

    def explain(self, value: object) -> list[Problem]:
        """Return what the walk alone finds, asked about a value of which nothing is known."""
        run = _Run(self._plans, value, most=100)
        return run.explain(self._root, rejected=False)


class _Run:
    """One walk: the stack of what is being explained."""

    def __init__(self, plans: Plans, value: object, most: int) -> None:
        self._work = Work(_BUDGET)
        self._knowledge = Knowledge(plans, self._work)
        self._walk = Walk(self._knowledge)
        self._most = most
        self._start = ValuePlace(value)
        self._stack: list[_Explanation] = []
        self.spent = False

    def explain(self, root: Plan, *, rejected: bool) -> list[Problem]:
        try:
            self._loop(root, rejected)
        except Spent:
            self.spent = True
            found = [
                each for frame in self._stack if frame.certain for each in frame.found.problems
            ]
            return found or [_unexplained(root, self._start)]
        return list(self._start.explained[root.index])

    def _loop(self, root: Plan, rejected: bool) -> None:
        stack = self._stack
        self._push(root, self._start, certain=True, failed=rejected)
        answer: tuple[Problem, ...] | None = None
        while stack:
            frame = stack[-1]
            try:
                # A generator that has not started takes nothing else than `None`.
                plan, place, certain = (
                    next(frame.steps) if answer is None else frame.steps.send(answer)
                )
            except StopIteration:
                answer = self._finish(frame)
                continue
            answer = place.explained.get(plan.index)
            if answer is None:
                failed = self._knowledge.verdict(plan, place) is False
                self._push(plan, place, certain=certain and frame.certain, failed=failed)

    def _push(self, plan: Plan, place: ValuePlace, *, certain: bool, failed: bool) -> None:
        self._work.charge(_EXPLAINING)
        found = Findings(self._most if certain else _MOST_TENTATIVE)
        steps = self._walk.explain(plan, place, found)
        self._stack.append(_Explanation(plan, place, steps, found, certain, failed))

    def _finish(self, frame: _Explanation) -> tuple[Problem, ...]:
        problems = tuple(frame.found.problems)
        if not problems and frame.failed:
            problems = (_unexplained(frame.plan, frame.place),)
        self._work.charge(_CHARACTER * sum(map(_length, problems)))
        frame.place.explained[frame.plan.index] = problems
        self._stack.pop()
        return problems


def _length(problem: Problem) -> int:
    return len(problem.path) + len(problem.message) + len(problem.schema_path)


def _unexplained(plan: Plan, place: ValuePlace) -> Problem:
    what = plan.reference if plan.where else "the schema"
    return Problem("", place.path, f"does not satisfy {what}", plan.where)


def _cut(problems: list[Problem], limit: int, spent: bool) -> list[Problem]:
    shown = problems[:limit]
    more = len(problems) - len(shown)
    note = f" (and at least {count(more, 'more problem')})" if more else ""
    if spent:
        note += " (looking further would take more work than the limit allows)"
    if note:
        shown[-1] = replace(shown[-1], message=shown[-1].message + note)
    return shown
