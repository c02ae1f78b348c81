"""Which tools a few words are about: Okapi BM25 over names, descriptions and parameters.

The variant that Lucene has, with its usual constants. `docs/internals/agents.md` says why no
library does this.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from anyshape.documents.positions import subschemas

FIND: Final = "find_tools"
"""What the tool is called that searches, wherever tools are disclosed by search."""
CALL: Final = "call_tool"
"""What the tool is called that calls one of those found."""

_WORDS: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SATURATION: Final = 1.5
_LENGTH: Final = 0.75
_NAME_WEIGHT: Final = 3
_MOST_TERMS: Final = 64


def terms_of(text: str) -> list[str]:
    """Return the words of a text or an identifier, in small letters and without plural."""
    words = (word.lower() for word in _WORDS.findall(_HUMPS.sub(" ", text)))
    return [_singular(word) for word in words]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def terms_of_tool(
    name: str, title: str | None, description: str | None, schema: Mapping[str, Any]
) -> list[str]:
    """Return the words that a tool is found by; those of its name count more."""
    texts = [title or "", description or ""]
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            for keyword, label, inner in subschemas(cast("dict[str, Any]", node)):
                if keyword == "properties":
                    texts.append(str(label))
                pending.append(inner)
            if node is not schema:
                texts.append(str(cast("dict[str, Any]", node).get("description", "")))
    return terms_of(name) * _NAME_WEIGHT + [term for text in texts for term in terms_of(text)]


class Ranking:
    """An index of documents, each a list of terms."""

    def __init__(self, documents: Iterable[Sequence[str]]) -> None:
        postings: dict[str, list[tuple[int, int]]] = {}
        lengths: list[int] = []
        for index, terms in enumerate(documents):
            lengths.append(len(terms))
            for term, count in Counter(terms).items():
                postings.setdefault(term, []).append((index, count))
        count = len(lengths)
        average = sum(lengths) / count if count else 1.0
        self._weights = {
            term: [
                (index, _weight(count, len(found), often, lengths[index] / (average or 1.0)))
                for index, often in found
            ]
            for term, found in postings.items()
        }

    def search(self, query: str) -> list[tuple[int, float]]:
        """Return the documents that share a term with a query, best first, with their scores."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms_of(query)[:_MOST_TERMS]):
            for index, weight in self._weights.get(term, ()):
                scores[index] = scores.get(index, 0.0) + weight
        return sorted(scores.items(), key=lambda it: (-it[1], it[0]))


def _weight(documents: int, having: int, often: int, relative_length: float) -> float:
    rarity = math.log(1 + (documents - having + 0.5) / (having + 0.5))
    return rarity * often / (often + _SATURATION * (1 - _LENGTH + _LENGTH * relative_length))
