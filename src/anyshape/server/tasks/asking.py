"""Questions of a call that may become a task: those that come first, and those of the task.

A parameter that is asked for is asked for before there is a task, by the rounds of the request
itself, as the extension wants it; what was answered goes into the task. Whatever the function asks
while it works is asked by the task, and waited for in place: the function does not run again.
"""

from __future__ import annotations

import asyncio
from typing import Any

from anyshape.errors import AskError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.input_requests import InputRequest
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.server.asking.questions import (
    QuestionNames,
    check_declared,
    question_digest,
    read_answer,
)
from anyshape.server.lazy_object import LazyObject
from anyshape.server.parameters import CallParameters
from anyshape.server.request import OpenRequest
from anyshape.server.tasks.engine import TaskCall, TaskLink
from anyshape.tools.asking import Asker
from anyshape.tools.context import Context
from anyshape.tools.deadline import Interruptible, paused
from anyshape.tools.tool import Tool


class _AllAnsweredError(BaseException):
    """All that is asked before the function has its answer; ends the call before the function."""


class _FirstAsker(Asker):
    """Asks what is asked before the function runs, keeps the answers, and ends the call there."""

    def __init__(self, asker: Asker, answers: dict[str, bytes]) -> None:
        self._asker = asker
        self._answers = answers
        self._is_done = False
        self.revision = asker.revision
        self.capabilities = asker.capabilities

    async def ask(self, question: InputRequest, key: str | None) -> Any:
        answer = await self._asker.ask(question, key)
        if key is not None:
            self._answers[key] = encode_data(answer)
        return answer

    def refuse(self, question: InputRequest, reason: str) -> AskError:
        return self._asker.refuse(question, reason)

    def check(self) -> None:
        """Stop: this comes when everything was asked, before the function."""
        self._asker.check()
        self._is_done = True
        raise _AllAnsweredError

    def finish(self) -> None:
        """Say how it ended: with answers to come, with all of them, or by the user's own will."""
        self._asker.check()
        if self._is_done:
            raise _AllAnsweredError


class _FirstContext(Context[Any]):
    """The context of a call that is made for what it asks first."""

    __slots__ = ()

    def end(self) -> None:
        """Raise what the questions came to, whatever has become of the call itself."""
        if isinstance(self._asker, _FirstAsker):
            self._asker.finish()


async def ask_ahead(
    tool: Tool, arguments: bytes | None, parameters: CallParameters, request: OpenRequest
) -> dict[str, bytes] | EncodedResult:
    """Ask for the parameters of a tool that are asked for, and return the answers by parameter.

    If the call ends by that, because its arguments or the user would not have it, its result is
    returned. Raises `Unanswered` as long as there are answers to come.
    """
    answers: dict[str, bytes] = {}
    request.open_rounds(parameters)
    context = _FirstContext(find_asker=lambda call: _FirstAsker(request.find_asker(call), answers))
    try:
        return await tool.call(arguments, context)
    except _AllAnsweredError:
        return answers


class TaskAsker(Asker):
    """Asks the client of a task, and waits for the answer while the task does."""

    def __init__(
        self, call: TaskCall, link: TaskLink, clock: Interruptible, timeout: float | None
    ) -> None:
        self.revision = Revision(call.revision)
        self.capabilities = LazyObject(call.meta, CLIENT_CAPABILITIES)
        self._known = call.answers
        self._link = link
        self._clock = clock
        self._timeout = timeout
        self._names = QuestionNames()

    async def ask(self, question: InputRequest, key: str | None) -> Any:
        """Return the client's answer."""
        check_declared(question, self.capabilities)
        name = self._names.name(question, key)
        known = self._known.get(name)
        answer = await self._wait(question, name) if known is None else known
        return read_answer(answer, question, self)

    async def _wait(self, question: InputRequest, name: str) -> bytes:
        # Work that is begun again may word a question anew, and that is another question.
        key = f"{name}.{question_digest(question)[:8]}"
        with paused(self._clock):
            try:
                async with asyncio.timeout(self._timeout):
                    return await self._link.ask(key, question.text)
            except TimeoutError:
                await self._link.withdraw(key)
                raise AskError(
                    f"the client did not answer {question.method} within {self._timeout:g} seconds"
                ) from None
