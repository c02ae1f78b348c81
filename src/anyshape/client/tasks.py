"""Calls that a server works on after it has answered: looked at until they end, or cancelled.

https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

import msgspec

from anyshape.client.answers import as_object, as_protocol_error, as_string, read_value
from anyshape.client.calling import Check, read_answer, write_call
from anyshape.client.channel import Channel, NoAnswer
from anyshape.client.listing import Listing
from anyshape.client.quoting import shorten, show
from anyshape.client.request import ClientRequest
from anyshape.client.result import CallResult
from anyshape.client.rounds import Questions, complete_result
from anyshape.client.tools import ListedTool
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import HEADER_MISMATCH
from anyshape.protocol.methods import TASKS_CANCEL, TASKS_GET, TASKS_UPDATE
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult
from anyshape.protocol.tasks import TaskStatus
from anyshape.schema import aside

_LONGEST_ID: Final = 1000
_SOONEST: Final = 20
_LATEST: Final = 60_000
"""Milliseconds between two looks at a task, whatever its server says."""
_UNSAID: Final = 1.0
"""Seconds between two looks where it says nothing."""
_MOST_LOSSES: Final = 5
"""Looks in a row that may fail before the task is given up: long work outlives a lost connection.
"""
_PARTING: Final = 5.0
"""Seconds for telling a server that its task is not wanted any more."""


class TaskTerms(NamedTuple):
    """How tasks are asked for: where, for how long each time, and whether values are checked."""

    channel: Channel
    timeout: float | None
    checks: bool = True


class RemoteTask:
    """A call of a tool that its server works on, or has ended.

    `id` finds it again, from another client too (`Client.resume_task`); it is `None` if the server
    answered at once. `status` and `message` are what the server last said.
    """

    def __init__(self, terms: TaskTerms, tool: ListedTool, result: object) -> None:
        self._terms = terms
        self._channel = channel = terms.channel
        self._tool = tool
        self._what = f"the task of tool {shorten(tool.name, 60)!r}"
        self._questions = Questions(channel, self._what)
        self._answered: set[str] = set()
        self._unsent: list[bytes] = []
        """Answers that the server has not confirmed yet."""
        self._interval = _UNSAID
        self.id: str | None = None
        self.status = TaskStatus.COMPLETED
        self.message: str | None = None
        self._result: OrdinaryResult | dict[str, Any] | None = None
        self._failure: ProtocolError | None = None
        if isinstance(result, OrdinaryResult):
            self._result = result
            return
        answer = as_object(result)
        if answer.get("resultType") != "task":
            self._result = answer
            return
        self.id = _read_id(answer, self._what)
        self._take(answer)

    def __repr__(self) -> str:
        return f"RemoteTask({self._tool.name!r}, {self.id!r}, {self.status.value})"

    async def refresh(self) -> TaskStatus:
        """Ask how the task stands; what the server wants to know for it is answered."""
        if self.id is None or self.status.is_final:
            return self.status
        answer = await self._request(TASKS_GET)
        if answer.get("taskId") != self.id:
            raise ProtocolError(f"{self._what}: the answer is about another task")
        self._take(answer)
        if self.status is TaskStatus.INPUT_REQUIRED:
            await self._answer(as_object(answer.get("inputRequests")))
        return self.status

    async def result(self, *, timeout: float | None = None) -> CallResult:
        """Wait until the task has ended, and return what the call came to.

        `ProtocolError` if it failed or was cancelled; `TransportError` if it has not ended within
        `timeout` seconds (by default those of `Bounds.task_timeout`): it goes on then, and can be
        waited for again.
        """
        came = await self.end(timeout)
        return await aside(read_answer, self._tool, came, check=self._terms.checks)

    async def end(self, timeout: float | None) -> OrdinaryResult | dict[str, Any]:
        """Wait as `result` does, and return the result as it came."""
        seconds = self._channel.bounds.task_timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(seconds):
                await self._wait()
        except TimeoutError as error:
            raise NoAnswer(
                f"{self._channel.transport.place}: {self._what} did not end within {seconds:g} s"
            ) from error
        if self._failure is not None:
            raise self._failure
        if self._result is None:
            raise ProtocolError(f"{self._what} was cancelled")
        return self._result

    async def cancel(self) -> None:
        """Tell the server that the task is not wanted any more; it may still end otherwise."""
        if self.id is not None and not self.status.is_final:
            await self._request(TASKS_CANCEL)

    async def give_up(self) -> None:
        """Cancel the task as well as that can be done now."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_PARTING):
                await self.cancel()

    async def _wait(self) -> None:
        losses = 0
        while not self.status.is_final:
            await asyncio.sleep(self._interval)
            try:
                await self.refresh()
                losses = 0
            except TransportError:
                losses += 1
                if losses > _MOST_LOSSES or self._channel.lifecycle is None:
                    raise

    def _take(self, answer: Mapping[str, Any]) -> None:
        """Learn from what a server says of the task."""
        try:
            status = TaskStatus(cast("str", answer.get("status")))
        except ValueError:
            said = show(answer.get("status"), 60)
            raise ProtocolError(f"{self._what} has the unknown status {said}") from None
        self.message = as_string(answer.get("statusMessage"))
        self._interval = _read_interval(answer.get("pollIntervalMs"))
        if status is TaskStatus.COMPLETED and answer.get("resultType") != "task":
            result = answer.get("result")
            kind = as_object(result).get("resultType", "complete")
            if not isinstance(result, dict) or kind != "complete":
                raise ProtocolError(f"{self._what} was completed without a result")
            self._result = cast("dict[str, Any]", result)
        elif status is TaskStatus.FAILED and answer.get("resultType") != "task":
            self._failure = as_protocol_error(answer.get("error"))
        elif status is TaskStatus.COMPLETED or status is TaskStatus.FAILED:
            status = TaskStatus.WORKING  # Only `tasks/get` tells what it came to.
        self.status = status

    async def _answer(self, asked: Mapping[str, Any]) -> None:
        """Answer what was not asked before; a server may be slow to notice that it was answered."""
        fresh = {key: asked[key] for key in asked if key not in self._answered}
        if fresh:
            self._unsent.append(await self._questions.answer_all(fresh))
            self._answered.update(fresh)
        for answers in list(self._unsent):  # A server ignores what it has heard already.
            await self._request(TASKS_UPDATE, b',"inputResponses":%b' % answers)
            self._unsent = [each for each in self._unsent if each is not answers]

    async def _request(self, method: str, more: bytes = b"") -> dict[str, Any]:
        members = b'"taskId":%b%b' % (encode_data(self.id), more)
        request = ClientRequest(method, members, self.id, repeatable=True)
        raw = await self._channel.request(request, self._terms.timeout)
        answer = await read_value(cast("msgspec.Raw", raw), self._channel.bounds.max_depth)
        if not isinstance(answer, dict):
            raise ProtocolError(f"{self._what}: {method} gave a result that is no object")
        return cast("dict[str, Any]", answer)


