"""Schema and value walked together, keyword by keyword, to where something fails.

The methods are generators: they yield a (subschema, place) to have it explained, and are sent the
problems found there (see `explainer`). Keywords are those of JSON Schema 2020-12 Core, sections 8,
10 and 11, and what the older dialects have in their place.
"""

from __future__ import annotations

from anyshape.documents.dialects import Step
from anyshape.documents.json import is_array, is_object
from anyshape.schema import _wording as wording
from anyshape.schema._explain.alternatives import explain_none, explain_several
from anyshape.schema._explain.knowledge import Knowledge, Steps
from anyshape.schema._explain.leaves import DECISIVE
from anyshape.schema._explain.places import Findings, ValuePlace
from anyshape.schema._explain.plans import REFERENCES, Plan
from anyshape.schema._explain.unevaluated import declared_in_place, evaluated


class Walk:
    """One value on its way through one schema."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def explain(self, plan: Plan, place: ValuePlace, found: Findings) -> Steps:
        """Find what is wrong with the value at `place`."""
        if isinstance(plan.schema, bool):
            if not plan.schema:
                found.report(plan, "", place, "no value is allowed here")
            return
        if plan.leaves and not self._knowledge.leaves_hold(plan, place.value):
            self._explain_leaves(plan, place, found)
            if found.problems and found.problems[0].keyword in DECISIVE:
                return
        value = place.value
        if plan.for_objects and is_object(value):
            yield from self._explain_names(plan, place, value, found)
            yield from self._explain_properties(plan, place, value, found)
        elif plan.for_arrays and is_array(value):
            yield from self._explain_items(plan, place, value, found)
            yield from self._explain_contains(plan, place, value, found)
        if plan.in_place:
            yield from self._explain_in_place(plan, place, found)
        if plan.for_objects and is_object(value):
            yield from self._explain_unevaluated_properties(plan, place, value, found)
        elif plan.for_arrays and is_array(value):
            yield from self._explain_unevaluated_items(plan, place, value, found)

    def _explain_leaves(self, plan: Plan, place: ValuePlace, found: Findings) -> None:
        for keyword in plan.leaves.failing(place.value):
            if keyword == "required":
                for name in plan.leaves.missing(place.value):
                    if found.full:
                        break
                    found.report(plan, keyword, place, _missing_line(plan, name))
            choices = plan.leaves.schema[keyword]
            if keyword == "enum" and is_array(choices):
                self._knowledge.guess(len(choices))
            for line in plan.leaves.lines(keyword, place.value):
                if found.full:
                    break
                found.report(plan, keyword, place, line)

    def _explain_here(
        self, plan: Plan, place: ValuePlace, found: Findings, before: str = "", after: str = ""
    ) -> Steps:
        """Add what is wrong with `plan` at `place`, where it must hold."""
        if self._knowledge.verdict(plan, place) is not True:
            found.extend((yield plan, place, True), before, after)

    def _explain_child(
        self, plan: Plan, place: ValuePlace, token: str | int, value: object, found: Findings
    ) -> Steps:
        holds = self._knowledge.test(plan, value)
        if holds:
            return  # Of a large array most items hold: they are not worth a place.
        child = place.child(token, value)
        if holds is False:
            child.failing.add(plan.index)
        found.extend((yield plan, child, True))

    # Objects

    def _explain_names(
        self, plan: Plan, place: ValuePlace, value: dict[str, object], found: Findings
    ) -> Steps:
        target = plan.target("propertyNames")
        if target is None:
            return
        for name in value:
            if found.full:
                return
            self._knowledge.look(1)
            shown = wording.quote(name)
            if target.is_false:
                line = f"unexpected property {shown}: none are allowed"
                found.report(plan, "propertyNames", place, line)
            else:
                before = f"property name {shown}: "
                yield from self._explain_here(target, place.name(name), found, before)

    def _explain_properties(
        self, plan: Plan, place: ValuePlace, value: dict[str, object], found: Findings
    ) -> Steps:
        properties = plan.properties()
        patterns = [(str(edge.label), below) for edge, below in plan.steps("patternProperties")]
        additional = plan.target("additionalProperties")
        if not (properties or patterns or additional):
            return
        for name, inner in value.items():
            if found.full:
                return
            self._knowledge.look(1)
            target = properties.get(name)
            matched = [
                (pattern, below)
                for pattern, below in patterns
                if self._knowledge.matches(pattern, name)
            ]
            if target is not None and target.is_false:
                line = f"property {wording.quote(name)} is not allowed"
                found.report(plan, "properties", place, line, target.where)
            elif target is not None:
                yield from self._explain_child(target, place, name, inner, found)
            for pattern, below in matched:
                if below.is_false:
                    which = f"its name matches `{wording.clean(pattern, 80)}`"
                    line = f"property {wording.quote(name)} is not allowed: {which}"
                    found.report(plan, "patternProperties", place, line, below.where)
                else:
                    yield from self._explain_child(below, place, name, inner, found)
            if additional is None or target is not None or matched:
                continue
            if additional.is_false:
                self._knowledge.guess(len(properties))
                line = wording.unexpected(name, list(properties), value)
                found.report(plan, "additionalProperties", place, line)
            else:
                yield from self._explain_child(additional, place, name, inner, found)

    # Arrays

    def _explain_items(
        self, plan: Plan, place: ValuePlace, value: list[object], found: Findings
    ) -> Steps:
        for keyword in ("prefixItems", "items", "additionalItems"):
            for edge, target in plan.steps(keyword):
                start = edge.label if isinstance(edge.label, int) else 0
                stop = min(start + 1, len(value)) if edge.step is Step.ITEM else len(value)
                if start >= stop:
                    continue
                if target.is_false:
                    line = f"expected at most {wording.count(start, 'item')}, got {len(value)}"
                    found.report(plan, keyword, place, line, target.where)
                    continue
                for index in range(start, stop):
                    if found.full:
                        return
                    self._knowledge.look(1)
                    yield from self._explain_child(target, place, index, value[index], found)

    def _explain_contains(
        self, plan: Plan, place: ValuePlace, value: list[object], found: Findings
    ) -> Steps:
        target = plan.target("contains")
        if target is None:
            return
        self._knowledge.look(len(value))
        number = 0
        for index, inner in enumerate(value):
            number += yield from self._knowledge.holds(target, place.child(index, inner))
        least, most = _contains_bounds(plan)
        expected = target.expectation()
        what = f"to be {expected}" if expected else f"to match {target.reference}"
        if number < least:
            keyword = "contains" if least == 1 else "minContains"
            line = f"expected at least {wording.count(least, 'item')} {what}, got {number}"
            found.report(plan, keyword, place, line)
        elif most is not None and number > most:
            line = f"expected at most {wording.count(most, 'item')} {what}, got {number}"
            found.report(plan, "maxContains", place, line)

    # In place

    def _explain_in_place(self, plan: Plan, place: ValuePlace, found: Findings) -> Steps:
        for keyword in (*REFERENCES, "allOf"):
            for target in plan.targets(keyword):
                if not found.full:
                    yield from self._explain_here(target, place, found)
        for keyword in ("anyOf", "oneOf"):
            if keyword in plan.groups:
                yield from self._explain_choice(plan, keyword, place, found)
        yield from self._explain_negation(plan, place, found)
        yield from self._explain_condition(plan, place, found)
        yield from self._explain_dependents(plan, place, found)

    def _explain_choice(
        self, plan: Plan, keyword: str, place: ValuePlace, found: Findings
    ) -> Steps:
        branches = plan.targets(keyword)
        holding: list[int] = []
        for index, branch in enumerate(branches):
            if (yield from self._knowledge.holds(branch, place)):
                holding.append(index)
                if keyword == "anyOf":
                    return
        if not holding:
            yield from explain_none(plan, keyword, place, found, self._knowledge)
        elif len(holding) > 1:
            line = explain_several(branches, holding, place.value, self._knowledge)
            found.report(plan, keyword, place, line)

    def _explain_negation(self, plan: Plan, place: ValuePlace, found: Findings) -> Steps:
        target = plan.target("not")
        if target is not None and (yield from self._knowledge.holds(target, place)):
            found.report(plan, "not", place, _not_line(target, place.value))

    def _explain_condition(self, plan: Plan, place: ValuePlace, found: Findings) -> Steps:
        condition = plan.target("if")
        if condition is None:
            return
        holds = yield from self._knowledge.holds(condition, place)
        target = plan.target("then" if holds else "else")
        if target is None:
            return
        reason = wording.condition(condition.schema, holds=holds)
        if reason is None:
            verb = "matches" if holds else "does not match"
            reason = f"the value {verb} {condition.reference}"
        yield from self._explain_here(target, place, found, after=f" (because {reason})")

    def _explain_dependents(self, plan: Plan, place: ValuePlace, found: Findings) -> Steps:
        for keyword in ("dependentSchemas", "dependencies"):
            for name, target in plan.dependents(keyword, place.value):
                if target.is_false:
                    line = f"property {wording.quote(name)} is not allowed"
                    found.report(plan, keyword, place, line, target.where)
                else:
                    after = f" (because {wording.quote(name)} is present)"
                    yield from self._explain_here(target, place, found, after=after)

    # What nothing else evaluates

    def _explain_unevaluated_properties(
        self, plan: Plan, place: ValuePlace, value: dict[str, object], found: Findings
    ) -> Steps:
        target = plan.target("unevaluatedProperties")
        if target is None:
            return
        strict = not found.problems
        done = yield from evaluated(plan, place, self._knowledge, strict=strict)
        declared = declared_in_place(plan)
        for name, inner in value.items():
            if found.full or name in done:
                continue
            if target.is_false:
                self._knowledge.guess(len(declared))
                line = wording.unexpected(name, declared, value)
                found.report(plan, "unevaluatedProperties", place, line)
            else:
                yield from self._explain_child(target, place, name, inner, found)

    def _explain_unevaluated_items(
        self, plan: Plan, place: ValuePlace, value: list[object], found: Findings
    ) -> Steps:
        target = plan.target("unevaluatedItems")
        if target is None:
            return
        strict = not found.problems
        done = yield from evaluated(plan, place, self._knowledge, strict=strict)
        left = [index for index in range(len(value)) if index not in done]
        if left and target.is_false:
            which = wording.listed([str(index) for index in left], "and")
            line = f"unexpected {'item' if len(left) == 1 else 'items'} at index {which}"
            found.report(plan, "unevaluatedItems", place, line)
            return
        for index in left:
            if not found.full:
                yield from self._explain_child(target, place, index, value[index], found)


def _missing_line(plan: Plan, name: str) -> str:
    """Return the line for a property that is not there, with what it should be if that is known."""
    for facet in plan.facets():
        target = facet.properties().get(name)
        expected = "" if target is None else target.expectation()
        if expected:
            return wording.missing(wording.quote(name), expected)
    return wording.missing(wording.quote(name))


def _contains_bounds(plan: Plan) -> tuple[int, int | None]:
    """Return how many items have to match, and how many may."""
    if "minContains" in plan.node.spot.dialect.lacks:
        return 1, None
    least = wording.whole(plan.keywords.get("minContains"))
    return 1 if least is None else least, wording.whole(plan.keywords.get("maxContains"))


def _not_line(plan: Plan, value: object) -> str:
    """Return the line for a value that satisfies what it must not."""
    schema = plan.keywords
    if not schema:
        return "no value is allowed here"
    required = schema.get("required")
    if schema.keys() == {"required"} and is_array(required):
        names = wording.names([str(name) for name in required])
        if len(required) == 1:
            return f"property {names} is not allowed"
        return f"properties {names} are not allowed together"
    expected = ""
    if schema.keys() <= {"type", "enum", "const", "title", "description"}:
        expected = wording.expectation(schema)
    if expected:
        return f"expected anything but {expected}, got {wording.show(value)}"
    return f"expected a value that does not match {plan.reference}, got {wording.show(value)}"
