"""JSON values as lowering compares and sorts them: by type, and equal as JSON has it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final, cast

from anyshape.errors import AnyshapeError, CannotLower
from anyshape.schema import compile

_MOST_VERDICTS: Final = 20_000
_LARGEST_WHOLE: Final = 2**53

KINDS: Final[tuple[str, ...]] = (
    "string",
    "integer",
    "number",
    "boolean",
    "array",
    "object",
    "null",
)


def kind_of(value: object) -> str:
    """Return the JSON type of a value; a number without a fraction is an integer."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (list, tuple)):
        return "array"
    if isinstance(value, dict):
        return "object"
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return "integer" if whole else "number"


def spelt(value: Any) -> Any:
    """Return an equal value whose whole numbers are spelt as models spell them: without `.0`."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_WHOLE:
        return int(value)
    if isinstance(value, list):
        return [spelt(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: spelt(item) for name, item in cast("dict[str, Any]", value).items()}
    return value


def whole(keyword: str, value: float | Decimal) -> tuple[str, int]:
    """Return a bound of integers as an inclusive one that is an integer itself."""
    if isinstance(value, float):
        value = Decimal(repr(value))  # What was written, such as 1e23, and not the nearest double.
    if keyword in ("minimum", "exclusiveMinimum"):
        least = math.ceil(value)
        return "minimum", least + 1 if keyword != "minimum" and least == value else least
    most = math.floor(value)
    return "maximum", most - 1 if keyword != "maximum" and most == value else most


class StringVerdicts:
    """Whether strings satisfy assertions about strings: each asked once, and not too many."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], bool] = {}

    def admits(self, keyword: str, assertion: str, text: str) -> bool:
        """Tell whether `text` satisfies one assertion; if in doubt, it does."""
        asked = (keyword, assertion, text)
        if asked not in self._known:
            if len(self._known) >= _MOST_VERDICTS:
                raise CannotLower(
                    f"more than {_MOST_VERDICTS} names and listed values would have to be compared "
                    "with regular expressions and formats"
                )
            try:
                self._known[asked] = compile({keyword: assertion}).accepts(text)
            except AnyshapeError:
                self._known[asked] = True
        return self._known[asked]
