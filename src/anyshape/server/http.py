"""Streamable HTTP as an ASGI application: one endpoint, one POST per message.

Both eras are served at the same path. Requests are answered from nothing but themselves, in either
era: the revision of a handshake client comes from its `MCP-Protocol-Version` header, or from its
session id (`anyshape.server.sessions`), so any replica can answer any of them. What a session is
told beside answers is in `anyshape.server.streams`. See the Streamable HTTP page
of revision 2026-07-28 and "Transports" of 2025-11-25, 2025-06-18 and 2025-03-26.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from anyshape.server.admission import admit, challenge
from anyshape.server.authorization import AccessToken
from anyshape.server.bodies import TIMED_OUT, Bodies, BodyRefusedError, Receive, first_event
from anyshape.server.guard import Guard
from anyshape.server.headers import RequestHeaders, is_json, read_accept
from anyshape.server.http_options import HttpOptions
from anyshape.server.http_peer import HttpPeer
from anyshape.server.incoming import read
from anyshape.server.other_paths import path_below, serve_other_path
from anyshape.server.posts import answer_post
from anyshape.server.request import Interruption, OpenRequest
from anyshape.server.response import (
    Event,
    Scope,
    Send,
    StreamRoom,
    dismiss,
    refuse,
)
from anyshape.server.service import Service
from anyshape.server.sessions import SessionIds
from anyshape.server.settings import expect

if TYPE_CHECKING:
    from anyshape.server.asking.exchange import AnswerExchange
    from anyshape.server.scopes import ScopeRules
    from anyshape.server.streams.endpoint import SessionStreams
    from anyshape.server.whole_messages import DirectRequest

HOSTED: Final = "anyshape"
"""Where in the state of its host an application is found by the host's connections."""


_log = logging.getLogger("anyshape.server")

_REMEMBERED: Final = 512
_LONGEST_LENGTH: Final = 30
"""Digits of a `Content-Length` that are looked at: all that any real one has."""


