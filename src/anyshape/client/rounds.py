"""Requests that a server answers with questions first.

The request is then sent again with the answers, round after round, until there is a result.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Final, cast

import msgspec

from anyshape.client.answers import as_object, read_value
from anyshape.client.channel import Channel, Result
from anyshape.client.quoting import shorten, show
from anyshape.client.request import ClientRequest
from anyshape.errors import NotJson, ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult

_LONGEST_STATE: Final = 1_000_000


async def complete_result(
    channel: Channel,
    what: str,
    request: ClientRequest,
    timeout: float | None,
    begun: Result | Coroutine[Any, Any, Result],
    *,
    takes_task: bool = False,
) -> OrdinaryResult | dict[str, Any]:
    """Return the result of a request that was begun, asking again while the server wants that.

    `timeout` bounds each request; the time for answering the server's questions, and their number,
    are bounded over all rounds. `what` names the request in errors. With `takes_task` it may be
    answered with a task, too.
    """
    bounds = channel.bounds
    questions = Questions(channel, what)
    members = request.members
    result = begun if isinstance(begun, Result) else await begun
    for asked in range(1, bounds.max_rounds + 1):
        if isinstance(result, OrdinaryResult):
            return result
        value = await read_value(result, bounds.max_depth)
        if type(value) is not dict:
            raise ProtocolError(f"{what} gave a result that is no object")
        answer = cast("dict[str, Any]", value)
        kind = answer.get("resultType", "complete")
        if kind == "complete" or (takes_task and kind == "task"):
            return answer
        if kind != "input_required":
            raise ProtocolError(f"{what} gave a result of the unknown type {show(kind, 60)}")
        if asked < bounds.max_rounds:
            more = await questions.answer(answer)
            joined = members + b"," + more if members else more
            again = msgspec.structs.replace(request, members=joined)
            result = await channel.request(again, timeout)
    raise ProtocolError(f"{what} asked to be called again {bounds.max_rounds} times")


class Questions:
    """The questions of one request over all its rounds, and what is left for answering them."""

    def __init__(self, channel: Channel, what: str) -> None:
        self._channel = channel
        self._what = what
        self._left = channel.bounds.max_questions
        self._seconds = channel.bounds.answer_timeout

    async def answer(self, result: Mapping[str, Any]) -> bytes:
        """Return what to add to the request: the answers, and the server's own state."""
        state, asked = result.get("requestState"), result.get("inputRequests")
        members: list[bytes] = []
        if asked:
            members.append(b'"inputResponses":%b' % await self.answer_all(asked))
        if isinstance(state, str):
            if len(state) > _LONGEST_STATE:
                raise ProtocolError(
                    f"{self._what} gave a requestState of more than {_LONGEST_STATE} characters"
                )
            members.append(b'"requestState":%b' % encode_data(state))
        elif state is not None or not members:
            raise ProtocolError(f"{self._what} asks for input without saying which")
        return b",".join(members)

    async def answer_all(self, asked: object) -> bytes:
        """Answer one question after another: a user can only read one at a time."""
        questions = as_object(asked)
        if not questions:
            raise ProtocolError(f"{self._what} asks for input without saying which")
        self._left -= len(questions)
        if self._left < 0:
            most = self._channel.bounds.max_questions
            raise ProtocolError(
                f"{self._what} asks more than {most} questions; "
                "Client(bounds=Bounds(max_questions=…)) allows more"
            )
        for question in questions.values():
            if not self._channel.answering.knows(as_object(question).get("method")):
                raise ProtocolError(
                    f"{self._what} asks for input that this client did not offer to give"
                )
        answers: dict[str, Any] = {}
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._seconds):
                for key, question in questions.items():
                    method, params = question["method"], as_object(question.get("params"))
                    answers[key] = await self._channel.answering.answer(method, params)
        except TimeoutError as error:
            allowed = self._channel.bounds.answer_timeout
            raise ProtocolError(
                f"{self._what} asked for input that nobody gave within {allowed:g} s"
            ) from error
        self._seconds -= asyncio.get_running_loop().time() - started
        try:
            return encode_data(answers)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise NotJson(f"the answer to {self._what}: {shorten(str(error))}") from None
