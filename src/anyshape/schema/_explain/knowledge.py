"""What is known, while one value is explained, about which subschema holds where."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias

from anyshape.documents.json import is_array, is_object
from anyshape.errors import Problem
from anyshape.schema._explain.places import ValuePlace, Work
from anyshape.schema._explain.plans import Plan, Plans
from anyshape.schema._instance import text_size

_LOOKING = 500
"""Nanoseconds that looking at one property or item takes."""
_GUESSING = 50_000
"""Nanoseconds that comparing with one of the words that may have been meant takes."""
_MOST_GUESSED = 50
"""After so many words the others are ruled out quickly, or not looked at."""
_MUCH = 100_000
_DEAR = 100_000
"""Nanoseconds beyond which looking closer, at parts of the value, is better than asking."""
_MEASURING = 200
"""Nanoseconds that finding out about one property or item whether it is short takes."""
_ASKING = 500
"""Nanoseconds that asking the engine takes beside its work."""

Inquiry: TypeAlias = tuple[Plan, ValuePlace, bool]
"""Explain this subschema at this place; and whether what is wrong there is wrong for certain."""
Steps: TypeAlias = Generator[Inquiry, tuple[Problem, ...], None]
"""A part of the walk: it yields requests and is sent the problems found (see `explainer`)."""
Verdict: TypeAlias = Generator[Inquiry, tuple[Problem, ...], bool]


class Knowledge:
    """Answers whether subschemas hold, from memory, from the engine, or by explaining them."""

    def __init__(self, plans: Plans, work: Work) -> None:
        self._plans = plans
        self._work = work
        self._dear: dict[int, bool] = {}

    def look(self, number: int) -> None:
        """Charge for looking at that many properties or items."""
        self._work.charge(_LOOKING * number)

    def guess(self, choices: int) -> None:
        """Charge for finding out which one of so many words was meant."""
        self._work.charge(_GUESSING * min(choices, _MOST_GUESSED))

    def verdict(self, plan: Plan, place: ValuePlace) -> bool | None:
        """Tell whether `plan` holds at `place`, `None` where only explaining it can tell."""
        known = place.explained.get(plan.index)
        if known is not None:
            return not known
        if plan.index in place.failing:
            return False
        holds = self.test(plan, place.value)
        if holds:
            place.explained[plan.index] = ()
        elif holds is False:
            place.failing.add(plan.index)
        return holds

    def test(self, plan: Plan, value: object) -> bool | None:
        """Tell the same of a value, from what the engine says and nothing else."""
        if not plan.groups:
            return self.leaves_hold(plan, value)
        if plan.route is None:
            return None
        verdicts = self._plans.verdicts
        if verdicts.rate and self._is_dear(value, _DEAR / verdicts.rate):
            return None
        self._charge(value, verdicts.rate)
        return verdicts.holds(plan.route, value)

    def _is_dear(self, value: object, most: float) -> bool:
        """Tell whether a value is longer than `most` bytes as text; no more of it is looked at.

        A value that is long and deep is asked about at every level.
        """
        known = self._dear.get(id(value))
        if known is not None:
            return known
        waiting = [value]
        for item in waiting:  # grows while it is walked
            if is_object(item) or is_array(item):
                most -= 2 + 2 * len(item)
                if most >= 0:
                    waiting.extend(item.values() if is_object(item) else item)
            else:
                most -= text_size(item)
            if most < 0:
                break
        self._work.charge(_MEASURING * len(waiting))
        if is_object(value) or is_array(value):
            self._dear[id(value)] = most < 0
        return most < 0

    def holds(self, plan: Plan, place: ValuePlace) -> Verdict:
        """Tell whether `plan` holds at `place`, whatever it takes."""
        verdict = self.verdict(plan, place)
        if verdict is None:
            verdict = not (yield plan, place, False)
        return verdict

    def leaves_hold(self, plan: Plan, value: object) -> bool:
        """Tell whether the keywords without subschemas hold, or the boolean."""
        if isinstance(plan.schema, bool):
            return plan.schema
        if plan.leaves:
            # Few of them look into the members of an array or object: the others count them.
            self._charge(value, self._plans.rate, hollow=not plan.leaves.compare)
        return plan.leaves.hold(value)

    def matches(self, pattern: str, name: str) -> bool:
        """Tell whether a property name matches a key of `patternProperties`."""
        self._charge(name, self._plans.rate)
        return self._plans.matches(pattern, name)

    def _charge(self, value: object, rate: float, *, hollow: bool = False) -> None:
        """Charge for what the engine may take, by the bound for what it is asked about."""
        if rate and hollow and (is_array(value) or is_object(value)):
            size = 2 + 2 * len(value)
        else:
            size = min(text_size(value), _MUCH) if rate else 0
        self._work.charge(_ASKING + rate * size)
