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
from collections.abc import Callable, Mapping

import aiohttp

from anyshape.client.quoting import shorten
from anyshape.client.request import Outgoing
from anyshape.client.transports.events import EventReader, pieces_of
from anyshape.client.transports.frames import read_frame, read_ordinary
from anyshape.client.transports.gathering import SHORT, GatheredAnswer
from anyshape.client.transports.http_failures import (
    EVENTS,
    JSON,
    cause_of,
    explain_loss,
    media_type_of,
)
from anyshape.client.transports.responses import HttpResponse
from anyshape.client.transports.sending import HttpSender
from anyshape.client.transports.transport import (
    ConnectionLost,
    OnMessage,
    Received,
    SessionLost,
    Transport,
    cancellation,
    too_long,
)
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.headers import (
    LAST_EVENT_HEADER,
    LONGEST_ECHO,
    SESSION_HEADER,
    VERSION_HEADER,
)
from anyshape.protocol.jsonrpc import Notification, Request, Response
from anyshape.protocol.methods import INITIALIZE

logger = logging.getLogger(__name__)

_RESUMPTIONS = 5
_RETRY = 1.0
_SOONEST_RETRY = 0.01
_LONGEST_RETRY = 30.0
_GRACE = 2.0
_EXCERPT = 2048
_EVENTS_AT_ONCE = 200


class HttpTransport(Transport):
    """Talks to one endpoint over a pool of connections."""

    is_shared = True
    has_headers = True

    def __init__(self, sender: HttpSender) -> None:
        self._sender = sender
        self._bounds = sender.bounds
        self._listener: OnMessage | None = None
        self._ending: set[HttpResponse] = set()
        self._stateful = False
        self.place, self.key = sender.place, sender.url
        self._overheard = EventReader(self.place, self._bounds.max_answer_bytes)
        self._session: str | None = None
        self._last: Mapping[str, str] = {}
        self.attempts = sender.http.reconnects

    async def open(self, listener: OnMessage) -> None:
        """Get ready; nothing is sent yet."""
        self._listener = listener
        self._sender.open()

    def set_era(self, *, stateful: bool) -> None:
        """Start without a session; the answer to `initialize` may bring one."""
        self._stateful = stateful
        self._session = None
        self._overheard = EventReader(self.place, self._bounds.max_answer_bytes)

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
                self._sender.spawn(self.notify(cancellation(outgoing.id), _kept(headers)))
            raise
        except aiohttp.ClientError as error:
            raise explain_loss(self.place, self._sender.url, error) from cause_of(error)

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Post a message that has no answer."""
        await self._sender.notify(frame, self._in_session(headers))

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
                        for piece in pieces_of(chunk):
                            for event in reader.feed(piece):
                                self._find_answer(event.data, None)
                                taken += 1
                                if taken % _EVENTS_AT_ONCE == 0:
                                    await asyncio.sleep(0)
                            if piece is not chunk:
                                await asyncio.sleep(0)
            finally:
                response.close()
        return is_open

    async def close(self) -> None:
        """End the session if there is one, and every connection."""
        self._listener = None
        while self._ending:
            self._ending.pop().close()
        farewell = None if self._session is None else self._in_session(self._last)
        self._session = None
        await self._sender.close(farewell)

    def _in_session(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        if self._session is None:
            return headers
        self._last = _kept(headers)
        return {**headers, SESSION_HEADER: self._session}

    async def _send(
        self, method: str, headers: Mapping[str, str], frame: bytes | None, *, aside: bool = False
    ) -> HttpResponse:
        sent = self._in_session(headers)
        response = await self._sender.send(method, sent, frame, aside=aside)
        if response.status == 404 and SESSION_HEADER in sent:
            response.close()
            raise SessionLost(f"{self.place} no longer knows the session")
        return response

    # Reading.

    async def _read_answer(self, response: HttpResponse, outgoing: Outgoing) -> Received:
        if self._stateful and outgoing.method == INITIALIZE:
            self._keep_session(response)
        kind = media_type_of(response)
        if kind == EVENTS and response.status < 400:
            return await self._read_stream(response, outgoing)
        body = await self._sender.read(response)
        if kind == JSON or response.status >= 400:
            answer = self._find_answer(body, outgoing)
            if answer is not None:
                return answer
        raise self._sender.explain_refusal(outgoing.method, response, body)

    async def _read_stream(self, response: HttpResponse, outgoing: Outgoing) -> Received:
        reader = EventReader(self.place, self._bounds.max_answer_bytes)
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
            with GatheredAnswer(self._sender.gathering) as gathered:
                while chunk := await response.next_chunk():
                    size += len(chunk)
                    if size > limit and not outgoing.endless:
                        raise too_long(self.place, limit)
                    for piece in pieces_of(chunk):
                        for event in reader.feed(piece):
                            answer = self._find_answer(event.data, outgoing)
                            if answer is not None:
                                self._finish(response)
                                return answer
                            taken += 1
                            if taken % _EVENTS_AT_ONCE == 0:
                                await asyncio.sleep(0)
                        if piece is not chunk:
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
                if reply is not None:
                    kept = _kept(outgoing.headers()) if outgoing is not None else {}
                    self._sender.reply(reply, self._in_session(kept))
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
        self._sender.spawn(self._drain(response))

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
        is_word = session.isascii() and session.isprintable() and " " not in session
        if not is_word or len(session) > LONGEST_ECHO:
            raise ProtocolError(f"{self.place} gave a session id that no header can carry")
        self._session = session


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    """Return what a message that belongs to a request repeats of its headers."""
    version = headers.get(VERSION_HEADER)
    return {} if version is None else {VERSION_HEADER: version}
