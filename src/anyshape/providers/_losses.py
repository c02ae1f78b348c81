"""What a lowered schema no longer says, and the short words for it.

The same words stand in two places: in `Lowered.losses`, with the path in the author's document, and
at the end of the description that the model reads, so that it can keep the rule by itself.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from anyshape.providers._source import arranged

_MOST_WORDS: Final = 160
_FIXED: Final = {"uniqueItems": "unique items"}


class Effect(enum.Enum):
    """How a lowered schema differs from the original at one place."""

    WIDER = "wider"
    """It admits values that the original refuses; the original refuses them at the call."""
    NARROWER = "narrower"
    """It has no form for some values that the original admits."""
    AMBIGUOUS = "ambiguous"
    """Null and absence, which the original tells apart, look the same in it."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the lowered schema no longer says: `keyword` at `path` of the original."""

    path: str
    keyword: str
    words: str
    effect: Effect = Effect.WIDER

    def __str__(self) -> str:
        """Return the line a person reads: where, then what."""
        return f"{self.path or '/'}: {self.words} ({self.effect.value})"


class Said(NamedTuple):
    """An assertion, and where in the original it stands."""

    keyword: str
    value: Any
    place: str

    @property
    def words(self) -> str:
        """The assertion in its short form."""
        return worded(self.keyword, self.value)


class Losses:
    """Losses in the order in which they were met, each once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, Effect], Loss] = {}

    def add(self, path: str, keyword: str, words: str, effect: Effect = Effect.WIDER) -> None:
        """Take down one loss."""
        self._found.setdefault((path, keyword, effect), Loss(path, keyword, words, effect))

    def joined(self, other: Losses) -> Losses:
        """Return these losses and those of others."""
        both = Losses()
        both._found = {**other._found, **self._found}
        return both

    def assertion(self, said: Said) -> None:
        """Take down an assertion that cannot be written."""
        self.add(said.place, said.keyword, said.words)

    def all(self) -> tuple[Loss, ...]:
        """Return them all, in the order of their paths."""
        return tuple(sorted(self._found.values(), key=lambda loss: (loss.path, loss.keyword)))


def worded(keyword: str, value: object) -> str:
    """Return an assertion as it stands in a note: `minimum=1`, `unique items`."""
    if keyword in _FIXED:
        return _FIXED[keyword]
    text = value if isinstance(value, str) else compact(_arranged(value))
    text = " ".join(text.split())
    return f"{keyword}={text if len(text) <= _MOST_WORDS else text[: _MOST_WORDS - 1] + '…'}"


def _arranged(value: Any) -> Any:
    """Return a value that may hold schemas, with their keywords in the one order of ours."""
    if isinstance(value, dict):
        members = arranged(cast("dict[str, Any]", value))
        return {name: _arranged(inner) for name, inner in members.items()}
    if isinstance(value, list):
        return [_arranged(item) for item in cast("list[Any]", value)]
    return value


def compact(value: object) -> str:
    """Return `value` as JSON text, as short as it gets."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_length(value: object) -> int:
    """Return how many characters a value takes: a string its own, any other those of its text."""
    return len(value) if isinstance(value, str) else len(compact(value))


def described(description: str, notes: Iterable[str]) -> str:
    """Return a description with its notes at the end, in parentheses: none of them twice."""
    fresh = [note for note in dict.fromkeys(notes) if note not in description]
    if not fresh:
        return description
    return f"{description} ({'; '.join(fresh)})".lstrip()
