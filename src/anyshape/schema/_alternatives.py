"""Which alternative of an `anyOf` or `oneOf` a value came closest to, when it satisfies none.

Three things decide, the surest first: the type of the value, a property that says which alternative
is meant (a *tag*, such as `"kind": {"const": "circle"}`), and how little is wrong otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from anyshape.errors import Problem
from anyshape.schema import _wording as wording
from anyshape.schema._json import is_array, is_object
from anyshape.schema._plans import Face, Plan

__all__ = [
    "badness",
    "expected_line",
    "find_tag",
    "fits",
    "label",
    "needs_line",
    "none_line",
    "tagged",
    "tags_of",
]

_MOST_CAUSES_TOLD = 3


def fits(plan: Plan, value: object) -> bool:
    """Tell whether the type of `value`, and its value where they are listed, are admitted."""
    face = plan.face()
    if face.types is not None and not _is_of(face.types, value):
        return False
    return face.choices is None or any(same(choice, value) for choice in face.choices)


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
    return "integer" in types and isinstance(value, (int, float, Decimal)) and value % 1 == 0


def same(one: object, other: object) -> bool:
    """Tell whether two JSON values are equal; of arrays and objects only that they might be."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_object(one) or is_array(one):
        return type(one) is type(other)
    return one == other


def find_tag(plans: Sequence[Plan]) -> str | None:
    """Return the name of the property that tells these alternatives apart, if there is one."""
    faces = [plan.face() for plan in plans]
    shared = [name for name in faces[0].tags if all(name in face.tags for face in faces)]
    telling = [name for name in shared if _tells_apart(name, faces)]
    return min(telling, key=lambda name: not _all_require(name, faces), default=None)


def _tells_apart(name: str, faces: list[Face]) -> bool:
    first = faces[0].tags[name]
    return any(
        not any(same(value, choice) for choice in first)
        for face in faces[1:]
        for value in face.tags[name][:1]
    )


def _all_require(name: str, faces: list[Face]) -> bool:
    return all(name in face.required for face in faces)


def tagged(plans: Sequence[Plan], name: str, value: object) -> list[Plan]:
    """Return the alternatives that a property `name` with this value may mean."""
    return [plan for plan in plans if any(same(choice, value) for choice in plan.face().tags[name])]


def tags_of(plans: Sequence[Plan], name: str) -> list[object]:
    """Return every value of the property `name` that means one of these alternatives."""
    values: list[object] = []
    for plan in plans:
        for choice in plan.face().tags[name]:
            if not any(same(choice, value) for value in values):
                values.append(choice)
            if len(values) > 10 * wording.MOST_LISTED:
                return values
    return values


def badness(plan: Plan, value: object, path: str, problems: Sequence[Problem]) -> tuple[float, int]:
    """Return how far `value`, found at `path`, is from satisfying `plan`: less is closer."""
    level = path.count("/")
    total = sum(_weight(problem, problem.path.count("/") - level) for problem in problems)
    known = len(plan.face().declared & value.keys()) if is_object(value) else 0
    return total, -known


def _weight(problem: Problem, depth: int) -> float:
    if depth > 1:
        return 0.7
    if problem.keyword in ("const", "enum"):
        return 3.0
    return 2.0 if problem.keyword == "type" else 1.0


def label(plan: Plan, index: int) -> str:
    """Return what to call an alternative: its name, or its number in the list."""
    name = plan.name()
    return f'"{name}"' if name is not None else f"number {index + 1}"


def expected_line(plans: Sequence[Plan], value: object) -> str | None:
    """Return the line for a value whose type alone rules out every alternative, if it is short."""
    listed: list[object] = []
    phrases: list[str] = []
    for plan in plans:
        choices = plan.face().choices
        if choices is not None:
            listed.extend(choices)
            continue
        phrase = plan.expectation()
        if not phrase:
            return None
        phrases.append(phrase)
    if listed:
        phrases.insert(0, wording.options(listed))
    expected = wording.listed(list(dict.fromkeys(phrases)), "or")
    return f"expected {expected}, got {wording.show(value)}"


def needs_line(
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
        return f"missing required property {next(iter(needs))}"
    shown = list(needs)[: wording.MOST_LISTED]
    more = f"; … ({len(needs) - len(shown)} more)" if len(needs) > len(shown) else ""
    return f"needs one of: {'; '.join(shown)}{more}"


def none_line(number: int, closest: str, path: str, problems: Sequence[Problem]) -> str:
    """Return the line that says what the closest of `number` alternatives lacks."""
    told = [
        found.message if found.path == path else str(found)
        for found in problems[:_MOST_CAUSES_TOLD]
    ]
    more = len(problems) - len(told)
    rest = f"; and {more} more" if more > 0 else ""
    return (
        f"matches none of the {number} alternatives; closest is {closest}: {'; '.join(told)}{rest}"
    )
