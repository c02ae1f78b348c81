"""Requests and their answers, over any transport.

Gives every request an id, a time limit and, where it is safe, a second chance; takes what the
server says in between to those it concerns.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from typing import Any, Final, TypeAlias, cast

import msgspec

from anyshape.client.answering import Answering
from anyshape.client.answers import LONG, protocol_error
from anyshape.client.deadlines import Deadlines
from anyshape.client.lifecycle import Lifecycle, open_request
from anyshape.client.options import Bounds
from anyshape.client.progress import Progress, read_progress
from anyshape.client.quoting import shorten
from anyshape.client.relay import Relay
from anyshape.client.request import ClientRequest, Outgoing
from anyshape.client.server_requests import ServerRequests
from anyshape.client.transports.transport import (
    ConnectionLost,
    Received,
    ServerMessage,
    SessionLost,
    Transport,
)
from anyshape.errors import LimitExceeded, TransportError
from anyshape.protocol.jsonrpc import INVALID_PARAMS, Request, Response, encode_error
from anyshape.protocol.meta import PROGRESS_KEY
from anyshape.protocol.methods import CANCELLED, PROGRESS
from anyshape.protocol.nesting import has_too_many_parts
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult
from anyshape.schema import aside

logger = logging.getLogger(__name__)

_MOMENT: Final = 0.5
"""Seconds of closing for what the server is told last."""

Result: TypeAlias = msgspec.Raw | OrdinaryResult
"""The `result` member of an answer: as text, or read already where a call has an ordinary one."""


def not_open() -> TransportError:
    """Return the exception for a client that is used before or after its time."""
    return TransportError("the client is not open; use it in `async with Client(…)`")


def pause_after(losses: int) -> float:
    """Return how many seconds to wait after so many losses in a row."""
    return 0.05 * 4 ** (losses - 1)


class NoAnswer(TransportError):
    """A server was silent for longer than the caller would wait."""


class Channel:
    """Everything that is asked of one server; `lifecycle` is there once it was agreed."""

    def __init__(
        self, transport: Transport, bounds: Bounds, answering: Answering, deadlines: Deadlines
    ) -> None:
        self.transport = transport
        self.bounds = bounds
        self.answering = answering
        self.lifecycle: Lifecycle | None = None
        self.reopen: Callable[[], Awaitable[None]] | None = None
        self._ids = itertools.count(1)
        self._hearers: dict[str, list[Callable[[msgspec.Raw | None], None]]] = {}
        self.deadlines = deadlines
        self._requests = ServerRequests(transport, answering, bounds, deadlines)
        self._relays: dict[int | str, Relay[Progress]] = {}
        self._context = copy_context()
        self._recovery: asyncio.Task[None] | None = None
        self._partings: set[asyncio.Task[None]] = set()
        self._is_agreed = True
        """Whether what was agreed on holds; not while a server that knows nothing of it is told."""
        self._generation = 0
        """How often that was done."""

    async def open(self) -> None:
        """Open the transport."""
        self._is_agreed = True
        self._context = copy_context()
        await self.transport.open(self._hear)

    async def close(self) -> None:
        """Close the transport."""
        try:
            await self._requests.close()
        finally:
            await self.transport.close()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start what belongs to the connection, and not to the call that happens to need it first.

        What a server asks on a stream is heard in the context in which that was opened: in that of
        one call, the questions of all others would be taken for its own.
        """
        return asyncio.get_running_loop().create_task(work, context=self._context.copy())

    def part(self, work: Coroutine[Any, Any, None]) -> None:
        """Tell the server something that nobody waits for any more, until the client closes."""
        parting = self.spawn(work)
        self._partings.add(parting)
        parting.add_done_callback(self._partings.discard)

    async def end_partings(self) -> None:
        """Give what is being told a moment to arrive, and let the rest be."""
        if self._partings:
            _, late = await asyncio.wait(self._partings, timeout=_MOMENT)
            for parting in late:
                parting.cancel()

    def on(self, method: str, hear: Callable[[msgspec.Raw | None], None]) -> None:
        """Have a function called with the parameters of every such notification."""
        self._hearers.setdefault(method, []).append(hear)

    def next_id(self) -> int:
        """Return an id for a request that has to be known before it is sent."""
        return next(self._ids)

    async def ask(
        self,
        lifecycle: Lifecycle,
        request: ClientRequest,
        *,
        cancellable: bool = True,
        endless: bool = False,
        id: int | None = None,
    ) -> msgspec.Raw:
        """Send one request, once, and return its result; only calls have another kind."""
        answer = self._send(lifecycle, request, cancellable, endless, id)
        result = self._read(answer if isinstance(answer, Received) else await answer)
        return cast("msgspec.Raw", result if isinstance(result, Result) else await result)

    def begin(
        self, request: ClientRequest, timeout: float | None
    ) -> Result | Coroutine[Any, Any, Result]:
        """Send a request, again where that is safe; return its result, or what waits for it.

        Waiting is bounded by `timeout`, in seconds. A server in memory answers most calls without
        waiting for anything, and a timer for each of them would cost more than all the rest.
        """
        answer = (
            self._send(self.agreed(), request)
            if self._is_agreed
            else self._recover_and_send(request)
        )
        if isinstance(answer, Received):
            return self._read(answer)
        return self._wait(request, answer, timeout)

    async def request(self, request: ClientRequest, timeout: float | None) -> Result:
        """Send a request within `timeout` seconds, again where that is safe."""
        result = self.begin(request, timeout)
        return result if isinstance(result, Result) else await result

    def _send(
        self,
        lifecycle: Lifecycle,
        request: ClientRequest,
        cancellable: bool = True,
        endless: bool = False,
        id: int | None = None,
    ) -> Received | Coroutine[Any, Any, Received]:
        id = id or next(self._ids)
        meta, on_progress = request.meta, request.on_progress
        if on_progress is not None:
            meta = b'"%b":%d%b' % (PROGRESS_KEY.encode(), id, b"," + meta if meta else b"")
        opening = request.opening or open_request(request.method)
        frame = lifecycle.frame(id, opening, request.members, meta)
        may_tell = cancellable and lifecycle.hears_cancellation
        outgoing = Outgoing(id, frame, request, lifecycle, may_tell, endless)
        if on_progress is None:
            return self.transport.request(outgoing)
        return self._send_and_relay(outgoing, Relay(on_progress, "progress"))

    async def _send_and_relay(self, outgoing: Outgoing, relay: Relay[Progress]) -> Received:
        self._relays[outgoing.id] = relay
        try:
            answer = self.transport.request(outgoing)
            if not isinstance(answer, Received):
                answer = await answer
            await relay.finish()
            return answer
        finally:
            relay.abandon()
            del self._relays[outgoing.id]

    def _read(self, answer: Received) -> Result | Coroutine[Any, Any, Result]:
        """Return the result of an answer, or raise its error; a long error is read aside."""
        if isinstance(answer, OrdinaryResult):
            return answer
        if answer.error is not None and memoryview(answer.error).nbytes > LONG:
            return aside(self._result_of, answer)
        return self._result_of(answer)

    def _result_of(self, answer: Response) -> msgspec.Raw:
        if self._has_too_many_parts(answer.result or answer.error):
            most = self.bounds.max_parts
            raise LimitExceeded(
                f"{self.transport.place} answered with more than {most} arrays, objects and "
                "members, or four times as many texts; Client(bounds=Bounds(max_parts=…)) allows "
                "more",
                limit="max_parts",
                allowed=most,
            )
        if answer.result is not None:
            return answer.result
        raise protocol_error(answer.error, self.bounds.max_depth)

    def _has_too_many_parts(self, raw: msgspec.Raw | None) -> bool:
        """Tell whether to make Python values of that would take too long, and too much room."""
        most = self.bounds.max_parts
        if raw is None or memoryview(raw).nbytes <= most:
            return False
        return has_too_many_parts(bytes(raw), most)

    async def _wait(
        self, request: ClientRequest, attempt: Coroutine[Any, Any, Received], timeout: float | None
    ) -> Result:
        try:
            with self.deadlines.limit(timeout):
                result = self._read(await self._persist(request, attempt))
                return result if isinstance(result, Result) else await result
        except TimeoutError as error:
            raise self.silence(request, timeout) from error
        finally:
            self._requests.forget_count()

    async def _persist(
        self, request: ClientRequest, attempt: Received | Coroutine[Any, Any, Received]
    ) -> Received:
        """Return what an attempt gives; make others after losses that allow it."""
        losses = 0
        while True:
            generation = self._generation
            try:
                return attempt if isinstance(attempt, Received) else await attempt
            except ConnectionLost as error:
                losses += 1
                if losses > self.transport.attempts or (error.sent and not request.repeatable):
                    raise
                if self.lifecycle is None:  # closed meanwhile
                    raise
                await self.recover()
                if generation == self._generation:
                    await asyncio.sleep(pause_after(losses))
            except SessionLost:
                # The server refused the request unread: repeating it is always safe.
                losses += 1
                if losses > 1:
                    raise
                if generation == self._generation:
                    self._is_agreed = False
                await self.recover()
            attempt = self._send(self.agreed(), request)

    def agreed(self) -> Lifecycle:
        """Return the lifecycle, or say that there is none yet."""
        if self.lifecycle is None:
            raise not_open()
        return self.lifecycle

    def silence(self, request: ClientRequest, timeout: float | None) -> NoAnswer:
        """Return the exception for a request that nobody answered in time."""
        what = request.method
        if request.name is not None:
            what += f" {shorten(request.name, 60)!r}"
        place, more = self.transport.place, self.transport.explain_silence()
        return NoAnswer(f"{place} gave no answer to {what} within {timeout:g} s{more}")

    # After a loss.

    async def recover(self) -> None:
        """Get ready to send, and agree again with a server that starts anew.

        All who need that wait for one task, which none of them takes along when it is given up:
        half a handshake would leave the others a server that was never greeted.
        """
        self.agreed()
        recovery = self._recovery
        if recovery is None or recovery.done():
            recovery = self.spawn(self._agree_again())
            recovery.add_done_callback(_retrieve)
            self._recovery = recovery
        try:
            await asyncio.shield(recovery)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if recovery.cancelled() and task is not None and not task.cancelling():
                raise not_open() from None  # `close` gives up the recovery, and nobody else
            raise

    async def give_up_recovery(self) -> None:
        """Let a server that starts anew be: nothing more is to be asked of it."""
        recovery, self._recovery = self._recovery, None
        if recovery is not None:
            recovery.cancel()
            await asyncio.gather(recovery, return_exceptions=True)

    async def _agree_again(self) -> None:
        if await self.transport.revive():
            self._is_agreed = False
        if not self._is_agreed and self.reopen is not None:
            await self.reopen()
            self._generation += 1
            self._is_agreed = True

    async def _recover_and_send(self, request: ClientRequest) -> Received:
        """Send a request as soon as the server was agreed with again."""
        await self.recover()
        answer = self._send(self.agreed(), request)
        return answer if isinstance(answer, Received) else await answer

    # What the server says on its own.

    def _hear(self, message: ServerMessage) -> bytes | None:
        if self._has_too_many_parts(message.params):
            reason = f"more than {self.bounds.max_parts} arrays, objects and members, or texts"
            logger.warning(
                "%s sent %s with %s", self.transport.place, shorten(message.method, 60), reason
            )
            if isinstance(message, Request):
                return encode_error(message.id, INVALID_PARAMS, f"Invalid params: {reason}")
            return None
        if isinstance(message, Request):
            return self._take_request(message)
        if message.params is not None and memoryview(message.params).nbytes > LONG:
            logger.warning(
                "%s sent %s of more than %d bytes",
                *(self.transport.place, shorten(message.method, 60), LONG),
            )
            return None
        if message.method == PROGRESS:
            report = read_progress(message.params)
            relay = self._relays.get(report[0]) if report is not None else None
            if report is not None and relay is not None:
                relay.take(report[1])
        elif message.method == CANCELLED:
            self._requests.cancel(message.params)
        for hear in self._hearers.get(message.method, ()):
            hear(message.params)
        return None

    def _take_request(self, message: Request) -> bytes | None:
        """Answer a server's request; only those with a handshake may send any.

        Before anything is agreed, whoever asks is one of those: some ping before they answer
        `initialize`, which every revision with a handshake allows.
        """
        lifecycle = self.lifecycle
        if lifecycle is not None and not lifecycle.stateful:
            return None
        return self._requests.take(message, {} if lifecycle is None else lifecycle.headers(""))


def _retrieve(recovery: asyncio.Task[None]) -> None:
    """Have nobody complain of a failure that all who waited for it have given up."""
    if not recovery.cancelled():
        recovery.exception()
