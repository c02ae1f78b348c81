"""GET and DELETE at the endpoint: listen to what concerns a session, and end it.

See "Listening for Messages from the Server" and "Session Management" under "Transports" of revision
2025-11-25.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from anyshape.errors import ProtocolError
from anyshape.protocol.headers import LAST_EVENT_HEADER
from anyshape.protocol.jsonrpc import INVALID_REQUEST, Notification
from anyshape.protocol.revision import Revision
from anyshape.server.admission import admit
from anyshape.server.bodies import Receive, disconnected
from anyshape.server.failures import unsupported_version
from anyshape.server.features.announcements import Topic
from anyshape.server.http_options import Streams
from anyshape.server.http_peer import HttpPeer
from anyshape.server.parameters import read_cancellation
from anyshape.server.request import Interruption
from anyshape.server.response import EventStream, Send, accept, refuse, send_error
from anyshape.server.streams.event_ids import (
    ReplyId,
    is_of_session,
    read_event_id,
    sealed_stream,
)
from anyshape.server.streams.replies import Archive, ReplyStream
from anyshape.server.streams.standing import StandingStream
from anyshape.server.streams.table import SessionTable

if TYPE_CHECKING:
    from anyshape.server.headers import RequestHeaders
    from anyshape.server.http import HttpApplication
    from anyshape.server.sessions import Handshake
    from anyshape.server.stores.sessions import SharedSessions

_LAST_EVENT: Final = LAST_EVENT_HEADER.lower().encode()


class SessionStreams:
    """The streams of an application's sessions, and what is remembered for them."""

    def __init__(self, application: HttpApplication) -> None:
        self._application = application
        self.service = application.service
        self.options = application.options.streams or Streams()
        self.table = SessionTable(application.service, self.options)
        self.archive = Archive(self.options)
        self._shared: SharedSessions | None = None

    async def serve(
        self, method: str, peer: HttpPeer, headers: RequestHeaders, receive: Receive, send: Send
    ) -> None:
        """Answer a GET or a DELETE."""
        authorization = self._application.options.authorization
        if authorization is not None:
            peer.access = await admit(authorization, headers, send)
            if peer.access is None:
                return
        try:
            session = peer.recall()
            if session is None:
                # Nobody's session has no stream. 405 is what clients take for "none is offered".
                reason = f"{method} is served to sessions of this server alone; use POST"
                await refuse(send, 405, reason, (b"allow", b"POST"))
            elif method == "DELETE":
                await self._end(session)
                await accept(send, 204)
            elif not peer.takes_stream:
                await refuse(send, 406, "Accept has to allow text/event-stream")
            else:
                revision = _stated(headers) or session.revision
                await self._listen(session, revision, headers.get(_LAST_EVENT), receive, send)
        except ProtocolError as error:
            await send_error(send, error)

    def share(self) -> SharedSessions | None:
        """Return what is shared with other replicas, `None` if there is no store to do so."""
        link = self.service.link
        if link is None:
            return None
        if self._shared is None or self._shared.link is not link:
            from anyshape.server.stores.sessions import SharedSessions

            self._shared = SharedSessions(self, link)
        return self._shared

    async def join(self) -> None:
        """Hear of other replicas from now on, and of what they have said before."""
        shared = self.share()
        if shared is not None:
            await shared.attempt(shared.recall)

    async def subscribe(self, session: str, topic: Topic) -> None:
        """Have a session told of a topic."""
        shared = self.share()
        if shared is None:
            self.table.subscribe(session, topic)
        else:
            allowed = self.service.options.max_resource_subscriptions
            await shared.insist(shared.subscribe, session, topic, allowed)

    async def unsubscribe(self, session: str, topic: Topic) -> None:
        """Tell a session no more of a topic."""
        shared = self.share()
        if shared is None:
            self.table.unsubscribe(session, topic)
        else:
            await shared.insist(shared.unsubscribe, session, topic)

    async def _end(self, session: Handshake) -> None:
        """Let a session be over, here and elsewhere."""
        self.forget(session.key, session.expires)
        shared = self.share()
        if shared is not None:
            await shared.tell(shared.end, session.key, session.expires)

    def forget(self, session: str, expires: float) -> None:
        """Let a session be over: its streams, its requests, and what is remembered of it."""
        ids = self._application.session_ids
        if ids is not None:
            ids.end(session, expires)
        self.table.end(session)
        self.archive.end(session)
        self.stop(session)

    async def cancel(self, session: str, notification: Notification) -> None:
        """Stop the request of a session that a notification says is no longer wanted."""
        cancellation = read_cancellation(notification.params)
        if cancellation is not None and not self.stop(session, cancellation[0]):
            shared = self.share()
            if shared is not None:
                await shared.tell(shared.cancel, session, cancellation[0])

    def stop(self, session: str, request: bytes | None = None) -> bool:
        """Stop the requests of a session, or the one of a key; tell whether there are any."""
        found = False
        for flight in tuple(self._application.flights):
            handshake = flight.peer.handshake if isinstance(flight.peer, HttpPeer) else None
            if handshake is None or handshake.key != session:
                continue
            if request is None or flight.key == request:
                flight.interrupt(Interruption.CANCELLED)
                found = True
        return found

    def reply(
        self, session: Handshake, revision: Revision, response: EventStream
    ) -> EventStream | ReplyStream:
        """Return what replies to a request, so that its client can come back for it."""
        ids = self._application.session_ids
        if ids is None or not revision.has_event_ids:
            return response
        name = sealed_stream(ids, session.key)
        polled = revision.has_empty_events
        stream = ReplyStream(self.archive, session.key, name, response, polled=polled)
        self.archive.add(stream)
        return stream

    async def _listen(
        self,
        session: Handshake,
        revision: Revision,
        last: bytes | None,
        receive: Receive,
        send: Send,
    ) -> None:
        """Tell a session its news until the stream ends."""
        heard = None if last is None else read_event_id(last)
        if last is not None and heard is None:
            raise _not_resumable()
        if isinstance(heard, ReplyId):
            await self._resume(session, heard, receive, send)
            return
        service = self.service
        known_here = self.table.find(session.key)
        if known_here is None or known_here.stream is None:
            # Another stream of the same session takes the place of the first.
            service.check_subscriptions()
        live = self.table.touch(session.key)
        live.leave()  # A message goes to one stream alone, and a new one shows the old to be lost.
        response = EventStream(send, self._application.keep_alive, self._application.stream_room)
        told = live.told if heard is None else heard.position
        stream = live.stream = StandingStream(service, response, revision, told)
        service.subscriptions.add(stream.ended)
        watch = asyncio.ensure_future(disconnected(receive))
        try:
            topics = [*service.list_topics(), *live.topics]
            shared = self.share()
            if shared is not None:
                known = await shared.attempt(shared.listen, session.key)
                if known is not None:
                    topics += known.topics
                    if heard is None and known.told is not None:
                        # What was told here a moment ago may not be in the store yet.
                        told = max(known.told, told) if known_here else known.told
            if revision.has_empty_events:
                stream.begin(topics, told, self.options.retry, self.options.hold)
            else:
                stream.begin(topics, told)
            await self._hold(session.key, stream, watch)
            if stream.ended.done():
                await response.end()
        finally:
            watch.cancel()
            response.abandon()
            service.subscriptions.discard(stream.ended)
            self.table.release(session.key, stream)
            shared = self.share()
            if shared is not None:
                shared.leave_later(session.key, stream.told)

    async def _hold(
        self, session: str, stream: StandingStream, watch: asyncio.Future[None]
    ) -> None:
        """Wait until a stream is over, and have its session remembered all the while."""
        while True:
            done, _ = await asyncio.wait(
                (watch, stream.ended),
                timeout=self.options.idle / 3,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if done:
                return
            shared = self.share()
            if shared is not None:
                await shared.attempt(shared.renew, session)

    async def _resume(
        self, session: Handshake, heard: ReplyId, receive: Receive, send: Send
    ) -> None:
        """Go on with the reply to a request of a session, behind what its client has heard."""
        stream = self.archive.find(session.key, heard.stream)
        response = EventStream(send, self._application.keep_alive, self._application.stream_room)
        left: asyncio.Future[None] | None = None
        watch = asyncio.ensure_future(disconnected(receive))
        try:
            if stream is None:
                left = await self._find(session, heard, response)
            elif stream.reaches(heard.number):
                left = stream.resume(heard.number, response)
            if left is None:
                raise _not_resumable()
            response.break_silence()
            await asyncio.wait((watch, left), return_when=asyncio.FIRST_COMPLETED)
            if left.done():
                await response.end()
        finally:
            watch.cancel()
            response.abandon()
            if stream is not None:
                stream.leave(response)
            elif left is not None:
                left.cancel()

    async def _find(
        self, session: Handshake, heard: ReplyId, response: EventStream
    ) -> asyncio.Future[None] | None:
        """Have a reply gone on with that another replica has, if one can have it."""
        ids, shared = self._application.session_ids, self.share()
        if ids is None or shared is None or not is_of_session(ids, session.key, heard.stream):
            return None
        self.service.check_subscriptions()
        left = await shared.insist(shared.resume, session.key, heard, response)
        if left is not None:
            self.service.subscriptions.add(left)
            left.add_done_callback(self.service.subscriptions.discard)
        return left


def _not_resumable() -> ProtocolError:
    return ProtocolError(
        "Invalid Request: Last-Event-ID is of no stream that is kept; listen without it",
        code=INVALID_REQUEST,
    )


def _stated(headers: RequestHeaders) -> Revision | None:
    """Return the revision that a request names, if it names one that has sessions."""
    version = headers.version
    if version is None:
        return None
    revision = Revision.parse(version)
    if revision is None or revision.is_modern:
        raise unsupported_version(version)
    return revision
