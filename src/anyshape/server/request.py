"""One request, from its arrival to its answer.

Whatever answers a request is an ordinary coroutine. Most of them end without waiting for anything,
and for those a task, a time-out and an entry to be cancelled by are pure cost. So
`OpenRequest.answer` runs the first step by hand, and only if that has to wait does it set these up.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import UNSET

from anyshape.errors import AskError, ProtocolError
from anyshape.protocol.jsonrpc import encode_error, encode_response, request_key
from anyshape.protocol.meta import CLIENT_INFO
from anyshape.protocol.revision import LATEST, Revision
from anyshape.resumption import Resumed, start
from anyshape.server.dispatch import dispatch
from anyshape.server.failures import Failure, duplicate_id, stopping, translate
from anyshape.server.lazy_object import LazyObject
from anyshape.tools.context import Unanswered
from anyshape.tools.routine import ends_the_process

if TYPE_CHECKING:
    from anyshape.server.asking.rounds import RoundAsker
    from anyshape.server.features.tools import OfferedTool
    from anyshape.server.parameters import CallParameters, RoundParameters
    from anyshape.server.peer import Peer
    from anyshape.server.progress import ProgressReports
    from anyshape.server.request_log import RequestLog
    from anyshape.tools.asking import Asker
    from anyshape.tools.deadline import Interruptible

IN_MESSAGE: Final = ("params", "_meta")
IN_PARAMETERS: Final = ("_meta",)
"""Where `_meta` is, in a whole message and in its parameters."""


class Answer(msgspec.Struct, gc=False, frozen=True):
    """What goes back for a request: a message, unless nobody wants it any more.

    `failure` is what the message says, if that is an error.
    """

    message: bytes | None
    failure: Failure | None = None


NO_ANSWER: Final = Answer(None)


class Interruption(enum.Enum):
    """Why a request that waits was stopped."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    STOPPED = "stopped"
    """The server ends, and somebody still waits for the answer."""


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
    revision: Revision = LATEST
    """What it is answered at; the newest as long as that is not settled."""
    limit: OfferedTool | None = None
    """What is called, which limits how long that may take, and answers then."""
    progress: ProgressReports | None = None
    log: RequestLog | None = None
    subscription: asyncio.Future[None] | None = None
    """What ends it, if it is a subscription."""
    interruption: Interruption | None = None
    _task: asyncio.Task[Any] | None = None
    _timer: asyncio.TimerHandle | None = None
    _left: float | None = None
    _pauses: int = 0
    _rounds: RoundParameters | None = None
    _asker: RoundAsker | None = None
    _is_counted: bool = False

    @property
    def key(self) -> bytes:
        """What it is known by while it waits: ids that are equal as JSON have the same."""
        return request_key(self.id)

    @property
    def meta(self) -> Mapping[str, Any]:
        """Its `_meta`, read when somebody looks."""
        return {} if self.source is None else LazyObject(self.source, *self.path)

    @property
    def server_info(self) -> bytes:
        """What its answer says of this server, as JSON text."""
        return self.peer.service.server_info(self.revision)

    @property
    def client(self) -> Mapping[str, Any] | None:
        """What its client says of itself, in it or in a handshake."""
        info = self.meta.get(CLIENT_INFO)
        return cast("Mapping[str, Any]", info) if isinstance(info, dict) else self.peer.client

    def answer(
        self, method: str, parameters: CallParameters | msgspec.Raw | None
    ) -> Answer | Coroutine[Any, Any, Answer]:
        """Return the answer to this request, or what to await for it; errors are answers, too."""
        peer = self.peer
        try:
            if peer.flights and self.key in peer.flights:
                raise duplicate_id()
            handling = dispatch(self, method, parameters)
            result = start(handling, copy_context() if peer.shares_task else None)
        except BaseException as error:
            return self._explain(_reason_in(error), method)
        if isinstance(result, bytes):
            return Answer(encode_response(self.id, result))
        return self._wait(result, method)

    def _explain(self, error: Exception | Unanswered, method: str) -> Answer:
        """Return the answer to a request that has no result: a question, or an error."""
        if isinstance(error, Unanswered):
            try:
                return Answer(encode_response(self.id, self.ask_back()))
            except Exception as unaskable:
                error = unaskable
        return self._fail(translate(error, method), method)

    def _fail(self, failure: Failure, method: str) -> Answer:
        """Return the answer that says so; an error of an author's may hold what is no JSON."""
        try:
            message = encode_error(self.id, failure.code, failure.message, failure.data)
        except (TypeError, ValueError, RecursionError) as error:
            unwritable = TypeError(f"the error cannot be written: {error}")
            return self._fail(translate(unwritable, method), method)
        return Answer(message, failure)

    async def _wait(self, rest: Resumed[bytes], method: str) -> Answer:
        """Return the answer that the rest of a handler gives, or what stops it."""
        result = b""
        try:
            self._begin_waiting()
            is_ours = self.peer.shares_task or self.batched
            if not is_ours:
                rest.task = self._task
            try:
                result = await rest
            except asyncio.CancelledError as error:
                if self.interruption is None:
                    # A task of ours would be interrupted: whoever is called has cancelled it.
                    if not is_ours:
                        if self._task is None or not rest.has_cancelled_itself:
                            raise
                        self._task.uncancel()
                    raise RuntimeError("a request has cancelled its own task") from error
            finally:
                self._end_waiting()
            if self.interruption is Interruption.CANCELLED:
                return NO_ANSWER
            if self.interruption is Interruption.STOPPED:
                raise stopping()
            if self.interruption is not None and self.limit is not None:
                result = self.limit.late_result(self.revision)
        except BaseException as error:
            return self._explain(_reason_in(error), method)
        return Answer(encode_response(self.id, result))

    def interrupt(self, why: Interruption) -> None:
        """Stop the request if it waits."""
        if self._task is not None and self.interruption is None:
            self.interruption = why
            self._task.cancel()

    def open_rounds(self, parameters: RoundParameters) -> None:
        """Have whoever answers this able to ask; raise if what it brings to that cannot be used."""
        self._rounds, self._asker = parameters, None
        if parameters.request_state is UNSET and parameters.input_responses is UNSET:
            return
        if self.revision.asks_in_results:
            self._open_asker(parameters)

    def find_asker(self, call: Interruptible) -> Asker:
        """Return what asks the peer something on behalf of a call."""
        if self._rounds is not None and self.revision.asks_in_results:
            try:
                return self._asker or self._open_asker(self._rounds)
            except ProtocolError as refusal:
                raise AskError(refusal.message, refusal=refusal) from refusal
        from anyshape.server.asking.handshake import HandshakeAsker

        return HandshakeAsker(self, call)

    @property
    def earlier_questions(self) -> tuple[str, ...]:
        """The keys of what was asked in earlier rounds of this request."""
        return () if self._asker is None else self._asker.earlier

    def _open_asker(self, parameters: RoundParameters) -> RoundAsker:
        from anyshape.server.asking.rounds import RoundAsker

        self._asker = RoundAsker(self, parameters)
        return self._asker

    def ask_back(self) -> bytes:
        """Return the result that asks for what has no answer yet."""
        return b"" if self._asker is None else self._asker.result()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Have the time limit wait until all who have paused it are done."""
        self._pauses += 1
        if self._timer is not None:
            self._left = self._timer.when() - asyncio.get_running_loop().time()
            self._timer.cancel()
            self._timer = None
        try:
            yield
        finally:
            self._pauses -= 1
            self._wind_timer()

    def _wind_timer(self) -> None:
        if self._left is not None and not self._pauses and self._task is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._left, self.interrupt, Interruption.TIMED_OUT)

    def begin(self, handling: Coroutine[Any, Any, bytes]) -> bytes | Awaitable[bytes]:
        """Run a handler until it first waits, behind layers that may have waited before it.

        What they waited takes neither room nor time of the call, so both count from here on.
        """
        if self._is_counted:
            self._uncount()
        rest = start(handling)
        if self._task is not None and not isinstance(rest, bytes):
            self._count()
        return rest

    def _begin_waiting(self) -> None:
        """Set up what only a request that waits needs: a way to stop it, and its time-out."""
        self._task = asyncio.current_task()
        self._count()
        self.peer.hold(self)

    def _count(self) -> None:
        """Count a call that waits, and let its time run."""
        if self.subscription is None:
            self._is_counted = True
            self.peer.service.waiting += 1
        if self._timer is None and self.limit is not None:
            self._left = self.limit.timeout
            self._wind_timer()

    def _uncount(self) -> None:
        self._is_counted = False
        self.peer.service.waiting -= 1

    def _end_waiting(self) -> None:
        """Take all that down again."""
        task, self._task = self._task, None
        self.peer.release(self)
        if self.progress is not None:
            self.progress.drop()
        if self.log is not None:
            self.log.close()
        if self._is_counted:
            self._uncount()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.interruption is not None and task is not None:
            task.uncancel()


def _reason_in(error: BaseException) -> Exception | Unanswered:
    """Return why a handler has no result; raise what is to end whoever awaits it, too.

    An author's middleware or validator may raise what ends programs, which ends a request only.
    """
    if isinstance(error, Exception | Unanswered):
        return error
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        ends = task is None or task.cancelling() > 0
    else:
        ends = isinstance(error, GeneratorExit) or ends_the_process(error)
    if ends:
        raise error
    reason = RuntimeError(f"it raised {type(error).__name__}")
    reason.__cause__ = error
    return reason
