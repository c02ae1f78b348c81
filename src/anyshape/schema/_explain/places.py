"""The places of a value that is being explained, and what has been found out about each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from anyshape.documents.json import plain
from anyshape.documents.pointers import escape
from anyshape.errors import Problem
from anyshape.schema._explain.plans import Plan
from anyshape.schema._wording import shorten

_BECAUSE = " (because "


class ValuePlace:
    """A place in the value; subschemas are remembered here by their index."""

    __slots__ = ("_children", "_parent", "_path", "_token", "explained", "failing", "value")

    def __init__(
        self, value: object, parent: ValuePlace | None = None, token: str | int = ""
    ) -> None:
        self.value = plain(value)
        self.explained: dict[int, tuple[Problem, ...]] = {}
        self.failing: set[int] = set()
        """Subschemas that are known not to hold here."""
        self._parent = parent
        self._token = token
        self._children: dict[str | int, ValuePlace] = {}
        self._path = "" if parent is None else None

    @property
    def path(self) -> str:
        """The JSON Pointer to it."""
        tokens: list[str] = []
        at = self
        while at._path is None and at._parent is not None:
            tokens.append(f"/{escape(str(plain(at._token)))}")
            at = at._parent
        if self._path is None:
            self._path = (at._path or "") + "".join(reversed(tokens))
        return self._path

    def child(self, token: str | int, value: object) -> ValuePlace:
        """Return the place of a property or item."""
        found = self._children.get(token)
        if found is None:
            found = self._children[token] = ValuePlace(value, self, token)
        return found

    def name(self, text: str) -> ValuePlace:
        """Return a place for a property's name, whose problems are told at the object."""
        found = ValuePlace(text)
        found._path = self.path
        return found


class Findings:
    """The problems of one subschema at one place: none twice, and no more than `most`."""

    __slots__ = ("_most", "_seen", "problems")

    def __init__(self, most: int) -> None:
        self.problems: list[Problem] = []
        self._seen: set[tuple[str, str]] = set()
        self._most = most

    @property
    def full(self) -> bool:
        """Tell whether looking for more is of no use."""
        return len(self.problems) >= self._most

    def add(self, problem: Problem) -> None:
        """Take in a problem that is not there yet."""
        key = (problem.path, problem.message)
        if key not in self._seen and not self.full:
            self._seen.add(key)
            self.problems.append(problem)

    def report(
        self,
        plan: Plan,
        keyword: str,
        place: ValuePlace,
        message: str,
        where: str | None = None,
        causes: tuple[Problem, ...] = (),
    ) -> None:
        """Take in that `keyword` of `plan` fails at `place`; `where` if it stands elsewhere."""
        if where is None:
            where = f"{plan.where}/{keyword}" if keyword else plan.where
        self.add(Problem(keyword or "false", place.path, shorten(message), where, causes))

    def extend(self, problems: Iterable[Problem], before: str = "", after: str = "") -> None:
        """Take in problems, with words put before each message and a reason after it."""
        for found in problems:
            reason = "" if _BECAUSE in found.message else after
            if before or reason:
                found = replace(found, message=shorten(f"{before}{found.message}{reason}"))
            self.add(found)


class Spent(Exception):
    """The budget has run out."""


class Work:
    """The budget of explaining one value, in nanoseconds that are counted rather than measured."""

    __slots__ = ("_left",)

    def __init__(self, nanoseconds: int) -> None:
        self._left: float = nanoseconds

    def charge(self, nanoseconds: float) -> None:
        """Take something off the budget; raise `Spent` when there is no more."""
        self._left -= nanoseconds
        if self._left < 0:
            raise Spent
