"""Whoever sent a POST: known by its headers and its session, reached by the response to it."""

from __future__ import annotations

import asyncio
import secrets
import types
from collections.abc import Awaitable, Generator
from time import monotonic
from typing import TYPE_CHECKING, Final

import msgspec

from anyshape.protocol.capabilities import abbreviate
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.headers import SESSION_HEADER
from anyshape.protocol.meta import PROTOCOL_VERSION
from anyshape.protocol.methods import INITIALIZE
from anyshape.protocol.revision import LATEST_HANDSHAKE, WITHOUT_HEADER, Revision
from anyshape.server.bodies import Receive, disconnected
from anyshape.server.failures import http_status, missing_meta, unsupported_version, untold
from anyshape.server.headers import RequestHeaders
from anyshape.server.lazy_object import LazyObject
from anyshape.server.parameters import InitializeParameters
from anyshape.server.peer import Peer
from anyshape.server.request import Answer, Interruption, OpenRequest
from anyshape.server.response import EventStream, Send, dismiss, json_start, send_json
from anyshape.server.whole_messages import write_answer

if TYPE_CHECKING:
    from anyshape.server.asking.exchange import ExpectedAnswer
    from anyshape.server.features.announcements import Topic
    from anyshape.server.http import HttpApplication
    from anyshape.server.sessions import Handshake
    from anyshape.server.streams.replies import ReplyStream

_SESSION: Final = SESSION_HEADER.lower().encode()

_PATIENCE: Final = 0.02
"""Seconds a request may wait before its connection is watched: most are done by then."""

_BRIEF: Final = 0.002
"""Seconds of work after which an answer is sent at once, without another turn of the loop."""


@types.coroutine
def _next_turn() -> Generator[None]:
    """Wait until all that can run has run: see `HttpApplication.takes_turns`."""
    yield


