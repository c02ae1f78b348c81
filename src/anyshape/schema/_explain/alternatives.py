"""Why a value satisfies none of the alternatives of an `anyOf` or `oneOf`: which came closest.

Three things decide, the surest first: the type of the value, a property that says which alternative
is meant (a *tag*, such as `"kind": {"const": "circle"}`), and how little is wrong otherwise. Where
type or tag leave one alternative, its problems are the problems; otherwise the closest is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from anyshape.documents.json import is_array, is_object
from anyshape.errors import Problem
from anyshape.schema import _wording as wording
from anyshape.schema._explain.knowledge import Knowledge, Steps
from anyshape.schema._explain.leaves import encode
from anyshape.schema._explain.places import Findings, ValuePlace
from anyshape.schema._explain.plans import Face, Plan

_MOST_CAUSES = 40
"""How many problems may stand beneath one, at all depths together."""
_MOST_CAUSES_TOLD = 3
_LOOKS = 4
"""How many times what an alternative shows is looked at."""
_MOST_COMPARED = 12
"""How many alternatives are compared by what is wrong with them."""


def explain_none(
    plan: Plan, keyword: str, place: ValuePlace, found: Findings, knowledge: Knowledge
) -> Steps:
    """Explain why no alternative of `keyword` holds."""
    branches = plan.targets(keyword)
    value = place.value
    for branch in branches:
        knowledge.look(_LOOKS * branch.face().size)
    fitting = [branch for branch in branches if _fits(branch, value)]
    if not fitting:
        line = _expected_line(branches, value)
        if line is not None:
            found.report(plan, keyword, place, line)
            return
        fitting = branches
    tag = _find_tag(fitting) if len(fitting) > 1 and is_object(value) else None
    after = ""
    if tag is not None and is_object(value):
        choices = wording.options(_tags(fitting, tag))
        if tag in value:
            fitting = [branch for branch in fitting if _is_tagged(branch, tag, value[tag])]
            if not fitting:
                line = f"expected {choices}, got {wording.show(value[tag])}"
                found.report(plan, keyword, place.child(tag, value[tag]), line)
                return
            after = f" (because {wording.quote(tag)} is {wording.show(value[tag])})"
        elif _all_require(tag, [branch.face() for branch in fitting]):
            line = wording.missing(wording.quote(tag), choices)
            found.report(plan, keyword, place, line)
            return
    if len(fitting) > 1:
        yield from _explain_closest(plan, keyword, place, fitting, found)
        return
    for problem in (yield fitting[0], place, True):
        found.extend((problem,), after=after if problem.path == place.path else "")


def _explain_closest(
    plan: Plan, keyword: str, place: ValuePlace, fitting: list[Plan], found: Findings
) -> Steps:
    explained: list[tuple[Plan, tuple[Problem, ...]]] = []
    likely = sorted(fitting, key=lambda branch: _likeness(branch, place.value))
    for branch in likely[:_MOST_COMPARED]:
        problems = yield branch, place, False
        explained.append((branch, problems))
    path = place.path
    if len(explained) == len(fitting):
        if len({tuple(map(str, problems)) for _, problems in explained}) == 1:
            found.extend(explained[0][1])
            return
        explained.sort(key=lambda pair: fitting.index(pair[0]))
        line = _needs_line(place.value, path, explained)
        if line is not None:
            found.report(plan, keyword, place, line)
            return
    closest, problems = min(explained, key=lambda pair: _distance(*pair, place.value, path))
    branches = plan.targets(keyword)
    line = _none_line(len(branches), _label(closest, branches.index(closest)), path, problems)
    found.report(plan, keyword, place, line, causes=tuple(_some(problems)))


def _fits(plan: Plan, value: object) -> bool:
    """Tell whether the type of `value`, and its value where they are listed, are admitted."""
    face = plan.face()
    if face.types is not None and not _is_of(face.types, value):
        return False
    return face.choices is None or any(_same(choice, value) for choice in face.choices)


def _is_of(types: frozenset[str], value: object) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if value is None:
        return "null" in types
    if isinstance(value, str):
        return "string" in types
    if is_object(value):
        return "object" in types
    if is_array(value):
        return "array" in types
    if "number" in types:
        return True
    if isinstance(value, Decimal):  # Its remainders are limited by the digits of the context.
        return "integer" in types and value == value.to_integral_value()
    return "integer" in types and isinstance(value, (int, float)) and value % 1 == 0


def _same(one: object, other: object) -> bool:
    """Tell whether two JSON values are equal; of arrays and objects only that they might be."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_object(one) or is_array(one):
        return type(one) is type(other)
    return one == other


def _find_tag(plans: Sequence[Plan]) -> str | None:
    """Return the name of the property that tells these alternatives apart, if there is one."""
    faces = [plan.face() for plan in plans]
    shared = [name for name in faces[0].tags if all(name in face.tags for face in faces)]
    telling = [name for name in shared if _tells_apart(name, faces)]
    return min(telling, key=lambda name: not _all_require(name, faces), default=None)


def _tells_apart(name: str, faces: list[Face]) -> bool:
    first = faces[0].tags[name]
    return any(
        not any(_same(value, choice) for choice in first)
        for face in faces[1:]
        for value in face.tags[name][:1]
    )


