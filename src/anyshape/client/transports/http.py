"""Streamable HTTP: every message is a POST, every answer a JSON object or a stream of events.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http and, for
servers with a handshake (sessions, resumable streams, a GET stream),
https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http

docs/internals/client.md has the measurements by which `aiohttp` was chosen.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Mapping
from urllib.parse import urljoin, urlsplit

import aiohttp

from anyshape.client.authorizer import Authorizer, RefusedRequest
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Auth, Bounds, Http
from anyshape.client.quoting import shorten, without_secrets
from anyshape.client.request import Outgoing
from anyshape.client.transports.credentials import credentials_for
from anyshape.client.transports.events import EventReader
from anyshape.client.transports.frames import read_frame, read_ordinary
from anyshape.client.transports.gathering import SHORT, GatheredAnswer, GatheringRoom, gather
from anyshape.client.transports.http_failures import (
    EVENTS,
    JSON,
    cause_of,
    explain_loss,
    explain_refusal,
    media_type_of,
)
from anyshape.client.transports.pools import Pools
from anyshape.client.transports.proxies import proxy_for
from anyshape.client.transports.responses import HttpResponse
from anyshape.client.transports.transport import (
    ConnectionLost,
    HttpStatus,
    OnMessage,
    Received,
    SessionLost,
    Transport,
    cancellation,
    too_long,
)
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.headers import LAST_EVENT_HEADER, SESSION_HEADER, VERSION_HEADER
from anyshape.protocol.jsonrpc import Notification, Request, Response
from anyshape.protocol.methods import INITIALIZE

logger = logging.getLogger(__name__)

_NONCE = "dpop-nonce"
_REDIRECTS = 3
_RENEWALS = 4
_RESUMPTIONS = 5
_RETRY = 1.0
_SOONEST_RETRY = 0.01
_LONGEST_RETRY = 30.0
_GRACE = 2.0
_EXCERPT = 2048
_MOST_BACKGROUND = 64
_EVENTS_AT_ONCE = 200
_LONGEST_NUMBER = 100


class HttpTransport(Transport):
    """Talks to one endpoint over a pool of connections."""

    is_shared = True
    has_headers = True

    def __init__(
        self, url: str, http: Http, auth: Auth | None, bounds: Bounds, deadlines: Deadlines
    ) -> None:
        self._url = self.key = url
        self._origin = urlsplit(url)[:2]
        self._http = http
        self._proxy = proxy_for(http, url)
        self._bounds = bounds
        self._deadlines = deadlines
        self._credentials = credentials_for(auth, url, http, deadlines)
        self._has_auth = auth is not None
        self._has_source = isinstance(auth, Authorizer)
        self._fixed = {
            **http.headers,
            "Content-Type": JSON,
            "Accept": f"{JSON}, {EVENTS}",
        }
        self._pools: Pools | None = None
        self._listener: OnMessage | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._ending: set[HttpResponse] = set()
        self._stateful = False
        self._overheard = EventReader(bounds.max_answer_bytes)
        self._gathering = GatheringRoom(bounds.max_unfinished_bytes)
        self._session: str | None = None
        self._last: Mapping[str, str] = {}
        self.attempts = http.reconnects
        self.place = f"the server at {without_secrets(url)}"

    async def open(self, listener: OnMessage) -> None:
        """Make the pools; nothing is sent yet."""
        self._listener = listener
        self._pools = Pools(self._http, self._fixed, self._proxy)

    def set_era(self, *, stateful: bool) -> None:
        """Start without a session; the answer to `initialize` may bring one."""
        self._stateful = stateful
        self._session = None
        self._overheard = EventReader(self._bounds.max_answer_bytes)

    async def request(self, outgoing: Outgoing) -> Received:
        """Post the request and read until its answer."""
        headers = outgoing.headers()
        try:
            response = await self._send("POST", headers, outgoing.frame, aside=outgoing.endless)
            try:
                return await self._read_answer(response, outgoing)
            except BaseException:
                response.close()
                raise
        except asyncio.CancelledError:
            # Hanging up is what tells a stateless server; one with sessions wants to be told.
            if self._stateful and outgoing.cancellable:
                self._spawn(self.notify(cancellation(outgoing.id), _kept(headers)))
            raise
        except aiohttp.ClientError as error:
            raise explain_loss(self.place, self._url, error) from cause_of(error)

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Post a message that has no answer."""
        try:
            with self._deadlines.limit(self._http.connect_timeout):
                response = await self._send("POST", headers, frame, aside=True)
                response.close()
        except (aiohttp.ClientError, TimeoutError, TransportError) as error:
            logger.debug("%s did not take a notification: %s", self.place, error)

    async def overhear(self, headers: Mapping[str, str], opened: Callable[[], object]) -> bool:
        """Follow the GET stream of a server with a handshake, if it offers one.

        One that was followed before is gone on with, after the pause that the server asked for.
        """
        reader = self._overheard
        reader.restart()
        sent = {**headers, "Accept": EVENTS}
        if reader.retry is not None:
            await asyncio.sleep(min(reader.retry, _LONGEST_RETRY))
        is_open = False
        with contextlib.suppress(aiohttp.ClientError, TransportError):
            last = {} if reader.last_id is None else {LAST_EVENT_HEADER: reader.last_id}
            response = await self._send("GET", {**sent, **last}, None, aside=True)
            if last and response.status == 400:  # It does not know that event any more.
                reader.last_id = None
                response.close()
                response = await self._send("GET", sent, None, aside=True)
            try:
                is_open = response.status == 200 and media_type_of(response) == EVENTS
                if is_open:
                    opened()
                    taken = 0
                    while chunk := await response.next_chunk():
                        for event in reader.feed(chunk):
                            self._find_answer(event.data, None)
                            taken += 1
                            if taken % _EVENTS_AT_ONCE == 0:
                                await asyncio.sleep(0)
            finally:
                response.close()
        return is_open

    async def close(self) -> None:
        """End the session if there is one, and every connection."""
        pools, self._pools = self._pools, None
        self._listener = None
        for task in self._background:
            task.cancel()
        try:
            await asyncio.gather(*self._background, return_exceptions=True)
            while self._ending:
                self._ending.pop().close()
            if pools is not None:
                await pools.close_calls()
                if self._session is not None:
                    await self._end_session(pools, self._session)
        finally:
            self._session = None
            if pools is not None:
                await pools.close()

    async def _end_session(self, pools: Pools, session: str) -> None:
        with contextlib.suppress(aiohttp.ClientError, TransportError, TimeoutError):
            async with asyncio.timeout(_GRACE):
                headers = {**self._last, SESSION_HEADER: session}
                headers.update(await self._credentials.headers("DELETE", self._url))
                response = await pools.send("DELETE", self._url, headers, None, aside=True)
                response.close()

    # Sending.

    async def _send(
        self, method: str, headers: Mapping[str, str], frame: bytes | None, *, aside: bool = False
    ) -> HttpResponse:
        renewals = 0
        for _ in range(_REDIRECTS + _RENEWALS + 1):
            credentials = await self._credentials.headers(method, self._url)
            if self._pools is None:
                raise TransportError(f"{self.place} is not connected")
            sent = {**headers, **credentials} if credentials else dict(headers)
            session = self._session
            if session is not None:
                sent[SESSION_HEADER] = session
                self._last = _kept(headers)
            try:
                response = await self._pools.send(method, self._url, sent, frame, aside=aside)
            except aiohttp.ClientError as error:
                raise explain_loss(self.place, self._url, error) from cause_of(error)
            except ValueError as error:
                raise TransportError(f"cannot send to {self.place}: {error}") from error
            status = response.status
            if status in (401, 403) and renewals < _RENEWALS:
                if await self._renew(response, credentials, renewals):
                    renewals += 1
                    continue
                return response
            if self._has_source:
                self._credentials.heed(response.header(_NONCE))
            if status < 300:
                return response
            if status in (307, 308):
                self._follow(response)
                response.close()
                continue
            if status == 404 and session is not None:
                response.close()
                raise SessionLost(f"{self.place} no longer knows the session")
            return response
        raise TransportError(f"{self.place} redirects in circles")

    async def _renew(
        self, response: HttpResponse, refused: Mapping[str, str], attempt: int
    ) -> bool:
        refusal = RefusedRequest(
            response.status,
            refused,
            attempt,
            response.headers("www-authenticate"),
            response.header(_NONCE),
            self._peers(),
        )
        try:
            renewed = await self._credentials.renew(refusal)
        except BaseException:
            response.close()
            raise
        if renewed:
            response.close()
        return renewed

    def _peers(self) -> tuple[str, ...]:
        if self._proxy is not None or self._pools is None:
            return ()
        return tuple(self._pools.peers)

    def _follow(self, response: HttpResponse) -> None:
        target, origin = response.header("location") or "", None
        with contextlib.suppress(ValueError):  # of a URL that is none
            origin = urlsplit(target := urljoin(self._url, target))[:2]
        if origin != self._origin:
            # Our headers hold credentials; another origin never gets them.
            response.close()
            raise HttpStatus(
                f"{self.place} redirects to another origin, {without_secrets(target)}: "
                "use that address if it is right",
                status=response.status,
            )
        self._url = target

    # Reading.

    async def _read_answer(self, response: HttpResponse, outgoing: Outgoing) -> Received:
        if self._stateful and outgoing.method == INITIALIZE:
            self._keep_session(response)
        kind = media_type_of(response)
        if kind == EVENTS and response.status < 400:
            return await self._read_stream(response, outgoing)
        body = await self._read_body(response)
        if kind == JSON or response.status >= 400:
            answer = self._find_answer(body, outgoing)
            if answer is not None:
                return answer
        raise explain_refusal(self.place, outgoing.method, response, body, has_auth=self._has_auth)

    async def _read_body(self, response: HttpResponse) -> bytes:
        limit = self._bounds.max_answer_bytes
        length = response.header("content-length")
        if length is not None and (len(length) > _LONGEST_NUMBER or int(length) > limit):
            raise too_long(self.place, limit)
        is_known = length is not None and response.header("content-encoding") is None
        most = int(length or 0) if is_known else limit
        if is_known and most <= SHORT:
            body = await response.read()
        else:
            body = await gather(response, self._gathering, most)
            if body is None:
                raise too_long(self.place, limit)
        if self._pools is not None:
            self._pools.take(response)
        return body

    async def _read_stream(self, response: HttpResponse, outgoing: Outgoing) -> Received:
        reader = EventReader(self._bounds.max_answer_bytes)
        resumptions = 0
        try:
            while True:
                heard = reader.last_id
                answer = await self._follow_stream(response, reader, outgoing)
                if answer is not None:
                    return answer
                resumptions = resumptions + 1 if reader.last_id == heard else 0
                if not self._stateful or reader.last_id is None or resumptions == _RESUMPTIONS:
                    break
                response.close()
                response = await self._resume(reader, reader.last_id, outgoing)
                if response.status != 200 or media_type_of(response) != EVENTS:
                    break
        except BaseException:
            response.close()
            raise
        response.close()
        message = f"{self.place} ended the stream without an answer to {outgoing.method}"
        raise ConnectionLost(message, sent=True)

    async def _resume(self, reader: EventReader, last_id: str, outgoing: Outgoing) -> HttpResponse:
        """Ask for the rest of a stream that broke off or was ended for now."""
        reader.restart()
        await asyncio.sleep(_RETRY if reader.retry is None else max(reader.retry, _SOONEST_RETRY))
        headers = {**_kept(outgoing.headers()), "Accept": EVENTS, LAST_EVENT_HEADER: last_id}
        try:
            return await self._send("GET", headers, None)
        except (ConnectionLost, SessionLost) as error:
            # This request did not arrive; the one that opened the stream did.
            raise ConnectionLost(str(error), sent=True) from error

    async def _follow_stream(
        self, response: HttpResponse, reader: EventReader, outgoing: Outgoing
    ) -> Received | None:
        size, taken, limit = 0, 0, self._bounds.max_answer_bytes
        try:
            with GatheredAnswer(self._gathering) as gathered:
                while chunk := await response.next_chunk():
                    size += len(chunk)
                    if size > limit and not outgoing.endless:
                        raise too_long(self.place, limit)
                    for event in reader.feed(chunk):
                        answer = self._find_answer(event.data, outgoing)
                        if answer is not None:
                            self._finish(response)
                            return answer
                        taken += 1
                        if taken % _EVENTS_AT_ONCE == 0:
                            await asyncio.sleep(0)
                    if reader.gathered > SHORT:
                        await gathered.hold(limit)
                    else:
                        gathered.release()
        except aiohttp.ClientPayloadError:
            if not self._stateful or reader.last_id is None:
                raise
        return None

    def _find_answer(self, frame: bytes, outgoing: Outgoing | None) -> Received | None:
        """Return the answer to `outgoing` if the frame holds it; pass on everything else."""
        if outgoing is not None and outgoing.request.calls_tool:
            result = read_ordinary(frame, outgoing.id, self._bounds.max_depth)
            if result is not None:
                return result
        if not frame.strip():
            return None
        found: Response | None = None
        for message in read_frame(frame):
            if isinstance(message, Response):
                if outgoing is not None and message.id in (None, b"%d" % outgoing.id):
                    found = found or message
                else:
                    logger.debug("%s answered what was not asked (id %s)", self.place, message.id)
            elif isinstance(message, Request | Notification):
                reply = self._listener(message) if self._listener is not None else None
                # A server that asks for more than this at once does not want to be answered.
                if reply is not None and len(self._background) < _MOST_BACKGROUND:
                    kept = _kept(outgoing.headers()) if outgoing is not None else {}
                    self._spawn(self.notify(reply, kept))
            elif outgoing is not None and message.id == b"%d" % outgoing.id:
                raise ProtocolError(
                    f"{self.place} sent an answer that is no JSON-RPC response: {shorten(frame)!r}",
                    code=message.code,
                )
        return found

    def _finish(self, response: HttpResponse) -> None:
        """Let the stream end by itself, so that its connection can be used again."""
        if response.is_over:
            return
        self._ending.add(response)
        self._spawn(self._drain(response))

    async def _drain(self, response: HttpResponse) -> None:
        try:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(_GRACE):
                    while chunk := await response.next_chunk():
                        if len(chunk) > _EXCERPT:
                            break
        finally:
            self._ending.discard(response)
            response.close()

    def _keep_session(self, response: HttpResponse) -> None:
        session = response.header(SESSION_HEADER.lower())
        if session is None or response.status >= 400:
            return
        if not session.isascii() or not session.isprintable() or " " in session:
            raise ProtocolError(f"{self.place} gave a session id that no header can carry")
        self._session = session

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        if self._pools is None:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    """Return what a message that belongs to a request repeats of its headers."""
    version = headers.get(VERSION_HEADER)
    return {} if version is None else {VERSION_HEADER: version}