async def finish_call(
    channel: Channel,
    tool: ListedTool,
    result: Mapping[str, Any],
    limit: float | None,
    patience: float | None,
) -> OrdinaryResult | dict[str, Any]:
    """Return the result of a call that became a task; whoever stops waiting cancels it.

    `limit` is for each request and `patience` for all of them, in seconds.
    """
    task = RemoteTask(TaskTerms(channel, limit), tool, result)
    try:
        return await task.end(patience)
    except (Exception, asyncio.CancelledError):
        channel.part(task.give_up())  # whose answer may never come
        raise


async def begin_call(
    terms: TaskTerms,
    listing: Listing[ListedTool],
    name: str,
    arguments: Mapping[str, Any] | None,
    meta: Mapping[str, Any] | None,
    check: Check,
) -> RemoteTask:
    """Call a tool, and return the task that came of it without waiting for its end."""
    channel, limit, _ = terms
    is_stale = False
    while True:
        fetches = listing.fetches
        tool = await listing.find(name, limit)
        request = await aside(write_call, tool, arguments, meta, None, check=check)
        try:
            begun = channel.begin(request, limit)
            what = f"tool {tool.name!r}"
            result = await complete_result(channel, what, request, limit, begun, takes_task=True)
        except ProtocolError as error:
            if error.code != HEADER_MISMATCH or is_stale:
                raise
            is_stale = True
            await listing.fetch(limit, newer_than=fetches)
        else:
            return RemoteTask(terms, tool, result)


async def resume_call(terms: TaskTerms, tool: ListedTool, id: str) -> RemoteTask:
    """Return a task that was begun before, perhaps by another client."""
    found = {"resultType": "task", "taskId": id, "status": TaskStatus.WORKING}
    task = RemoteTask(terms, tool, found)
    await task.refresh()
    return task


def _read_id(answer: Mapping[str, Any], what: str) -> str:
    id = as_string(answer.get("taskId"))
    if not id or len(id) > _LONGEST_ID:
        raise ProtocolError(f"{what} has no taskId of 1 to {_LONGEST_ID} characters")
    return id


def _read_interval(said: object) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float) or said != said:
        return _UNSAID
    return min(max(said, _SOONEST), _LATEST) / 1000