class HttpPeer(Peer):
    """Whoever sent one POST, with a request or several in it, and the response to it.

    The response is JSON unless something has to be said before the answer, or the answer is so long
    in coming that an intermediary might give the connection up: then it is a stream.
    """

    transport = "tcp"
    is_single_use = True

    request_headers: RequestHeaders
    """The headers of its POST."""

    stream: EventStream | ReplyStream | None = None
    """The response, once it is a stream."""

    handshake: Handshake | None = None
    """The handshake that its session id recalls."""

    _given: tuple[tuple[bytes, bytes], ...] = ()
    """The headers of the response that only this one has."""

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
    ) -> None:
        self._began = monotonic()
        self.service = application.service
        self.tells_changes = application.has_streams
        self.headers = self.request_headers = headers
        self._application = application
        self._receive = receive
        self._respond = respond
        self._takes_json, self.takes_stream = accepted

    def recall(self) -> Handshake | None:
        """Return the handshake that the session id stands for, if any; raise if it is over."""
        id = self.request_headers.get(_SESSION)
        if id is not None and self._application.session_ids is not None:
            self.handshake = session = self._application.session_ids.find(id, self.subject)
            if session is not None:
                self.client, self.needs, self.session_id = session.client, session.needs, id
                self.capabilities = session.capabilities
        return self.handshake

    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Have the client remember the handshake."""
        ids = self._application.session_ids
        if ids is not None:
            info = parameters.client_info
            said = bytes(info) if isinstance(info, msgspec.Raw) else None
            declared = parameters.capabilities
            able = abbreviate(LazyObject(declared)) if isinstance(declared, msgspec.Raw) else ""
            self._given = ((_SESSION, ids.issue(revision, said, able, self.subject)),)

    @property
    def is_congested(self) -> bool:
        """Whether its response has little room left, which is for questions then."""
        return self.stream is not None and self.stream.is_nearly_full

    async def subscribe(self, topic: Topic) -> None:
        """Have the session told of a topic.

        A server without streams tells nobody, and says so in its capabilities. It lets clients
        ask all the same: some do without looking.
        """
        streams = self._application.streams
        if streams is not None:
            if self.handshake is None:
                raise untold()
            await streams.subscribe(self.handshake.key, topic)

    async def unsubscribe(self, topic: Topic) -> None:
        """Tell the session no more of that topic."""
        streams = self._application.streams
        if streams is not None and self.handshake is not None:
            await streams.unsubscribe(self.handshake.key, topic)

    def assumed_revision(self, method: str) -> Revision:
        """Return the revision of a body that names none: by the header, else by the handshake."""
        version = self.request_headers.version
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

    def expect_answer(self, request: OpenRequest) -> ExpectedAnswer:
        """Expect an answer under an id that nobody can guess, from the session that is asked.

        A client that goes away, and cannot come back, has no way to answer: its request ends.
        """
        from anyshape.server.asking.exchange import answer_address

        is_lasting = self.takes_stream and not isinstance(self._open_stream(), EventStream)
        if self._watch is None and not request.batched and not is_lasting:
            self._start_watch(request)
        id = encode_data(secrets.token_urlsafe(16))
        return id, self._application.answers.expect(answer_address(self.session, id))

    @property
    def session(self) -> str:
        """What tells this session, and whoever is authorized in it, from all others."""
        id = self.request_headers.get(_SESSION, b"").decode("latin-1")
        return id if self.access is None else f"{id} {self.access.subject}"

    async def respond(self, answer: Answer | Awaitable[Answer], revision: Revision) -> None:
        """Send the answer to a request of that revision, once it is there."""
        if not isinstance(answer, Answer):
            answer = await answer
        message = answer.message
        self.takes_stream = False  # What comes behind the answer has no response to be said on.
        if self.stream is not None:
            await self.stream.finish(message)
        elif message is None:
            await dismiss(self._respond)
        elif answer.failure is None and self._takes_json:
            if self._application.takes_turns and monotonic() - self._began < _BRIEF:
                await _next_turn()
            respond = self._respond
            if not self._given and write_answer(respond, message):
                return
            # As `send_json` does, without another coroutine.
            await respond(json_start(200, message, *self._given))
            await respond({"type": "http.response.body", "body": message})
        else:
            failure = answer.failure
            status = 200 if failure is None else http_status(failure, revision)
            if self._takes_json:
                wait = None if failure is None else failure.retry_after
                advice = () if wait is None else ((b"retry-after", b"%d" % wait),)
                await send_json(self._respond, status, message, *advice)
            else:
                await self._open_stream().finish(message, status)

    def abandon(self) -> None:
        """Send nothing more."""
        self.takes_stream = False
        if self.stream is not None:
            self.stream.abandon()

    def hold(self, request: OpenRequest) -> None:
        """Know a request that waits; watch for the client going away, and for silence."""
        self._application.track(request)
        if request.batched:
            return
        keep_alive = self._application.keep_alive
        is_watched = request.revision.disconnect_cancels
        if is_watched:
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(_PATIENCE, self._lose_patience, request)
        if not is_watched or keep_alive <= _PATIENCE:
            self._await_silence(keep_alive)

    def release(self, request: OpenRequest) -> None:
        """Forget a request that no longer waits, and stop watching."""
        self._application.untrack(request)
        for watching in (self._patience, self._silence, self._watch):
            if watching is not None:
                watching.cancel()
        # They know this peer: what is not dropped here is left to the garbage collector.
        self._patience = self._silence = self._watch = None

    def _open_stream(self) -> EventStream | ReplyStream:
        if self.stream is None:
            response = EventStream(
                self._respond,
                self._application.keep_alive,
                self._application.stream_room,
                self._given,
            )
            session = self.handshake
            streams = None if session is None else self._application.streams
            if session is None or streams is None:
                self.stream = response
            else:
                revision = self.request_headers.revision or session.revision
                self.stream = streams.reply(session, revision, response)
        return self.stream

    def hang_up(self) -> None:
        """Close the connection, if the client can come back for the rest of the stream."""
        if self.takes_stream and self.handshake is not None:
            stream = self._open_stream()
            if not isinstance(stream, EventStream):
                stream.hang_up()

    def _lose_patience(self, request: OpenRequest) -> None:
        """Do what most requests are done too soon for, one timer for all of it."""
        self._start_watch(request)
        if self._application.keep_alive > _PATIENCE:
            self._await_silence(self._application.keep_alive - _PATIENCE)

    def _await_silence(self, seconds: float) -> None:
        if self.takes_stream and self.stream is None:
            loop = asyncio.get_running_loop()
            self._silence = loop.call_later(seconds, self._break_silence)

    def _break_silence(self) -> None:
        if self.stream is None:
            self._open_stream().break_silence()

    def _start_watch(self, request: OpenRequest) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._await_disconnect(request))

    async def _await_disconnect(self, request: OpenRequest) -> None:
        await disconnected(self._receive)
        request.interrupt(Interruption.CANCELLED)
