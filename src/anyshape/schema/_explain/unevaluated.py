"""Which properties or items the subschemas applied at a place have evaluated.

JSON Schema 2020-12 Core, sections 11.2 and 11.3: `unevaluatedProperties` and `unevaluatedItems`
apply to what no keyword beside them, nor any subschema that is applied in place and holds, applies
to.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from anyshape.documents.dialects import Step
from anyshape.documents.json import is_array, is_object
from anyshape.errors import Problem
from anyshape.schema._explain.knowledge import Inquiry, Knowledge
from anyshape.schema._explain.places import ValuePlace
from anyshape.schema._explain.plans import REFERENCES, Plan

Tokens: TypeAlias = Generator[Inquiry, tuple[Problem, ...], set[str | int]]
Applied: TypeAlias = Generator[Inquiry, tuple[Problem, ...], list[tuple[Plan, bool]]]

_MOST_DECLARING = 200
"""How many subschemas are searched for the names of properties."""


def evaluated(plan: Plan, place: ValuePlace, knowledge: Knowledge, *, strict: bool) -> Tokens:
    """Return the names or indices that `plan` evaluates at `place`, `unevaluated*` left out.

    What a subschema that fails has evaluated does not count. But when something else is wrong
    already it does, or every such failure would be told twice: only then `strict` is false.
    """
    done: set[str | int] = set()
    waiting = [plan]
    seen: set[int] = set()
    while waiting:
        at = waiting.pop()
        if at.index in seen:
            continue
        seen.add(at.index)
        done |= yield from _evaluated_here(at, place, knowledge, whole=at is not plan)
        for target, needed in (yield from _applied(at, place, knowledge)):
            holds = yield from knowledge.holds(target, place)
            if holds or (needed and not strict):
                waiting.append(target)
    return done


def _applied(plan: Plan, place: ValuePlace, knowledge: Knowledge) -> Applied:
    """Return what `plan` applies in place, and whether it must hold for `plan` to hold."""
    applied = [(target, True) for name in (*REFERENCES, "allOf") for target in plan.targets(name)]
    for keyword in ("anyOf", "oneOf"):
        branches = plan.targets(keyword)
        holding = 0
        for branch in branches:
            holding += yield from knowledge.holds(branch, place)
        applied += [(branch, not holding) for branch in branches]
    condition = plan.target("if")
    if condition is not None:
        holds = yield from knowledge.holds(condition, place)
        applied.append((condition, False))
        applied += [(target, True) for target in plan.targets("then" if holds else "else")]
    for keyword in ("dependentSchemas", "dependencies"):
        applied += [(target, True) for _, target in plan.dependents(keyword, place.value)]
    return applied


def _evaluated_here(plan: Plan, place: ValuePlace, knowledge: Knowledge, *, whole: bool) -> Tokens:
    """Return what the keywords of `plan` that lead to children evaluate.

    `whole` says to count its `unevaluated*`, which evaluate whatever is left.
    """
    value = place.value
    if is_object(value):
        knowledge.look(1 + len(value))
        return _names(plan, value, knowledge, whole=whole)
    if not is_array(value):
        return set()
    knowledge.look(1 + len(value))
    if whole and "unevaluatedItems" in plan.groups:
        return set(range(len(value)))
    indices: set[str | int] = set()
    for keyword in ("prefixItems", "items", "additionalItems"):
        for edge in plan.groups.get(keyword, ()):
            start = edge.label if isinstance(edge.label, int) else 0
            stop = start + 1 if edge.step is Step.ITEM else len(value)
            indices.update(range(start, min(stop, len(value))))
    target = plan.target("contains")
    if target is not None:  # in 2019-09 too: see docs/concepts/divergences.md
        for index, inner in enumerate(value):
            if (yield from knowledge.holds(target, place.child(index, inner))):
                indices.add(index)
    return indices


def _names(
    plan: Plan, value: dict[str, object], knowledge: Knowledge, *, whole: bool
) -> set[str | int]:
    groups = plan.groups
    if "additionalProperties" in groups or (whole and "unevaluatedProperties" in groups):
        return set(value)
    names: set[str | int] = set()
    names.update(
        edge.label
        for edge in groups.get("properties", ())
        if isinstance(edge.label, str) and edge.label in value
    )
    for edge in groups.get("patternProperties", ()):
        names.update(name for name in value if knowledge.matches(str(edge.label), name))
    return names


def declared_in_place(plan: Plan) -> list[str]:
    """Return the property names that some subschema applied in place declares."""
    names: set[str] = set()
    waiting = [plan.node]
    seen = {plan.index}
    for node in waiting:  # grows while it is walked
        for edge in node.edges:
            if edge.step is Step.PROPERTY:
                names.add(str(edge.label))
            if edge.step is not Step.IN_PLACE or edge.keyword == "not":
                continue
            if edge.target.index not in seen and len(seen) < _MOST_DECLARING:
                seen.add(edge.target.index)
                waiting.append(edge.target)
    return sorted(names)