class HttpApplication:
    """The HTTP service of a server, for any ASGI host."""

    def __init__(
        self, service: Service, options: HttpOptions | None = None, *, is_local: bool = False
    ) -> None:
        """Serve `service`; `is_local` says that we can be reached from this machine alone."""
        expect("options", options, HttpOptions)
        options = options or HttpOptions()
        self.service = service
        self.keep_alive = options.keep_alive
        self.takes_turns = True
        """Whether answers are sent in the turn of the event loop after they were found.

        Requests that came together are then answered together, and the network stack does not get
        in between them (docs/internals/performance.md). Connections that write at the end of a turn
        by themselves (`anyshape.server.http_protocol`) need no help, and say so.
        """
        self.options = options
        sessions = options.sessions
        self.session_ids = None if sessions is None else SessionIds(sessions, service.clients)
        self._max_depth = service.options.max_message_depth
        self._max_batch = service.options.max_batch
        self._bodies = Bodies(service.options, options)
        self._limit = self._bodies.limit
        self._digits = len(str(self._limit))
        self._path = options.path
        self._authorization = options.authorization
        self._scopes: ScopeRules | None = None
        if options.authorization is not None:
            from anyshape.server.scopes import ScopeRules

            most_watched = service.options.max_resource_subscriptions
            self._scopes = ScopeRules(options.authorization, most_watched)
        self.stream_room = StreamRoom(options.max_unread_bytes // 4)
        """What waits on streams; what has left them counts as what is unread on connections."""
        self._guard = Guard(
            hosts=options.allowed_hosts, origins=options.allowed_origins, is_local=is_local
        )
        self._answers: AnswerExchange | None = None
        self._admitted: dict[tuple[Any, ...], tuple[bool, bool]] = {}
        self.flights: set[OpenRequest] = set()
        """The requests that wait."""
        self._idle: asyncio.Event | None = None
        self._draining: asyncio.Task[None] | None = None
        self.has_streams = options.streams is not None and sessions is not None
        """Whether sessions can be told anything beside answers."""
        self._streams: SessionStreams | None = None
        self._is_unopened = service.lifespan.is_needed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._serve_otherwise(scope, receive, send)
            return
        if self._is_unopened:
            await self._open_late()
        pairs = scope["headers"]
        headers = RequestHeaders(pairs)
        if len(headers) != len(pairs):
            if [name for name, _ in pairs].count(b"host") > 1:
                await refuse(send, 400, "Host has to be there once", (b"connection", b"close"))
                return
            headers = RequestHeaders.joined(pairs)
        key = _admission_key(
            scope["method"], scope["path"], scope.get("root_path"), scope.get("server"), headers
        )
        accepted = self._admitted.get(key)
        if accepted is None:
            accepted = await self._admit(scope, headers, receive, send)
            if accepted is None:
                return
            if len(self._admitted) < _REMEMBERED:
                self._admitted[key] = accepted
        length = headers.get(b"content-length")
        if length is not None and len(length) >= self._digits and _is_over(length, self._limit):
            await _refuse_body(send, self._bodies.too_long())
            return
        access: AccessToken | None = None
        if self._authorization is not None:
            access = await admit(self._authorization, headers, send)
            if access is None:
                return
        event = first_event(receive)
        body: bytes | None = None
        if isinstance(event, dict) and not event.get("more_body"):
            body = event.get("body")
        if body is None or len(body) > self._limit:
            body = await self._gather(event, receive, send)
            if body is None:
                return
        message = read(body, self._max_depth, self._max_batch)
        peer = HttpPeer(self, headers, receive, send, accepted)
        if self.service.layers is not None:
            client = scope.get("client")
            peer.address = client[0] if client else None
        if access is not None:
            peer.access = access
            if self._scopes is not None:
                if self._scopes.hides:
                    peer.scope_rules = self._scopes
                refused = self._scopes.refusal(message, access)
                if refused is not None:
                    await challenge(send, refused)
                    return
        await answer_post(message, body, peer, self, send)

    def answer_directly(
        self,
        request: DirectRequest,
        headers: RequestHeaders,
        body: bytes,
        bound: tuple[str, int | None] | None,
        client: tuple[str, int] | None,
    ) -> Coroutine[Any, Any, None] | None:
        """Return what answers a POST to the endpoint that has come whole to a connection of ours.

        `None` if it has to be served as ASGI has it: what is not known to be admitted, or can
        be refused for more than its message. `bound` and `client` are as a scope has them.
        """
        if self._is_unopened or self._authorization is not None or len(body) > self._limit:
            return None
        accepted = self._admitted.get(_admission_key("POST", self._path, "", bound, headers))
        if accepted is None:
            return None
        message = read(body, self._max_depth, self._max_batch)
        peer = HttpPeer(self, headers, request.receive, request.send, accepted)
        if self.service.layers is not None:
            peer.address = client[0] if client else None
        return answer_post(message, body, peer, self, request.send)

    async def _admit(
        self, scope: Scope, headers: RequestHeaders, receive: Receive, send: Send
    ) -> tuple[bool, bool] | None:
        """Return whether the client takes JSON and a stream, or refuse the request."""
        bound = scope.get("server")
        refusal = self._guard.refusal(
            headers.get(b"host"), headers.get(b"origin"), bound[0] if bound else ""
        )
        if refusal is not None:
            await refuse(send, 403, refusal)
        elif not self._is_endpoint(scope):
            await serve_other_path(self.options, scope, send, self._directions())
        elif scope["method"] in ("GET", "DELETE") and self.streams is not None:
            peer = HttpPeer(self, headers, receive, send, read_accept(headers.get(b"accept")))
            await self.streams.serve(scope["method"], peer, headers, receive, send)
        elif scope["method"] != "POST":
            served = b"POST" if self.streams is None else b"GET, POST, DELETE"
            reason = f"{scope['method'][:20]} is not served here; use POST"
            await refuse(send, 405, reason, (b"allow", served))
        elif not is_json(headers.get(b"content-type")):
            await refuse(send, 415, "Content-Type has to be application/json")
        else:
            accepted = read_accept(headers.get(b"accept"))
            if any(accepted):
                return accepted
            await refuse(send, 406, "Accept has to allow application/json, text/event-stream")
        return None

    @asynccontextmanager
    async def lifespan(self, _application: object = None) -> AsyncGenerator[None]:
        """Keep the server's lifespan open, and drain, with an application that mounts this one.

        Frameworks do not pass lifespan events to what is mounted: give this to theirs, as in
        `Starlette(routes=…, lifespan=application.lifespan)`.
        """
        async with self.service.lifespan.held():
            self._is_unopened = False
            self._draining = None
            if self._scopes is not None and self.service.knows_names:
                self._scopes.warn_of_unknown(self.service)
            await self._join_replicas()
            try:
                yield
            finally:
                await self.drain()
                self._is_unopened = self.service.lifespan.is_needed

    async def _open_late(self) -> None:
        """Open the server's lifespan for a host that has not told us of its own."""
        await self.service.lifespan.acquire()
        if self._is_unopened:
            self._is_unopened = False
            await self._join_replicas()
            _log.warning(
                "the ASGI host sends no lifespan events, so what the server's lifespan has opened "
                "stays open until the process ends; give the host application.lifespan"
            )

    async def _join_replicas(self) -> None:
        """Hear of other replicas from now on, where there is a store to do so."""
        if self.service.link is not None and self.streams is not None:
            await self.streams.join()

    def drain(self) -> Awaitable[None]:
        """Give what is in flight the grace time to finish, then give up what is left.

        This begins at once, awaited or not, and happens once however often it is asked for.
        """
        if self._draining is None:
            self._draining = asyncio.get_running_loop().create_task(self._drain())
        return asyncio.shield(self._draining)

    async def _drain(self) -> None:
        self.service.end_subscriptions()
        try:
            async with asyncio.timeout(self.service.options.grace):
                while self._is_busy:
                    self._idle = asyncio.Event()
                    await self._idle.wait()
        except TimeoutError:
            for flight in tuple(self.flights):
                flight.interrupt(Interruption.STOPPED)
            self._bodies.give_up()

    @property
    def _is_busy(self) -> bool:
        """Whether a request waits, or is still arriving."""
        return bool(self.flights or self._bodies.arriving)

    @property
    def answers(self) -> AnswerExchange:
        """Where the answers of clients to our questions go."""
        if self._answers is None:
            from anyshape.server.asking.exchange import LocalExchange

            shared = self.options.answers or self.service.find_exchange()
            self._answers = LocalExchange() if shared is None else shared
        return self._answers

    @property
    def streams(self) -> SessionStreams | None:
        """The streams of sessions, `None` if they have none."""
        if self._streams is None and self.has_streams:
            from anyshape.server.streams.endpoint import SessionStreams

            self._streams = SessionStreams(self)
        return self._streams

    def track(self, flight: OpenRequest) -> None:
        """Know a request that waits."""
        self.flights.add(flight)

    def untrack(self, flight: OpenRequest) -> None:
        """Forget a request that no longer waits."""
        self.flights.discard(flight)
        self._look_for_idleness()

    def _look_for_idleness(self) -> None:
        """Let whoever drains know if there is nothing to wait for any more."""
        if self._idle is not None and not self._is_busy:
            self._idle.set()

    async def _gather(
        self, event: Event | Awaitable[Event], receive: Receive, send: Send
    ) -> bytes | None:
        """Return a body that is still arriving; `None` if it is refused or the client is gone."""
        try:
            body = await self._bodies.gather(event, receive)
        except BodyRefusedError as refusal:
            await _refuse_body(send, refusal)
            return None
        finally:
            self._look_for_idleness()
        if body is None:
            await dismiss(send)
        return body

    def _is_endpoint(self, scope: Scope) -> bool:
        """Tell whether a path is the endpoint, wherever a host has mounted us."""
        return path_below(scope).rstrip("/") == self._path.rstrip("/")

    def _directions(self) -> str:
        """Return where to go instead."""
        return f"the MCP endpoint is {self._path}"

    async def _serve_otherwise(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003})
            return
        if scope["type"] == "lifespan":
            if "state" in scope:
                scope["state"][HOSTED] = self
            await self._follow_host(receive, send)

    async def _follow_host(self, receive: Receive, send: Send) -> None:
        """Start and stop with the host, as it says in lifespan events."""
        stage = "startup"
        await receive()
        try:
            async with self.lifespan():
                await send({"type": "lifespan.startup.complete"})
                stage = "shutdown"
                await receive()
        except Exception:
            _log.exception("the server's lifespan failed at %s", stage)
            await send({"type": f"lifespan.{stage}.failed", "message": "see the server's log"})
        else:
            await send({"type": "lifespan.shutdown.complete"})


def _admission_key(
    method: str,
    path: str,
    root_path: str | None,
    bound: tuple[str, int | None] | None,
    headers: RequestHeaders,
) -> tuple[Any, ...]:
    """Return all that decides whether a request is served at all.

    It differs little between requests, so the verdict is looked up rather than reached again.
    """
    header = headers.get
    return (
        method,
        path,
        root_path,
        bound and bound[0],
        header(b"host"),
        header(b"origin"),
        header(b"content-type"),
        header(b"accept"),
    )


async def _refuse_body(send: Send, refusal: BodyRefusedError) -> None:
    """Refuse a body; one that is not waited for any longer ends its connection.

    Most clients send all of it before they read the refusal, which a connection that is closed
    meanwhile takes with it. So hosts are left to drop the rest, as they do where nobody reads it.
    """
    ending = ((b"connection", b"close"),) if refusal.status == TIMED_OUT else ()
    await refuse(send, refusal.status, refusal.reason, *ending)


def _is_over(length: bytes, limit: int) -> bool:
    """Tell whether a `Content-Length` is too much; one that is no number is left to the host."""
    return length.isdigit() and int(length[:_LONGEST_LENGTH]) > limit
