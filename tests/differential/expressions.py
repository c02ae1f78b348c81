"""Random regular expressions of ECMA-262, with texts to match.

Left out are references to groups, and boundaries and looks within a lookbehind: what becomes of
those is said in docs/concepts/divergences.md.
"""

from __future__ import annotations

from random import Random
from typing import Final

_CHARACTERS: Final = (
    *"abcABZz019_- .,:;!?@#%&=<>~`'\"",
    *"éßſK٣\u00a0\u2028\ufeff😀\n\r\t\x00\x0bİı",
)
_ESCAPES: Final = (
    *(r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"),
    *(r"\t", r"\n", r"\v", r"\f", r"\r", r"\0", r"\cJ", r"\cA", r"\x41", r"\x00"),
    *(r"\u0041", r"\u00e9", r"\u2028", r"\u{1F600}", r"\u{0}", r"\ud83d\ude00"),
    *(rf"\{sign}" for sign in "^$\\.*+?()[]{}|/"),
)
_PROPERTIES: Final = (
    *(r"\p{L}", r"\p{Lu}", r"\P{L}", r"\p{Letter}", r"\p{Nd}", r"\p{ASCII}", r"\p{Any}"),
    *(r"\p{Script=Greek}", r"\p{sc=Latin}", r"\p{scx=Cyrl}", r"\p{Alphabetic}", r"\p{ID_Start}"),
    *(r"\p{White_Space}", r"\p{General_Category=Decimal_Number}", r"\p{Emoji}", r"\p{Lowercase}"),
)
_RANGES: Final = (
    *("a-z", "0-9", "A-Z", "!-~", "+--", "а-я", "😀-😂"),
    *(r"\x00-\x1f", r"\u0041-\u0060", r"\u{1F600}-\u{1F64F}"),
)
_SETS: Final = ("[", "&&", "--", "~~", "||", "[:alpha:]", "^", "&", "#", " ", r"\b", r"\-")
_COUNTS: Final = ("*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "+?", "??", "{1,2}?")
_GROUPS: Final = ("(", "(?:", "(?=", "(?!", "(?<=", "(?<!")


class Expressions:
    """Makes expressions and texts, the same ones for the same `random`."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0

    def expression(self) -> str:
        """Return an expression, half of them for the whole text."""
        made = self._alternatives(2)
        return made if self._random.random() < 0.5 else f"^(?:{made})$"

    def texts(self, expression: str) -> list[str]:
        """Return texts, some of which may match."""
        of = (*_CHARACTERS, *expression)
        made = ["".join(self._random.choices(of, k=self._random.randint(1, 6))) for _ in range(12)]
        return ["", "a", "A", "<b>", "é", "٣", "5", "\u2028", "😀", "a😀a", "aéa", "\n", *made]

    def _alternatives(self, depth: int) -> str:
        terms = (self._sequence(depth) for _ in range(self._random.choice((1, 1, 1, 2, 3))))
        return "|".join(terms)

    def _sequence(self, depth: int) -> str:
        return "".join(self._term(depth) for _ in range(self._random.randint(1, 3)))

    def _term(self, depth: int) -> str:
        made = self._atom(depth)
        counted = self._random.random() < 0.25
        return made + self._random.choice(_COUNTS) if counted else made

    def _atom(self, depth: int) -> str:
        choose = self._random.choice
        match self._random.randrange(14):
            case 0 | 1 | 2:
                return choose(_CHARACTERS)
            case 3 | 4:
                return choose(_ESCAPES)
            case 5:
                return choose(_PROPERTIES)
            case 6:
                return choose((".", "[]", "[^]"))
            case 7 | 8 | 9:
                return self._class()
            case 10 if depth:
                return choose(("^", "$", r"\b", r"\B"))
            case 11 if depth:
                self._names += 1
                return f"(?<n{self._names}>{self._alternatives(depth - 1)})"
            case _ if depth:
                group = choose(_GROUPS)
                return f"{group}{self._alternatives(0 if '<' in group else depth - 1)})"
            case _:
                return choose("abc")

    def _class(self) -> str:
        parts = (self._random.choice(self._random.choice(_PARTS)) for _ in range(4))
        return "".join((self._random.choice(("[", "[^")), *parts, "]"))


_PARTS: Final = (
    tuple(character for character in _CHARACTERS if character != "-"),
    *(_ESCAPES, _PROPERTIES, _RANGES, _SETS),
)