def _all_require(name: str, faces: list[Face]) -> bool:
    return all(name in face.required for face in faces)


def _is_tagged(plan: Plan, name: str, value: object) -> bool:
    return any(_same(choice, value) for choice in plan.face().tags[name])


def _tags(plans: Sequence[Plan], name: str) -> list[object]:
    """Return the values of the property `name` that mean one of these alternatives."""
    values: list[object] = []
    for plan in plans:
        for choice in plan.face().tags[name]:
            if len(values) < 10 * wording.MOST_LISTED and choice not in values:
                values.append(choice)
    return values


def explain_several(
    plans: Sequence[Plan], holding: Sequence[int], value: object, knowledge: Knowledge
) -> str:
    """Return what to say when several alternatives hold and only one may."""
    matching = [plans[index] for index in holding]
    for plan in matching:
        knowledge.look(_LOOKS * plan.face().size)
    tag = _find_tag(matching) if is_object(value) else None
    if tag is not None and is_object(value) and tag not in value:
        # A tag that need not be there: pydantic lists those of its unions so.
        choices = wording.options(_tags(matching, tag))
        return f"missing property {wording.quote(tag)} ({choices}), which tells alternatives apart"
    rivals = _rivals(matching)
    if rivals:
        return f"expected only one of: {'; '.join(wording.names(names) for names in rivals)}"
    which = wording.listed([_label(plans[index], index) for index in holding], "and", 4)
    return f"matches {which} of the {len(plans)} alternatives, expected exactly one"


def _rivals(plans: Sequence[Plan]) -> list[list[str]]:
    """Return the properties that each of some alternatives asks for and no other does.

    Nothing if one of them asks for none of its own: then leaving out a property may not help.
    """
    if len(plans) > wording.MOST_LISTED:
        return []
    asked = [plan.face().required for plan in plans]
    own = [
        sorted(names.difference(*asked[:index], *asked[index + 1 :]))
        for index, names in enumerate(asked)
    ]
    return own if all(own) else []


def _likeness(plan: Plan, value: object) -> int:
    """Return how unlike `value` an alternative looks at first sight; less is more like it."""
    if not is_object(value):
        return 0
    face = plan.face()
    return len(face.required - value.keys()) - len(face.declared & value.keys())


def _distance(
    plan: Plan, problems: Sequence[Problem], value: object, path: str
) -> tuple[float, int]:
    """Return how far `value`, found at `path`, is from satisfying `plan`."""
    level = path.count("/")
    total = sum(_weight(problem, problem.path.count("/") - level) for problem in problems)
    known = len(plan.face().declared & value.keys()) if is_object(value) else 0
    return total, -known


def _weight(problem: Problem, depth: int) -> float:
    if depth > 1:
        return 0.7
    if problem.keyword in ("const", "enum"):
        return 3.0
    return 1.0 if depth else 1.5


def _label(plan: Plan, index: int) -> str:
    """Return what to call an alternative: its name, or its number in the list."""
    name = plan.name()
    return f'"{name}"' if name is not None else f"number {index + 1}"


def _expected_line(plans: Sequence[Plan], value: object) -> str | None:
    """Return the line for a value whose type alone rules out every alternative, if it is short."""
    listed: dict[bytes, object] = {}
    phrases: list[str] = []
    for plan in plans:
        choices = plan.face().choices
        if choices is not None:
            listed.update((encode(choice), choice) for choice in choices)
            continue
        phrase = plan.expectation()
        if not phrase:
            return None
        phrases.append(phrase)
    if listed:
        phrases.append(wording.options(list(listed.values())))
    expected = wording.listed(list(dict.fromkeys(phrases)), "or")
    return f"expected {expected}, got {wording.show(value)}"


def _needs_line(
    value: object, path: str, explained: Sequence[tuple[Plan, Sequence[Problem]]]
) -> str | None:
    """Return the line for alternatives that all lack nothing but properties."""
    if not is_object(value):
        return None
    needs: dict[str, None] = {}
    for plan, problems in explained:
        missing = sorted(plan.face().required - value.keys())
        if len(missing) != len(problems):
            return None
        if not all(found.keyword == "required" and found.path == path for found in problems):
            return None
        needs[wording.listed([wording.quote(name) for name in missing], "and", 4)] = None
    if len(needs) == 1:
        return wording.missing(next(iter(needs)))
    shown = list(needs)[: wording.MOST_LISTED]
    more = f"; … ({len(needs) - len(shown)} more)" if len(needs) > len(shown) else ""
    return f"needs one of: {'; '.join(shown)}{more}"


def _none_line(number: int, closest: str, path: str, problems: Sequence[Problem]) -> str:
    """Return the line that says what the closest of `number` alternatives lacks."""
    told = [
        found.message if found.path == path else str(found)
        for found in map(_innermost, problems[:_MOST_CAUSES_TOLD])
    ]
    more = len(problems) - len(told)
    rest = f"; and {more} more" if more > 0 else ""
    return (
        f"matches none of the {number} alternatives; closest is {closest}: {'; '.join(told)}{rest}"
    )


def _innermost(problem: Problem) -> Problem:
    """Return what is wrong in the end, where the closest of alternatives has alternatives again."""
    while problem.causes:
        problem = problem.causes[0]
    return problem


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
