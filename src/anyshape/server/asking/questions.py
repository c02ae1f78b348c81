"""What is the same for every question, however it is asked: its name, its refusal, its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from anyshape.decoding import decode_json
from anyshape.errors import AskError
from anyshape.protocol.capabilities import lacking
from anyshape.protocol.input_requests import InputRequest
from anyshape.server.failures import missing_capability
from anyshape.tools.asking import Asker

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


def check_declared(question: InputRequest, capabilities: Mapping[str, Any]) -> None:
    """Raise if a client has not declared that it can be asked this, as modern ones have to."""
    missing = lacking(question.requires, capabilities)
    if missing:
        refusal = missing_capability(missing)
        raise AskError(refusal.message, refusal=refusal)


def read_answer(answer: bytes | msgspec.Raw, question: InputRequest, asker: Asker) -> Any:
    """Return the value of an answer, which is JSON text."""
    try:
        return decode_json(answer)
    except msgspec.DecodeError as error:  # A number that is too large, say.
        raise asker.refuse(question, str(error)) from None
