"""What the questions of one call are known by, among themselves."""

from __future__ import annotations

import hashlib
from typing import Final

from anyshape.errors import AskError
from anyshape.protocol.input_requests import InputRequest

__all__ = ["QuestionNames", "question_digest"]

_MOST_QUESTIONS: Final = 100


class QuestionNames:
    """Gives each question of a call a name of its own, the same whenever the call is made again."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name(self, question: InputRequest, key: str | None) -> str:
        """Return what a question is known by: its key, or its method and where it comes."""
        count = len(self._taken) + 1
        name = key or f"{question.method.partition('/')[0]}-{count}"
        if name in self._taken:
            raise ValueError(f"two questions have the key {name!r}; give each one of its own")
        if count > _MOST_QUESTIONS:
            raise AskError(f"a call may ask its client {_MOST_QUESTIONS} questions")
        self._taken.add(name)
        return name


def question_digest(question: InputRequest) -> str:
    """Return what tells a question from any other, in its words too."""
    return hashlib.sha256(question.text).hexdigest()[:32]
