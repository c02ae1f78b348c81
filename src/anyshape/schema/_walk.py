"""Schema and value walked together, keyword by keyword, to where something fails.

Every method here is a generator. It asks for the explanation of another (subschema, place) by
yielding it, and is sent the problems found there; `_explain` runs them all. Keywords are those of
JSON Schema 2020-12 Core, section 10 and 11, and of the older dialects.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TypeAlias

from anyshape.errors import Problem
from anyshape.schema import _alternatives as alternatives
from anyshape.schema import _wording as wording
from anyshape.schema._dialects import DEFAULT_DIALECT, Step
from anyshape.schema._json import is_array, is_object
from anyshape.schema._places import Findings, Place, Work
from anyshape.schema._plans import REFERENCES, Plan, Plans

__all__ = ["Request", "Steps", "Walk"]

LOOKING = 10
"""What looking at one property or item costs, in steps of the engine."""
_MOST_CAUSES = 40
"""How many problems may stand beneath one, at all depths together."""
_MOST_COMPARED = 12
"""How many alternatives are compared by what is wrong with them."""
_MOST_DECLARING = 200
"""How many subschemas are searched for the names of properties."""

Request: TypeAlias = tuple[Plan, Place, bool]
"""Explain this subschema at this place; and whether what is wrong there is wrong for certain."""
Steps: TypeAlias = Generator[Request, tuple[Problem, ...], None]
Verdict: TypeAlias = Generator[Request, tuple[Problem, ...], bool]
Names: TypeAlias = Generator[Request, tuple[Problem, ...], set[str | int]]


class Walk:
    """One value on its way through one schema."""

    def __init__(self, plans: Plans, work: Work) -> None:
        self._plans = plans
        self._work = work

    def verdict(self, plan: Plan, place: Place) -> bool | None:
        """Tell whether `plan` holds at `place` as far as that is known without explaining it."""
        if isinstance(plan.schema, bool):
            return plan.schema
        known = place.explained.get(plan.index)
        if known is not None:
            return not known
        if plan.index in place.failing:
            return False
        if not plan.groups:
            self._charge_matching(plan, place.value)
            holds = plan.leaves.hold(place.value)
        elif plan.route is not None:
            verdicts = self._plans.verdicts
            self._work.charge(verdicts.factor * self._work.size(place.value))
            holds = verdicts.holds(plan.route, place.value)
        else:
            return None
        if holds:
            place.explained[plan.index] = ()
        else:
            place.failing.add(plan.index)
        return holds

    def _charge_matching(self, plan: Plan, value: object) -> None:
        if plan.leaves.weight and isinstance(value, str):
            self._work.charge(plan.leaves.weight * len(value))

    def _holds(self, plan: Plan, place: Place) -> Verdict:
        verdict = self.verdict(plan, place)
        if verdict is None:
            verdict = not (yield plan, place, False)
        return verdict

    def explain(self, plan: Plan, place: Place, found: Findings) -> Steps:
        """Find what is wrong with the value at `place`."""
        if isinstance(plan.schema, bool):
            if not plan.schema:
                found.add(_problem(plan, "false", place, "no value is allowed here"))
            return
        if plan.leaves:
            self._charge_matching(plan, place.value)
            if not plan.leaves.hold(place.value) and self._explain_leaves(plan, place, found):
                return
        if not plan.groups:
            return
        value = place.value
        if is_object(value):
            yield from self._explain_object(plan, place, value, found)
        elif is_array(value):
            yield from self._explain_array(plan, place, value, found)
        yield from self._explain_in_place(plan, place, found)
        if is_object(value) and "unevaluatedProperties" in plan.groups:
            yield from self._explain_unevaluated_properties(plan, place, value, found)
        elif is_array(value) and "unevaluatedItems" in plan.groups:
            yield from self._explain_unevaluated_items(plan, place, value, found)

    def _explain_leaves(self, plan: Plan, place: Place, found: Findings) -> bool:
        """Add what the keywords without subschemas say; tell whether that is all to be said."""
        for keyword in plan.leaves.failing(place.value):
            for name in plan.leaves.missing(place.value) if keyword == "required" else ():
                found.add(_problem(plan, keyword, place, _missing_line(plan, name)))
            for line in plan.leaves.lines(keyword, place.value):
                found.add(_problem(plan, keyword, place, line))
            if plan.leaves.is_decisive(keyword):
                return True
        return False

    # Objects

    def _explain_object(
        self, plan: Plan, place: Place, value: dict[str, object], found: Findings
    ) -> Steps:
        groups = plan.groups
        if "propertyNames" in groups:
            yield from self._explain_names(plan, place, value, found)
        if not (
            "properties" in groups
            or "patternProperties" in groups
            or "additionalProperties" in groups
        ):
            return
        self._work.charge(LOOKING * len(value))
        properties = plan.properties()
        patterns = [
            (str(edge.label), self._plans[edge.target])
            for edge in groups.get("patternProperties", ())
        ]
        additional = plan.target("additionalProperties")
        declared: Sequence[str] = list(properties)
        for name, inner in value.items():
            if found.full:
                return
            admitted = False
            target = properties.get(name)
            if target is not None:
                admitted = True
                if _is_false(target):
                    line = f"property {wording.quote(name)} is not allowed"
                    found.add(_problem(plan, "properties", place, line, target.where))
                else:
                    yield from self._explain_child(target, place, name, inner, found)
            for pattern, target in patterns:
                if self._matches(pattern, name):
                    admitted = True
                    if _is_false(target):
                        line = (
                            f"property {wording.quote(name)} is not allowed: "
                            f"its name matches `{wording.clean(pattern, 80)}`"
                        )
                        found.add(_problem(plan, "patternProperties", place, line, target.where))
                    else:
                        yield from self._explain_child(target, place, name, inner, found)
            if additional is not None and not admitted:
                if _is_false(additional):
                    line = wording.unexpected(name, declared, value)
                    found.add(_problem(plan, "additionalProperties", place, line))
                else:
                    yield from self._explain_child(additional, place, name, inner, found)

    def _explain_child(
        self, plan: Plan, place: Place, token: str | int, value: object, found: Findings
    ) -> Steps:
        child = place.child(token, value)
        if self.verdict(plan, child) is not True:
            found.extend((yield plan, child, True))

    def _matches(self, pattern: str, name: str) -> bool:
        heavy = self._plans.engine.patterns.heavy.get(pattern)
        if heavy is not None:
            self._work.charge(len(name) * self._plans.rate(heavy))
        return self._plans.matches(pattern, name)

    def _explain_names(
        self, plan: Plan, place: Place, value: dict[str, object], found: Findings
    ) -> Steps:
        (target,) = plan.targets("propertyNames")
        self._work.charge(LOOKING * len(value))
        for name in value:
            if found.full:
                return
            if _is_false(target):
                line = f"unexpected property {wording.quote(name)}: none are allowed"
                found.add(_problem(plan, "propertyNames", place, line))
                continue
            at = place.name(name)
            if self.verdict(target, at) is not True:
                problems = yield target, at, True
                found.extend(problems, before=f"property name {wording.quote(name)}: ")

    # Arrays

    def _explain_array(
        self, plan: Plan, place: Place, value: list[object], found: Findings
    ) -> Steps:
        groups = plan.groups
        for keyword in ("prefixItems", "items", "additionalItems"):
            for edge in groups.get(keyword, ()):
                target = self._plans[edge.target]
                start = edge.label if isinstance(edge.label, int) else 0
                one = edge.step is Step.ITEM
                stop = min(start + 1, len(value)) if one else len(value)
                if start < len(value) and _is_false(target):
                    line = f"expected at most {wording.count(start, 'item')}, got {len(value)}"
                    found.add(_problem(plan, keyword, place, line, target.where))
                    continue
                self._work.charge(LOOKING * max(0, stop - start))
                for index in range(start, stop):
                    if found.full:
                        return
                    yield from self._explain_child(target, place, index, value[index], found)
        if "contains" in groups:
            yield from self._explain_contains(plan, place, value, found)

    def _explain_contains(
        self, plan: Plan, place: Place, value: list[object], found: Findings
    ) -> Steps:
        (target,) = plan.targets("contains")
        least, most = _contains_bounds(plan)
        self._work.charge(LOOKING * len(value))
        number = 0
        for index, inner in enumerate(value):
            if (yield from self._holds(target, place.child(index, inner))):
                number += 1
        what = target.expectation()
        which = f"being {what}" if what else f"matching {target.where or '/'}"
        if number < least:
            keyword = "minContains" if "minContains" in plan.keywords and least != 1 else "contains"
            line = f"expected at least {wording.count(least, 'item')} {which}, got {number}"
            found.add(_problem(plan, keyword, place, line))
        elif most is not None and number > most:
            line = f"expected at most {wording.count(most, 'item')} {which}, got {number}"
            found.add(_problem(plan, "maxContains", place, line))

    # In place

    def _explain_in_place(self, plan: Plan, place: Place, found: Findings) -> Steps:
        groups = plan.groups
        for keyword in (*REFERENCES, "allOf"):
            for target in plan.targets(keyword):
                if found.full:
                    return
                if self.verdict(target, place) is not True:
                    found.extend((yield target, place, True))
        for keyword in ("anyOf", "oneOf"):
            if keyword in groups:
                yield from self._explain_choice(plan, keyword, place, found)
        if "not" in groups:
            (target,) = plan.targets("not")
            if (yield from self._holds(target, place)):
                found.add(_problem(plan, "not", place, _not_line(target, place.value)))
        if "if" in groups:
            yield from self._explain_condition(plan, place, found)
        for keyword in ("dependentSchemas", "dependencies"):
            for edge in groups.get(keyword, ()):
                name = str(edge.label)
                target = self._plans[edge.target]
                if not is_object(place.value) or name not in place.value:
                    continue
                if self.verdict(target, place) is not True:
                    problems = yield target, place, True
                    found.extend(problems, after=f" (because {wording.quote(name)} is present)")

    def _explain_condition(self, plan: Plan, place: Place, found: Findings) -> Steps:
        (condition,) = plan.targets("if")
        holds = yield from self._holds(condition, place)
        target = plan.target("then" if holds else "else")
        if target is not None and self.verdict(target, place) is not True:
            problems = yield target, place, True
            reason = wording.condition(condition.schema, holds=holds)
            if reason is None:
                verb = "matches" if holds else "does not match"
                reason = f"the value {verb} the condition at {condition.where}"
            found.extend(problems, after=f" (because {reason})")

    def _explain_choice(self, plan: Plan, keyword: str, place: Place, found: Findings) -> Steps:
        branches = plan.targets(keyword)
        holding: list[int] = []
        for index, branch in enumerate(branches):
            if (yield from self._holds(branch, place)):
                holding.append(index)
                if keyword == "anyOf":
                    return
        if not holding:
            yield from self._explain_none(plan, keyword, place, found)
        elif len(holding) > 1:
            which = [alternatives.label(branches[index], index) for index in holding]
            line = (
                f"matches {wording.listed(which, 'and', 4)} of the {len(branches)} alternatives, "
                "expected exactly one"
            )
            found.add(_problem(plan, keyword, place, line))

    def _explain_none(self, plan: Plan, keyword: str, place: Place, found: Findings) -> Steps:
        """Explain why none of the alternatives holds, by the one that comes closest."""
        branches = plan.targets(keyword)
        value = place.value
        fitting = [branch for branch in branches if alternatives.fits(branch, value)]
        if not fitting:
            line = alternatives.expected_line(branches, value)
            if line is not None:
                found.add(_problem(plan, keyword, place, line))
                return
            fitting = branches
        after = ""
        if len(fitting) > 1 and is_object(value):
            tag = alternatives.find_tag(fitting)
            if tag is not None and tag in value:
                meant = alternatives.tagged(fitting, tag, value[tag])
                choices = wording.options(alternatives.tags_of(fitting, tag))
                if not meant:
                    child = place.child(tag, value[tag])
                    line = f"expected {choices}, got {wording.show(value[tag])}"
                    found.add(_problem(plan, keyword, child, line))
                    return
                fitting = meant
                after = f" (because {wording.quote(tag)} is {wording.show(value[tag])})"
            elif tag is not None and all(tag in branch.face().required for branch in fitting):
                choices = wording.options(alternatives.tags_of(fitting, tag))
                line = f"missing required property {wording.quote(tag)} ({choices})"
                found.add(_problem(plan, keyword, place, line))
                return
        if len(fitting) == 1:
            problems = yield fitting[0], place, True
            found.extend(problems, after=after)
            return
        yield from self._explain_closest(plan, keyword, place, fitting, found)

    def _explain_closest(
        self, plan: Plan, keyword: str, place: Place, fitting: list[Plan], found: Findings
    ) -> Steps:
        explained: list[tuple[Plan, tuple[Problem, ...]]] = []
        for branch in fitting[:_MOST_COMPARED]:
            problems = yield branch, place, False
            explained.append((branch, problems))
        path = place.path
        line = alternatives.needs_line(place.value, path, explained)
        if line is not None and len(explained) == len(fitting):
            found.add(_problem(plan, keyword, place, line))
            return
        closest, problems = min(
            explained,
            key=lambda pair: alternatives.badness(pair[0], place.value, path, pair[1]),
        )
        branches = plan.targets(keyword)
        name = alternatives.label(closest, branches.index(closest))
        line = alternatives.none_line(len(branches), name, path, problems)
        found.add(
            Problem(
                keyword,
                path,
                wording.shorten(line),
                f"{plan.where}/{keyword}",
                tuple(_some(problems)),
            )
        )

    # What nothing else evaluates

    def _explain_unevaluated_properties(
        self, plan: Plan, place: Place, value: dict[str, object], found: Findings
    ) -> Steps:
        evaluated = yield from self._evaluated(plan, place, strict=not found.problems)
        (target,) = plan.targets("unevaluatedProperties")
        declared: list[str] | None = None
        for name, inner in value.items():
            if found.full or name in evaluated:
                continue
            if _is_false(target):
                if declared is None:
                    declared = sorted(_declared_in_place(plan))
                line = wording.unexpected(name, declared, value)
                found.add(_problem(plan, "unevaluatedProperties", place, line))
            else:
                yield from self._explain_child(target, place, name, inner, found)

    def _explain_unevaluated_items(
        self, plan: Plan, place: Place, value: list[object], found: Findings
    ) -> Steps:
        evaluated = yield from self._evaluated(plan, place, strict=not found.problems)
        (target,) = plan.targets("unevaluatedItems")
        left = [index for index in range(len(value)) if index not in evaluated]
        if not left:
            return
        if _is_false(target):
            which = wording.listed([str(index) for index in left], "and")
            line = f"unexpected {'item' if len(left) == 1 else 'items'} at index {which}"
            found.add(_problem(plan, "unevaluatedItems", place, line))
            return
        for index in left:
            if found.full:
                return
            yield from self._explain_child(target, place, index, value[index], found)

    def _evaluated(self, plan: Plan, place: Place, *, strict: bool) -> Names:
        """Return the names or indices that `plan` evaluates at `place`, `unevaluated*` left out.

        Core, section 7.7: what a subschema that fails has evaluated does not count. When something
        else is wrong already it does count, or every such failure would be told twice: only then
        `strict` is false.
        """
        done: set[str | int] = set()
        waiting = [plan]
        seen: set[int] = set()
        while waiting:
            at = waiting.pop()
            if at.index in seen:
                continue
            seen.add(at.index)
            done |= yield from self._evaluated_here(at, place, whole=at is not plan)
            self._work.charge(LOOKING * self._work.width(place.value))
            for target, needed in (yield from self._applied(at, place)):
                holds = yield from self._holds(target, place)
                if holds or (needed and not strict):
                    waiting.append(target)
        return done

    def _applied(
        self, plan: Plan, place: Place
    ) -> Generator[Request, tuple[Problem, ...], list[tuple[Plan, bool]]]:
        """Return what `plan` applies in place, and whether it must hold for `plan` to hold."""
        groups = plan.groups
        applied = [
            (target, True) for name in (*REFERENCES, "allOf") for target in plan.targets(name)
        ]
        for keyword in ("anyOf", "oneOf"):
            branches = plan.targets(keyword)
            holding = 0
            for branch in branches:
                holding += yield from self._holds(branch, place)
            applied += [(branch, not holding) for branch in branches]
        if "if" in groups:
            (condition,) = plan.targets("if")
            holds = yield from self._holds(condition, place)
            applied.append((condition, False))
            applied += [(target, True) for target in plan.targets("then" if holds else "else")]
        if is_object(place.value):
            for keyword in ("dependentSchemas", "dependencies"):
                applied += [
                    (self._plans[edge.target], True)
                    for edge in groups.get(keyword, ())
                    if edge.label in place.value
                ]
        return applied

    def _evaluated_here(self, plan: Plan, place: Place, *, whole: bool) -> Names:
        """Return what the keywords of `plan` that lead to children evaluate.

        `whole` says to count its `unevaluated*`, which evaluate whatever is left.
        """
        groups = plan.groups
        value = place.value
        if is_object(value):
            if "additionalProperties" in groups or (whole and "unevaluatedProperties" in groups):
                return set(value)
            names = {edge.label for edge in groups.get("properties", ())} & value.keys()
            for edge in groups.get("patternProperties", ()):
                names |= {name for name in value if self._matches(str(edge.label), name)}
            return {name for name in names if name is not None}
        if not is_array(value):
            return set()
        if whole and "unevaluatedItems" in groups:
            return set(range(len(value)))
        indices: set[str | int] = set()
        for keyword in ("prefixItems", "items", "additionalItems"):
            for edge in groups.get(keyword, ()):
                start = edge.label if isinstance(edge.label, int) else 0
                stop = start + 1 if edge.step is Step.ITEM else len(value)
                indices.update(range(start, min(stop, len(value))))
        if "contains" in groups and plan.node.spot.dialect is DEFAULT_DIALECT:
            (target,) = plan.targets("contains")
            for index, inner in enumerate(value):
                if index not in indices and (
                    yield from self._holds(target, place.child(index, inner))
                ):
                    indices.add(index)
        return indices


def _problem(
    plan: Plan, keyword: str, place: Place, message: str, where: str | None = None
) -> Problem:
    return Problem(
        keyword, place.path, wording.shorten(message), where or f"{plan.where}/{keyword}"
    )


def _missing_line(plan: Plan, name: str) -> str:
    """Return the line for a property that is not there, with what it should be if that is known."""
    for facet in plan.facets():
        target = facet.properties().get(name)
        expected = "" if target is None else target.expectation()
        if expected:
            return f"missing required property {wording.quote(name)} ({expected})"
    return f"missing required property {wording.quote(name)}"


def _is_false(plan: Plan) -> bool:
    """Tell whether nothing satisfies `plan`, written `false` or `{"not": {}}`."""
    schema = plan.schema
    if isinstance(schema, bool):
        return not schema
    return schema.keys() == {"not"} and schema["not"] in ({}, True)


def _contains_bounds(plan: Plan) -> tuple[int, int | None]:
    """Return how many items have to match, and how many may."""
    if "unevaluatedItems" not in plan.node.spot.dialect.applicators:
        return 1, None  # `minContains` and `maxContains` came with 2019-09.
    least = wording.whole(plan.keywords.get("minContains"))
    return 1 if least is None else least, wording.whole(plan.keywords.get("maxContains"))


def _not_line(plan: Plan, value: object) -> str:
    """Return the line for a value that satisfies what it must not."""
    got = wording.show(value)
    schema = plan.keywords
    if not plan.groups:
        if schema.keys() == {"required"} and is_array(schema["required"]):
            names = wording.names([str(name) for name in schema["required"]])
            several = len(schema["required"]) > 1
            return (
                f"properties {names} are not allowed together"
                if several
                else (f"property {names} is not allowed")
            )
        if schema.keys() <= {"type", "enum", "const", "title", "description"}:
            expected = wording.expectation(schema)
            if expected:
                return f"expected anything but {expected}, got {got}"
    if not schema:
        return "no value is allowed here"
    return f"expected a value that does not match {plan.where}, got {got}"


def _some(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield as many problems as may stand beneath one, what stands beneath them counted."""
    left = _MOST_CAUSES
    for found in problems:
        left -= _count(found)
        if left < 0:
            return
        yield found


def _count(problem: Problem) -> int:
    return 1 + sum(_count(cause) for cause in problem.causes)


def _declared_in_place(plan: Plan) -> set[str]:
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
    return names
