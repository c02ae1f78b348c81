"""One request, from its arrival to its answer.

Whatever answers a request is an ordinary coroutine. Most of them end without waiting for anything,
and for those a task, a time-out and an entry to be cancelled by are pure cost. So
`OpenRequest.answer` runs the first step by hand, and only if that has to wait does it set these up.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Mapping
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from anyshape.protocol.jsonrpc import encode_error, encode_response, request_key
from anyshape.protocol.revision import MODERN, Revision
from anyshape.resumption import start
from anyshape.server.dispatch import dispatch
from anyshape.server.failures import duplicate_id, stopping, translate
from anyshape.server.lazy_object import LazyObject

if TYPE_CHECKING:
    from anyshape.server.parameters import CallParameters
    from anyshape.server.peer import Peer
    from anyshape.server.progress import ProgressReports

__all__ = [
    "IN_MESSAGE",
    "IN_PARAMETERS",
    "NO_ANSWER",
    "Answer",
    "Interruption",
    "OpenRequest",
    "TimeLimit",
]

IN_MESSAGE: Final = ("params", "_meta")
IN_PARAMETERS: Final = ("_meta",)
"""Where `_meta` is, in a whole message and in its parameters."""


class Answer(msgspec.Struct, gc=False, frozen=True):
    """What goes back for a request: a message, unless nobody wants it any more.

    `failure` is the code of the error, if it is one.
    """

    message: bytes | None
    failure: int | None = None


NO_ANSWER: Final = Answer(None)


class Interruption(enum.Enum):
    """Why a request that waits was stopped."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    STOPPED = "stopped"
    """The server ends, and somebody still waits for the answer."""


class TimeLimit(Protocol):
    """How long a request may wait, and what answers it then."""

    @property
    def timeout(self) -> float | None:
        """Seconds; `None` for ever."""
        ...

    def late_result(self, revision: Revision) -> bytes:
        """Return the `result` of a request that has taken too long."""
        ...


class OpenRequest(msgspec.Struct, eq=False):
    """A request that is not answered yet.

    `source` is the JSON it was read from, the whole message or its parameters, and `path` are the
    keys that lead from there to its `_meta`.
    """

    peer: Peer
    id: bytes
    """As JSON text."""
    source: bytes | msgspec.Raw | None
    path: tuple[str, ...]
    batched: bool = False
    """Whether it came with others in an array."""
    revision: Revision = MODERN[-1]
    """What it is answered at; the newest as long as that is not settled."""
    limit: TimeLimit | None = None
    progress: ProgressReports | None = None
    subscription: asyncio.Future[None] | None = None
    """What ends it, if it is a subscription."""
    interruption: Interruption | None = None
    _task: asyncio.Task[Any] | None = None
    _timer: asyncio.TimerHandle | None = None

    @property
    def key(self) -> bytes:
        """What it is known by while it waits: ids that are equal as JSON have the same."""
        return request_key(self.id)

    @property
    def meta(self) -> Mapping[str, Any]:
        """Its `_meta`, read when somebody looks."""
        return {} if self.source is None else LazyObject(self.source, *self.path)

    async def answer(self, method: str, parameters: CallParameters | msgspec.Raw | None) -> Answer:
        """Return the answer to this request, which is for that method; errors are answers, too."""
        peer = self.peer
        try:
            if peer.flights and self.key in peer.flights:
                raise duplicate_id()
            handling = dispatch(self, method, parameters)
            result = start(handling, copy_context() if peer.shares_task else None)
            if isinstance(result, bytes):
                return Answer(encode_response(self.id, result))
            return await self._wait(result)
        except Exception as error:
            failure = translate(error, method)
            message = encode_error(self.id, failure.code, failure.message, failure.data)
            return Answer(message, failure.code)

    async def _wait(self, rest: Awaitable[bytes]) -> Answer:
        """Return the answer that the rest of a handler gives, or what stops it."""
        result = b""
        self._begin_waiting()
        try:
            result = await rest
        except asyncio.CancelledError:
            if self.interruption is None:
                raise
        finally:
            self._end_waiting()
        if self.interruption is Interruption.CANCELLED:
            return NO_ANSWER
        if self.interruption is Interruption.STOPPED:
            raise stopping()
        if self.interruption is not None and self.limit is not None:
            result = self.limit.late_result(self.revision)
        return Answer(encode_response(self.id, result))

    def interrupt(self, why: Interruption) -> None:
        """Stop the request if it waits."""
        if self._task is not None and self.interruption is None:
            self.interruption = why
            self._task.cancel()

    def _begin_waiting(self) -> None:
        """Set up what only a request that waits needs: a way to stop it, and its time-out."""
        if self.subscription is None:
            self.peer.service.waiting += 1
        self._task = asyncio.current_task()
        if self.limit is not None and self.limit.timeout is not None:
            self._timer = asyncio.get_running_loop().call_later(
                self.limit.timeout, self.interrupt, Interruption.TIMED_OUT
            )
        self.peer.hold(self)

    def _end_waiting(self) -> None:
        """Take all that down again."""
        task, self._task = self._task, None
        self.peer.release(self)
        if self.progress is not None:
            self.progress.drop()
        if self.subscription is None:
            self.peer.service.waiting -= 1
        if self._timer is not None:
            self._timer.cancel()
        if self.interruption is not None and task is not None:
            task.uncancel()
