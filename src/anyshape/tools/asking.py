"""What a function may ask of whoever called it: the user, the model, the roots.

One function, every era: an `Asker` knows how a question travels. Up to 2025-11-25 it is sent and
waited for; at 2026-07-28 a question without an answer ends the call with `Unanswered`, and the
function runs again, from its start, when the answers are there.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final, cast

from anyshape.errors import AskError, ValidationError
from anyshape.protocol.input_requests import (
    InputRequest,
    ask_for_form,
    ask_for_roots,
    ask_for_sample,
    ask_for_visit,
)
from anyshape.protocol.revision import Revision
from anyshape.protocol.roots import Root
from anyshape.protocol.sampling import Sampled, SampleRequest, read_sampled
from anyshape.tools.forms import UserForm
from anyshape.tools.outcomes import Accepted, Cancelled, Declined, Elicited
from anyshape.tools.types import ArgumentsError

_MOST_ROOTS: Final = 1_000
_LONGEST_URI: Final = 8_192
_SHOWN: Final = 5


class Asker(ABC):
    """Asks the client that sent one request; most wait for the answer where they have asked."""

    revision: Revision
    """What the client speaks."""
    capabilities: Mapping[str, Any]
    """What the client has declared."""

    @abstractmethod
    async def ask(self, question: InputRequest, key: str | None) -> Any:
        """Return the client's answer, as JSON; raises `AskError` if there is none to be had."""

    def refuse(self, question: InputRequest, reason: str) -> AskError:
        """Return the error for an answer that does not fit its question."""
        return AskError(f"the client's answer to {question.method} is of no use: {reason}")

    def check(self) -> None:
        """Raise `Unanswered` if a question has no answer yet."""
        return


async def elicit(asker: Asker, message: str, form: UserForm, key: str | None) -> Elicited[Any]:
    """Ask the user to fill in a form."""
    question = ask_for_form(asker.revision, message, form.document)
    answer = _object(asker, question, await asker.ask(question, key))
    outcome = _action(asker, question, answer)
    if outcome is not None:
        return outcome
    content: object = answer.get("content", {} if not form.document["properties"] else None)
    if not isinstance(content, dict):
        raise asker.refuse(question, "content: expected an object with the fields of the form")
    try:
        return Accepted(await form.read(cast("dict[str, Any]", content)))
    except ArgumentsError as error:
        raise asker.refuse(question, _lines(error)) from None
    except ValidationError as error:
        raise asker.refuse(question, str(error)) from None


async def elicit_visit(
    asker: Asker, message: str, url: str, id: str | None, key: str | None
) -> Elicited[None]:
    """Ask the user to visit an address."""
    question = ask_for_visit(asker.revision, message, url, id or secrets.token_urlsafe(12))
    answer = _object(asker, question, await asker.ask(question, key))
    return _action(asker, question, answer) or Accepted(None)


async def sample(asker: Asker, asked: SampleRequest, key: str | None) -> Sampled:
    """Ask the client's model."""
    question = ask_for_sample(asker.revision, asked)
    answer = _object(asker, question, await asker.ask(question, key))
    try:
        return read_sampled(answer)
    except ValueError as error:
        raise asker.refuse(question, str(error)) from None


async def list_roots(asker: Asker, key: str | None) -> list[Root]:
    """Ask for the client's roots; one that is no root is left out."""
    question = ask_for_roots()
    answer = _object(asker, question, await asker.ask(question, key))
    listed: object = answer.get("roots")
    if not isinstance(listed, list):
        raise asker.refuse(question, "roots: expected an array")
    return [root for root in map(_read_root, cast("list[Any]", listed)[:_MOST_ROOTS]) if root]


def _read_root(wire: Any) -> Root | None:
    if not isinstance(wire, dict):
        return None
    uri, name = cast("dict[str, Any]", wire).get("uri"), cast("dict[str, Any]", wire).get("name")
    if not isinstance(uri, str) or len(uri) > _LONGEST_URI or not isinstance(name, str | None):
        return None
    try:
        return Root(uri, name)
    except ValueError:
        return None


def _object(asker: Asker, question: InputRequest, answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise asker.refuse(question, f"expected an object, got {type(answer).__name__}")
    return cast("dict[str, Any]", answer)


def _action(
    asker: Asker, question: InputRequest, answer: Mapping[str, Any]
) -> Declined | Cancelled | None:
    """Return what the user did other than to accept."""
    action = answer.get("action")
    if action == "accept":
        return None
    if action == "decline":
        return Declined()
    if action == "cancel":
        return Cancelled()
    raise asker.refuse(question, "action: expected accept, decline or cancel")


def _lines(error: ArgumentsError) -> str:
    shown = [" ".join(str(problem).split("\n"))[:300] for problem in error.problems[:_SHOWN]]
    return "; ".join(f"content{'' if line.startswith('/') else ': '}{line}" for line in shown)
