"""A request that came by HTTP: its revision from headers, its notifications onto the response."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Generator, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec

from anyshape.protocol.clients import NOTHING, Needs
from anyshape.protocol.headers import SESSION_HEADER
from anyshape.protocol.jsonrpc import Request
from anyshape.protocol.meta import PROTOCOL_VERSION
from anyshape.protocol.methods import INITIALIZE
from anyshape.protocol.revision import LATEST_HANDSHAKE, WITHOUT_HEADER, Revision
from anyshape.server.bodies import Receive
from anyshape.server.exchange import Exchange, Interruption
from anyshape.server.failures import http_status, missing_meta, unsupported_version
from anyshape.server.headers import RequestHeaders
from anyshape.server.parameters import InitializeParameters
from anyshape.server.response import EventStream, Send, dismiss, json_start, send_json

if TYPE_CHECKING:
    from anyshape.server.http import HttpApplication
    from anyshape.server.sessions import Session

__all__ = ["BatchExchange", "HttpExchange"]

_SESSION: Final = SESSION_HEADER.encode()

_PATIENCE: Final = 0.02
"""Seconds a call may wait before its connection is watched: most are done by then."""


_BRIEF: Final = 0.002
"""Seconds of a call that costs others little; the answer to any other has waited enough."""


@types.coroutine
def _next_turn() -> Generator[None]:
    """Wait until all that can run has run: see `HttpApplication.takes_turns`."""
    yield


class HttpExchange(Exchange):
    """One request in one POST, and the response to it.

    The response is JSON unless something has to be said before the answer, or the answer is so long
    in coming that an intermediary might give the connection up: then it is a stream.
    """

    transport = "tcp"

    stream: EventStream | None = None
    """The response, once it is a stream."""

    session: Session | None = None
    """The handshake that its session id recalls."""

    _given: tuple[tuple[bytes, bytes], ...] = ()
    """The headers of the response that only this request has."""

    _patience: asyncio.TimerHandle | None = None
    _silence: asyncio.TimerHandle | None = None
    _watch: asyncio.Task[None] | None = None

    def __init__(
        self,
        application: HttpApplication,
        headers: RequestHeaders,
        receive: Receive,
        respond: Send,
        accepted: tuple[bool, bool],
        id: bytes = b"",
        raw: bytes | None = None,
    ) -> None:
        self._began = monotonic()
        self.id = id
        self._raw = raw
        self.service = application.service
        self.headers = headers
        self._application = application
        self._receive = receive
        self._respond = respond
        self._takes_json, self.takes_stream = accepted

    def identify(self, id: bytes, parameters: msgspec.Raw | None) -> None:
        """Say which request this is, if it is no call that was read whole."""
        self.id = id
        self._raw = parameters
        self._path = ("_meta",)

    @property
    def client(self) -> Mapping[str, Any] | None:
        """What the client said of itself in the handshake that is recalled."""
        return None if self.session is None else self.session.client

    @property
    def needs(self) -> Needs:
        """What the client of that handshake is known to need."""
        return NOTHING if self.session is None else self.session.needs

    def recall(self) -> Session | None:
        """Return the handshake that the session id stands for, if any; raise if it is over."""
        assert self.headers is not None
        id = self.headers.get(_SESSION)
        if id is not None and self._application.session_ids is not None:
            self.session = self._application.session_ids.find(id)
        return self.session

    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Have the client remember the handshake."""
        ids = self._application.session_ids
        if ids is not None:
            info = parameters.client_info
            said = bytes(info) if isinstance(info, msgspec.Raw) else None
            self._given = ((_SESSION, ids.issue(revision, said)),)

    def assumed(self, method: str) -> Revision:
        """Return the revision of a body that names none: by the header, else by the handshake."""
        assert self.headers is not None
        version = self.headers.version
        # A new handshake does not depend on an old one.
        session = None if method == INITIALIZE else self.recall()
        if version is None:
            return WITHOUT_HEADER if session is None else session.revision
        revision = Revision.parse(version)
        if revision is None:
            raise unsupported_version(version)
        if not revision.is_modern:
            return revision
        if method == INITIALIZE:
            return LATEST_HANDSHAKE
        raise missing_meta(PROTOCOL_VERSION)

    def send(self, message: bytes) -> None:
        """Put a message on the response, for a client that takes a stream."""
        if self.takes_stream:
            self._open_stream().push(message)

    async def respond(self, answer: bytes | None) -> None:
        """Send the answer; `None` when nobody waits for it."""
        if self.stream is not None:
            await self.stream.finish(answer)
        elif answer is None:
            await dismiss(self._respond)
        elif self.failure is None and self._takes_json:
            if self._application.takes_turns and monotonic() - self._began < _BRIEF:
                await _next_turn()
            # As `send_json` does, without another coroutine.
            respond = self._respond
            await respond(json_start(200, answer, *self._given))
            await respond({"type": "http.response.body", "body": answer})
        else:
            status = 200 if self.failure is None else http_status(self.failure, self.revision)
            if self._takes_json:
                await send_json(self._respond, status, answer)
            else:
                await self._open_stream().finish(answer, status)

    def abandon(self) -> None:
        """Send nothing more."""
        if self.stream is not None:
            self.stream.abandon()

    def suspended(self) -> None:
        """Watch for the client going away, and for silence."""
        super().suspended()
        self._application.track(self)
        loop = asyncio.get_running_loop()
        if self.takes_stream and self.stream is None:
            self._silence = loop.call_later(self._application.keep_alive, self._break_silence)
        if self.revision.disconnect_cancels:
            self._patience = loop.call_later(_PATIENCE, self._start_watch)

    def settled(self) -> None:
        """Stop watching."""
        if self.waits:
            self._application.untrack(self)
            if self._patience is not None:
                self._patience.cancel()
            if self._silence is not None:
                self._silence.cancel()
            if self._watch is not None:
                self._watch.cancel()
        super().settled()

    def _open_stream(self) -> EventStream:
        if self.stream is None:
            self.stream = EventStream(self._respond, self._application.keep_alive, self._given)
        return self.stream

    def _break_silence(self) -> None:
        if self.stream is None:
            self._open_stream().break_silence()

    def _start_watch(self) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._await_disconnect())

    async def _await_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.interrupt(Interruption.CANCELLED)


class BatchExchange(HttpExchange):
    """One request of several in a POST; what it says goes onto the response they share."""

    batched = True
    _lead: HttpExchange

    @classmethod
    def of(cls, lead: HttpExchange, request: Request) -> BatchExchange:
        """Return the exchange of one request in the POST that `lead` stands for."""
        assert lead.headers is not None
        accepted = (lead._takes_json, lead.takes_stream)
        exchange = cls(lead._application, lead.headers, lead._receive, lead._respond, accepted)
        exchange.identify(request.id, request.params)
        exchange.access = lead.access
        exchange._lead = lead
        return exchange

    def send(self, message: bytes) -> None:
        """Put a message on the shared response."""
        self._lead.send(message)

    def suspended(self) -> None:
        """Set up what a request that waits needs, without a watch on the shared response."""
        Exchange.suspended(self)
        self._application.track(self)
