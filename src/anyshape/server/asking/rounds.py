"""Questions at 2026-07-28: a result that wants input, and the same request again with answers.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
The function runs from its start in each round. A question is known by its key; an answer counts
only for the very question that it was given to.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from anyshape.errors import AskError
from anyshape.protocol.completed import encode_input_required
from anyshape.protocol.input_requests import InputRequest
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.server.asking.questions import (
    QuestionNames,
    check_declared,
    question_digest,
    read_answer,
)
from anyshape.server.asking.state import GivenAnswer, RoundState
from anyshape.server.failures import invalid_params
from anyshape.server.parameters import RoundParameters
from anyshape.server.request import OpenRequest
from anyshape.tools.asking import Asker
from anyshape.tools.context import Unanswered

_log = logging.getLogger("anyshape.server")

_encode: Final = msgspec.json.Encoder(order="sorted").encode
_decode_responses: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class RoundAsker(Asker):
    """Asks by the result of the request itself, and has the answers that came with it."""

    def __init__(self, request: OpenRequest, parameters: RoundParameters) -> None:
        service = request.peer.service
        self.revision = request.revision
        self.capabilities = request.meta.get(CLIENT_CAPABILITIES, {})
        self._states = service.request_states()
        self._server_info = request.server_info
        access = request.peer.access
        caller = None if access is None else (access.subject, access.client_id)
        self._binding = hashlib.sha256(_encode((*parameters.identity, caller))).digest()
        self._given = _read_responses(parameters.input_responses)
        self._asked: Mapping[str, str] | None = None
        """The questions of the last round; `None` if the client does not say which those were."""
        self._answers: dict[str, GivenAnswer] = {}
        if parameters.request_state is not UNSET:
            state = self._states.open(parameters.request_state, self._binding)
            self._asked, self._answers = state.asked, state.answers
        self._pending: dict[str, InputRequest] = {}
        self._names = QuestionNames()

    @property
    def earlier(self) -> tuple[str, ...]:
        """The keys of what was asked in earlier rounds, as we have told the client."""
        return (*self._answers, *(self._asked or ()))

    async def ask(self, question: InputRequest, key: str | None) -> Any:
        """Return the answer if it is there; else have it asked for."""
        check_declared(question, self.capabilities)
        name = self._names.name(question, key)
        digest = question_digest(question)
        known = self._answers.get(name)
        if known is None or known.question != digest:
            answer = self._given.get(name)
            if answer is None or not self._was_asked(name, digest):
                self._pending[name] = question
                raise Unanswered
            known = self._answers[name] = GivenAnswer(digest, answer)
        return read_answer(known.answer, question, self)

    def refuse(self, question: InputRequest, reason: str) -> AskError:
        """Return the error for an answer that does not fit its question."""
        refusal = invalid_params(f"the answer to {question.method} is of no use: {reason}")
        return AskError(refusal.message, refusal=refusal)

    def check(self) -> None:
        """Raise `Unanswered` if a question has no answer yet."""
        if self._pending:
            raise Unanswered

    def result(self) -> bytes:
        """Return the result that asks for all that has no answer yet."""
        asked = {key: question_digest(question) for key, question in self._pending.items()}
        state = RoundState(self._states.now(), self._answers, asked)
        requests = {key: question.text for key, question in self._pending.items()}
        sealed = self._states.seal(state, self._binding)
        return encode_input_required(requests, sealed, self._server_info)

    def _was_asked(self, name: str, digest: str) -> bool:
        """Tell whether an answer was given to this question, and not to another of that name."""
        if self._asked is None:
            return True
        if name in self._asked and self._asked[name] != digest:
            _log.warning(
                "question %r was another in the last round, so it is asked again; what it says has "
                "to follow from the arguments and from earlier answers",
                name,
            )
        return self._asked.get(name) == digest


def _read_responses(raw: msgspec.Raw | msgspec.UnsetType) -> Mapping[str, msgspec.Raw]:
    """Return the answers that came with a request, unread but for the objects that they are."""
    if raw is UNSET:
        return {}
    try:
        responses = _decode_responses(raw)
    except msgspec.ValidationError:
        raise invalid_params("inputResponses has to be an object") from None
    for key, answer in responses.items():
        if not bytes(answer).startswith(b"{"):
            raise invalid_params(f"inputResponses: {key[:60]!r} has to be an object")
    return responses
