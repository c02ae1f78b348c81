"""One peer with whom messages are exchanged one by one: a pipe, or a client in the same process.

The handshake, where there is one, is scoped to the connection; everything else is scoped to the
request it belongs to.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from anyshape.protocol.clients import NOTHING, Needs
from anyshape.protocol.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Batch,
    Malformed,
    Notification,
    Request,
    encode_batch,
    encode_error,
    request_key,
)
from anyshape.protocol.meta import PROTOCOL_VERSION
from anyshape.protocol.methods import CANCELLED, INITIALIZE, INITIALIZED, PING, TOOLS_CALL
from anyshape.protocol.revision import LATEST_HANDSHAKE, Revision
from anyshape.protocol.salvage import salvage_id
from anyshape.server.batches import Answer, answer_requests
from anyshape.server.dispatch import dispatch
from anyshape.server.exchange import Exchange, Interruption
from anyshape.server.failures import missing_meta
from anyshape.server.features.announcements import Listener, Topic
from anyshape.server.incoming import Call, read
from anyshape.server.lifespan import Lease
from anyshape.server.parameters import CancelledParameters, InitializeParameters
from anyshape.server.raw_object import RawObject
from anyshape.server.service import Service

__all__ = ["Connection"]

_log = logging.getLogger("anyshape.server")

_decode_cancelled = msgspec.json.Decoder(CancelledParameters).decode
_BEFORE_HANDSHAKE: Final = frozenset({INITIALIZE, PING})
_SHOWN: Final = 120


class Connection:
    """A peer: feed it frames with `handle`, and close it when the peer is gone.

    `send` is called, on the loop, with every message that is not the answer to a `handle`.
    `suspended` is called when a request has to wait, before anything else runs; a caller that gives
    it handles messages one after another in shared tasks, so each call gets context variables of
    its own. With `opens`, the connection keeps the server's lifespan open from its first message
    until it is closed; a caller without it has seen to that already.
    """

    def __init__(
        self,
        service: Service,
        send: Callable[[bytes], None],
        *,
        suspended: Callable[[], None] | None = None,
        opens: bool = False,
    ) -> None:
        self.service = service
        self._is_unopened = opens and service.lifespan.is_needed
        self._opening: asyncio.Task[Lease] | None = None
        self.is_congested = False
        """Whether the peer is far behind in reading; whoever carries its messages says so."""
        self._max_depth = service.options.max_message_depth
        self._max_batch = service.options.max_batch
        self.send = send
        self.suspended = suspended
        self.revision: Revision | None = None
        self.client: Mapping[str, Any] | None = None
        self.needs = NOTHING
        self._flights: dict[bytes, PipeExchange] = {}
        self._batches: list[dict[bytes, set[bytes]]] = []
        """For each batch its requests, and where to put those that are cancelled before they begin.
        """
        self._landed: asyncio.Future[None] | None = None
        self._listener: Listener | None = None
        self._closed = False

    @property
    def in_flight(self) -> int:
        """How many requests wait for something."""
        return len(self._flights)

    async def handle(self, frame: bytes) -> bytes | None:
        """Take one message and return its answer, or `None` when it has none."""
        answer = self.begin(frame)
        return answer if answer is None or isinstance(answer, bytes) else await answer

    def begin(self, frame: bytes) -> Answer:
        """Take one message, in a task: its answer, or what to await for it in the same task."""
        if self._is_unopened:
            return self._open_and_handle(frame)
        message = read(frame, self._max_depth, self._max_batch)
        if isinstance(message, Call):
            id = bytes(message.id)
            if self._flights and request_key(id) in self._flights:
                return _refuse_duplicate(id)
            exchange = PipeExchange(self, id, frame)
            return dispatch(TOOLS_CALL, message.params, exchange)
        if isinstance(message, Request):
            return self._answer(message)
        if isinstance(message, Notification):
            self._notice(message)
            return None
        if isinstance(message, Malformed):
            return self._refuse(message)
        if isinstance(message, Batch):
            return self._answer_all(message)
        return None  # A response: we ask nothing of clients, so there is nothing it could answer.

    def oversized(self, start: bytes, end: bytes) -> bytes:
        """Return the answer to a message that was longer than allowed: how it starts and ends."""
        limit = self.service.options.max_message_bytes
        return self._refuse(
            Malformed(
                PARSE_ERROR,
                f"Parse error: the message is longer than {limit} bytes",
                salvage_id(start, end),
            )
        )

    def end_subscriptions(self) -> None:
        """End the subscriptions of this peer gracefully."""
        for flight in self._flights.values():
            if flight.subscription is not None and not flight.subscription.done():
                flight.subscription.set_result(None)

    async def close(self) -> None:
        """Cancel what is in flight; the peer is told nothing more."""
        self._closed = True
        if self._listener is not None:
            self.service.listeners.remove(self._listener)
            self._listener = None
        for flight in tuple(self._flights.values()):
            flight.interrupt(Interruption.CANCELLED)
        if self._flights:
            self._landed = asyncio.get_running_loop().create_future()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._landed, self.service.options.grace)
        opening, self._opening = self._opening, None
        if opening is not None:
            if not opening.done():
                opening.cancel()
                await asyncio.wait([opening])
            if not opening.cancelled() and opening.exception() is None:
                await opening.result().release()

    async def _open_and_handle(self, frame: bytes) -> bytes | None:
        if self._opening is None:
            acquiring = self.service.lifespan.acquire()
            self._opening = asyncio.get_running_loop().create_task(acquiring)
        opening = self._opening
        try:
            await asyncio.shield(opening)
        except BaseException:
            if opening.done() and self._opening is opening:
                self._opening = None
            raise
        self._is_unopened = False
        return await self.handle(frame)

    def greeted(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Remember what the handshake has settled."""
        self.revision = revision
        info = parameters.client_info
        self.client = RawObject(info) if isinstance(info, msgspec.Raw) else None
        self.needs = (
            self.service.clients.needs_of(bytes(info)) if isinstance(info, msgspec.Raw) else NOTHING
        )

    def track(self, flight: PipeExchange) -> None:
        """Know a request that waits, so that it can be cancelled."""
        self._flights[flight.key] = flight
        if self.suspended is not None and not flight.batched:
            self.suspended()

    def untrack(self, flight: PipeExchange) -> None:
        """Forget a request that no longer waits."""
        self._flights.pop(flight.key, None)
        if not self._flights and self._landed is not None and not self._landed.done():
            self._landed.set_result(None)

    def _answer(self, request: Request, *, batched: bool = False) -> Answer:
        if self._flights and request_key(request.id) in self._flights:
            return _refuse_duplicate(request.id)
        exchange = PipeExchange(self, request.id, request.params)
        if batched:
            exchange.batched = True
        return dispatch(request.method, request.params, exchange)

    async def _answer_all(self, batch: Batch) -> bytes | None:
        if self.revision is None or not self.revision.has_batches:
            return self._refuse(Malformed(INVALID_REQUEST, self._why_no_batch(batch)))
        answers: list[bytes] = []
        requests: list[Request] = []
        for message in batch.messages:
            if isinstance(message, Request):
                requests.append(message)
            elif isinstance(message, Notification):
                self._notice(message)
            elif isinstance(message, Malformed):
                answers.append(self._refuse(message))
        if requests:
            answers += await self._answer_requests(requests)
        return encode_batch(answers) if answers else None

    async def _answer_requests(self, requests: list[Request]) -> list[bytes]:
        if self.suspended is not None:
            self.suspended()
        # They begin in the next turn of the loop, and may be cancelled before.
        unwanted: set[bytes] = set()
        keys = {request_key(request.id): unwanted for request in requests}
        self._batches.append(keys)

        def begin(request: Request) -> Answer:
            if unwanted and request_key(request.id) in unwanted:
                return None
            return self._answer(request, batched=True)

        try:
            return await answer_requests(requests, begin, self.service.options.max_batch_bytes)
        finally:
            self._batches = [other for other in self._batches if other is not keys]

    def _why_no_batch(self, batch: Batch) -> str:
        """Return what is wrong with a batch, from a peer whose revision has none."""
        spoken = self.revision
        for message in batch.messages:
            if spoken is None and isinstance(message, Request) and message.params is not None:
                named = RawObject(message.params, "_meta").get(PROTOCOL_VERSION)
                spoken = Revision.parse(named) if isinstance(named, str) else None
        if spoken is None:
            return "Invalid Request: a batch before any handshake"
        return f"Invalid Request: revision {spoken} has no batches"

    def _refuse(self, flaw: Malformed) -> bytes:
        null_id = self.revision is not None and not self.revision.omits_unknown_id
        return encode_error(flaw.id, flaw.code, flaw.message, null_id=null_id)

    def _notice(self, notification: Notification) -> None:
        """Act on a notification; one we do not know, or cannot read, is ignored."""
        if notification.method == CANCELLED:
            self._cancel(notification)
        elif notification.method == INITIALIZED:
            greeted = self.revision is not None and not self._closed
            if greeted and self._listener is None:
                topics = [
                    topic for feature in self.service.features for topic in feature.changes.values()
                ]
                self._listener = self.service.listeners.add(topics, self._tell)

    def _tell(self, topic: Topic) -> None:
        self.send(topic.message())

    def _cancel(self, notification: Notification) -> None:
        try:
            parameters = _decode_cancelled(notification.params or b"")
            key = request_key(bytes(parameters.request_id))
        except (msgspec.DecodeError, ValueError):
            return
        flight = self._flights.get(key)
        if flight is None:
            for batch in self._batches:
                if key in batch:
                    batch[key].add(key)
        else:
            _log.info(
                "request %.*s cancelled: %.*r",
                *(_SHOWN, flight.key.decode()),
                *(_SHOWN, parameters.reason or ""),
            )
            flight.interrupt(Interruption.CANCELLED)


