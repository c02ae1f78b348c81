"""One peer with whom messages are exchanged one by one: a pipe, or a client in the same process.

The handshake, where there is one, is scoped to the connection; everything else is scoped to the
request it belongs to.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

import msgspec

from anyshape.protocol.clients import NOTHING
from anyshape.protocol.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Batch,
    Malformed,
    Notification,
    Request,
    Response,
    encode_answer,
    encode_batch,
    encode_error,
    request_key,
)
from anyshape.protocol.meta import PROTOCOL_VERSION
from anyshape.protocol.methods import CANCELLED, INITIALIZE, INITIALIZED, PING, TOOLS_CALL
from anyshape.protocol.revision import LATEST_HANDSHAKE, Revision
from anyshape.protocol.salvage import salvage_id
from anyshape.resumption import start
from anyshape.server.batches import answer_requests
from anyshape.server.failures import missing_meta
from anyshape.server.features.announcements import Listener, Position, Topic
from anyshape.server.incoming import Call, read
from anyshape.server.lazy_object import LazyObject
from anyshape.server.lifespan import OpenLifespan
from anyshape.server.parameters import InitializeParameters, read_cancellation
from anyshape.server.peer import Peer
from anyshape.server.request import (
    IN_MESSAGE,
    IN_PARAMETERS,
    NO_ANSWER,
    Answer,
    Interruption,
    OpenRequest,
)
from anyshape.server.service import Service

if TYPE_CHECKING:
    from anyshape.server.asking.exchange import AnswerExchange, ExpectedAnswer

_log = logging.getLogger("anyshape.server")

_BEFORE_HANDSHAKE: Final = frozenset({INITIALIZE, PING})
_SHOWN: Final = 120


class Connection(Peer):
    """A peer: feed it frames with `handle`, and close it when the peer is gone.

    `send` is called, on the loop, with every message that is not the answer to a `handle`.
    `on_wait` is called when a message has to wait, before anything else runs; a caller that gives
    it handles messages one after another in shared tasks, so each request gets context variables of
    its own. With `opens`, the connection keeps the server's lifespan open from its first message
    until it is closed; a caller without it has seen to that already.
    """

    announces_closing = True
    tells_changes = True

    def __init__(
        self,
        service: Service,
        send: Callable[[bytes], None],
        *,
        on_wait: Callable[[], None] | None = None,
        opens: bool = False,
    ) -> None:
        self.service = service
        self._is_unopened = opens and service.lifespan.is_needed
        if self._is_unopened:
            service.lifespan.refuse_itself()
        self._opening: asyncio.Task[OpenLifespan | None] | None = None
        self._max_depth = service.options.max_message_depth
        self._max_batch = service.options.max_batch
        self._send = send
        self._on_wait = on_wait
        self.shares_task = on_wait is not None
        self.revision: Revision | None = None
        self.flights = self._flights = dict[bytes, OpenRequest]()
        self._batches: list[tuple[set[bytes], set[bytes]]] = []
        """Of each batch the keys of its requests, and of those that were cancelled unbegun."""
        self._landed: asyncio.Future[None] | None = None
        self._listener: Listener | None = None
        self._subscribed: dict[Topic, Listener] = {}
        self._closed = False
        self._is_congested = False
        self._exchange: AnswerExchange | None = None
        self._questions = 0

    @property
    def is_congested(self) -> bool:
        """Whether its transport says so."""
        return self._is_congested

    def mark_congested(self, is_congested: bool) -> None:
        """Know whether the peer is far behind in reading."""
        self._is_congested = is_congested

    @property
    def in_flight(self) -> int:
        """How many requests wait for something."""
        return len(self._flights)

    async def handle(self, frame: bytes) -> bytes | None:
        """Take one message, in a task, and return its answer, or `None` when it has none."""
        answer = self.receive(frame)
        return (answer if isinstance(answer, Answer) else await answer).message

    def begin(self, frame: bytes) -> bytes | Awaitable[bytes | None] | None:
        """Do as `handle`, up to where it first waits: the answer, or what to await for it."""
        answer = self.receive(frame)
        rest = answer if isinstance(answer, Answer) else start(answer)
        return rest.message if isinstance(rest, Answer) else _message_of(rest)

    def receive(self, frame: bytes) -> Answer | Coroutine[Any, Any, Answer]:
        """Take one message: its answer, or what has to be awaited for it."""
        if self._is_unopened:
            return self._open_and_receive(frame)
        message = read(frame, self._max_depth, self._max_batch)
        if isinstance(message, Call):
            request = OpenRequest(self, bytes(message.id), frame, IN_MESSAGE)
            return request.answer(TOOLS_CALL, message.params)
        if isinstance(message, Request):
            request = OpenRequest(self, message.id, message.params, IN_PARAMETERS)
            return request.answer(message.method, message.params)
        return self._take(message)

    async def _take(self, message: Notification | Response | Malformed | Batch) -> Answer:
        if isinstance(message, Notification):
            self._notice(message)
        elif isinstance(message, Malformed):
            return Answer(self._refuse(message))
        elif isinstance(message, Batch):
            return Answer(await self._answer_all(message))
        else:
            await self._deliver(message)
        return NO_ANSWER

    async def _deliver(self, response: Response) -> None:
        """Hand an answer to whoever asked; one that nobody waits for is dropped."""
        if self._exchange is not None and response.id is not None:
            await self._exchange.deliver(request_key(response.id).decode(), encode_answer(response))

    def oversized(self, start: bytes, end: bytes) -> bytes:
        """Return the answer to a message that was too long, of which these bytes were kept."""
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
        try:
            for topic in tuple(self._subscribed):
                await self.unsubscribe(topic)
            for flight in tuple(self._flights.values()):
                flight.interrupt(Interruption.CANCELLED)
            if self._flights:
                self._landed = asyncio.get_running_loop().create_future()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self.service.options.grace):
                        await self._landed
        finally:  # Whoever is cancelled here still keeps no lifespan open.
            await self._let_go()

    async def _let_go(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            if not opening.done():
                opening.cancel()
                await asyncio.wait([opening])
            if not opening.cancelled() and opening.exception() is None:
                await self.service.lifespan.give_back(opening.result())

    async def _open_and_receive(self, frame: bytes) -> Answer:
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
        return Answer(await self.handle(frame))

    def assumed_revision(self, method: str) -> Revision:
        """Return what the handshake has settled."""
        if method in _BEFORE_HANDSHAKE:
            return self.revision or LATEST_HANDSHAKE
        if self.revision is None:
            raise missing_meta(PROTOCOL_VERSION)
        return self.revision

    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Remember what the handshake has settled."""
        self.revision = revision
        info = parameters.client_info
        known = isinstance(info, msgspec.Raw)
        self.client = LazyObject(info) if known else None
        self.needs = self.service.clients.needs_of(bytes(info)) if known else NOTHING
        declared = parameters.capabilities
        self.capabilities = LazyObject(declared) if isinstance(declared, msgspec.Raw) else {}

    def send(self, message: bytes) -> None:
        """Send a message that is no answer."""
        if not self._closed:
            self._send(message)

    def expect_answer(self, request: OpenRequest) -> ExpectedAnswer:
        """Expect an answer under an id that no other question on this connection has."""
        from anyshape.server.asking.exchange import LocalExchange

        if self._exchange is None:
            self._exchange = LocalExchange()
        self._questions += 1
        id = b"%d" % self._questions
        return id, self._exchange.expect(id.decode())

    async def subscribe(self, topic: Topic) -> None:
        """Tell the peer of a topic until it is gone."""
        if topic in self._subscribed or self._closed:
            return
        self.service.check_topics(self._subscribed)
        self._subscribed[topic] = self.service.listeners.add((topic,), self._tell)

    async def unsubscribe(self, topic: Topic) -> None:
        """Tell it no more of that topic."""
        listener = self._subscribed.pop(topic, None)
        if listener is not None:
            self.service.listeners.remove(listener)

    def hold(self, request: OpenRequest) -> None:
        """Know a request that waits, so that it can be cancelled, and let others be handled."""
        self._flights[request.key] = request
        if self._on_wait is not None and not request.batched:
            self._on_wait()

    def release(self, request: OpenRequest) -> None:
        """Forget a request that no longer waits."""
        self._flights.pop(request.key, None)
        if not self._flights and self._landed is not None and not self._landed.done():
            self._landed.set_result(None)

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
            else:
                await self._deliver(message)
        if requests:
            answers += await self._answer_requests(requests)
        return encode_batch(answers) if answers else None

    async def _answer_requests(self, requests: list[Request]) -> list[bytes]:
        if self._on_wait is not None:
            self._on_wait()
        # They begin in the next turn of the loop, and may be cancelled before.
        unwanted: set[bytes] = set()
        batch = {request_key(request.id) for request in requests}, unwanted
        self._batches.append(batch)
        try:
            return await answer_requests(self, requests, unwanted)
        finally:
            self._batches = [other for other in self._batches if other is not batch]

    def _why_no_batch(self, batch: Batch) -> str:
        """Return what is wrong with a batch, from a peer whose revision has none."""
        spoken = self.revision
        for message in batch.messages:
            if spoken is None and isinstance(message, Request) and message.params is not None:
                named = LazyObject(message.params, "_meta").get(PROTOCOL_VERSION)
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
                topics = self.service.list_topics()
                self._listener = self.service.listeners.add(topics, self._tell)

    def _tell(self, topic: Topic, _position: Position) -> None:
        self.send(topic.message())

    def _cancel(self, notification: Notification) -> None:
        cancellation = read_cancellation(notification.params)
        if cancellation is None:
            return
        key, reason = cancellation
        flight = self._flights.get(key)
        if flight is None:
            for keys, unwanted in self._batches:
                if key in keys:
                    unwanted.add(key)
        else:
            _log.info(
                "request %.*s cancelled: %.*r",
                *(_SHOWN, ascii(flight.key.decode())[1:-1]),
                *(_SHOWN, reason),
            )
            flight.interrupt(Interruption.CANCELLED)


async def _message_of(answer: Awaitable[Answer]) -> bytes | None:
    return (await answer).message
