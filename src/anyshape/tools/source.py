"""Functions written for one type: their text, line by line, and the values that it names.

A walk over a value that was written for its type has nothing to look up and calls nothing per part:
it takes a third of the time of closures that do the same. What comes from outside is never part of
the text but as the literal of a string; everything else is a value that the text names.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any

__all__ = ["DEEPEST", "Source"]

DEEPEST = 8
"""How many blocks may stand in each other before the next one wants a function of its own.

Python refuses more than twenty.
"""


class Source:
    """The text of functions that is being written."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._names = 0
        self.depth = 0

    def line(self, text: str) -> None:
        """Write one line where the text stands."""
        self._lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """Write `head`, and beneath it what is written meanwhile."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def new_name(self, stem: str) -> str:
        """Return a name that nothing in the text has yet."""
        self._names += 1
        return f"{stem}_{self._names}"

    def function(self, name: str) -> Callable[[Any], Any]:
        """Return the function of that name from the text as it is now."""
        names: dict[str, Any] = {}
        exec(_compile("\n".join(self._lines)), names)  # noqa: S102 - every word of it is ours
        return names[name]


@lru_cache(maxsize=256)
def _compile(text: str) -> CodeType:
    # Tools of the same types have the same text.
    return compile(text, "<anyshape>", "exec")