def _refuse_duplicate(id: bytes) -> bytes:
    return encode_error(
        id, INVALID_REQUEST, "Invalid Request: a request with this id is still in flight"
    )


class PipeExchange(Exchange):
    """A request on a connection."""

    tells_changes = True
    announces_closing = True

    def __init__(self, connection: Connection, id: bytes, raw: bytes | msgspec.Raw | None) -> None:
        self.service = connection.service
        self.id = id
        self._raw = raw
        if not isinstance(raw, bytes):
            self._path = ("_meta",)
        self._connection = connection
        self.shares_task = connection.suspended is not None

    @property
    def key(self) -> bytes:
        """What the request is known by while it is in flight."""
        return request_key(self.id)

    @property
    def client(self) -> Mapping[str, Any] | None:
        return self._connection.client

    @property
    def needs(self) -> Needs:
        return self._connection.needs

    def assumed(self, method: str) -> Revision:
        revision = self._connection.revision
        if method in _BEFORE_HANDSHAKE:
            return revision or LATEST_HANDSHAKE
        if revision is None:
            raise missing_meta(PROTOCOL_VERSION)
        return revision

    def send(self, message: bytes) -> None:
        self._connection.send(message)

    @property
    def is_pressed(self) -> bool:
        # Progress that will be overtaken before it is read is not worth the room it would wait in.
        return self._connection.is_congested

    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        self._connection.greeted(revision, parameters)

    def suspended(self) -> None:
        super().suspended()
        self._connection.track(self)

    def settled(self) -> None:
        if self._task is not None:
            self._connection.untrack(self)
        super().settled()
