"""The places of a value that is being explained, and what has been found out about each."""

from __future__ import annotations

from collections.abc import Iterable

from anyshape.errors import Problem
from anyshape.schema._json import escape, is_array, is_object
from anyshape.schema._wording import shorten

__all__ = ["Findings", "Place", "Spent", "Work"]


class Place:
    """A place in the value; subschemas are remembered here by their index."""

    __slots__ = ("_children", "_parent", "_path", "_token", "explained", "failing", "value")

    def __init__(self, value: object, parent: Place | None = None, token: str | int = "") -> None:
        self.value = value
        self.explained: dict[int, tuple[Problem, ...]] = {}
        self.failing: set[int] = set()
        """Subschemas that are known not to hold here."""
        self._parent = parent
        self._token = token
        self._children: dict[str | int, Place] = {}
        self._path = "" if parent is None else None

    @property
    def path(self) -> str:
        """The JSON Pointer to it."""
        tokens: list[str] = []
        at = self
        while at._path is None and at._parent is not None:
            tokens.append(f"/{escape(str(at._token))}")
            at = at._parent
        if self._path is None:
            self._path = (at._path or "") + "".join(reversed(tokens))
        return self._path

    def child(self, token: str | int, value: object) -> Place:
        """Return the place of a property or item."""
        found = self._children.get(token)
        if found is None:
            found = self._children[token] = Place(value, self, token)
        return found

    def name(self, text: str) -> Place:
        """Return a place for a property's name, whose problems are told at the object."""
        found = Place(text)
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

    def extend(self, problems: Iterable[Problem], before: str = "", after: str = "") -> None:
        """Take in problems, with words put before and after each message."""
        for found in problems:
            if before or after:
                found = Problem(
                    found.keyword,
                    found.path,
                    shorten(f"{before}{found.message}{after}"),
                    found.schema_path,
                    found.causes,
                )
            self.add(found)


class Spent(Exception):
    """The budget has run out."""


class Work:
    """The steps that may still be taken for one value."""

    __slots__ = ("_left", "_sizes", "_value")

    def __init__(self, steps: int, value: object) -> None:
        self._left = steps
        self._value = value
        self._sizes: dict[int, int] | None = None

    def charge(self, steps: float) -> None:
        """Take `steps` off the budget."""
        self._left -= steps
        if self._left < 0:
            raise Spent

    def size(self, value: object) -> int:
        """Return the number of places in a part of the value."""
        if not (is_object(value) or is_array(value)):
            return 1
        if self._sizes is None:
            self._sizes = _sizes(self._value)
        return self._sizes.get(id(value), 1)

    def width(self, value: object) -> int:
        """Return the number of properties or items directly in a value, and one for itself."""
        return 1 + len(value) if is_object(value) or is_array(value) else 1


def _sizes(value: object) -> dict[int, int]:
    """Return the number of places in each array and object within `value`, by identity."""
    order: list[list[object] | dict[str, object]] = []
    waiting = [value]
    for at in waiting:  # grows while it is walked
        if is_object(at):
            order.append(at)
            waiting.extend(at.values())
        elif is_array(at):
            order.append(at)
            waiting.extend(at)
    sizes: dict[int, int] = {}
    for at in reversed(order):
        inside = at.values() if is_object(at) else at
        sizes[id(at)] = 1 + sum(sizes.get(id(inner), 1) for inner in inside)
    return sizes
