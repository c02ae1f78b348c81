"""HTTP+SSE, the transport of 2024-11-05: one stream of events, and an endpoint that it names.

https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse

Every message of ours is posted to the endpoint; every message of the server comes on the stream,
which is the session: when it ends, another one is opened with a handshake of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Final

import aiohttp

from anyshape.client.quoting import shorten, without_secrets
from anyshape.client.request import Outgoing
from anyshape.client.transports.conversation import Conversation
from anyshape.client.transports.events import EventReader, ReceivedEvent, pieces_of
from anyshape.client.transports.http_failures import EVENTS, explain_loss, media_type_of
from anyshape.client.transports.origins import follow
from anyshape.client.transports.responses import HttpResponse
from anyshape.client.transports.sending import HttpSender
from anyshape.client.transports.transport import (
    ConnectionLost,
    HttpStatus,
    OnMessage,
    SessionLost,
    Transport,
    cancellation,
)
from anyshape.errors import TransportError
from anyshape.protocol.jsonrpc import Response
from anyshape.protocol.methods import INITIALIZE

logger = logging.getLogger(__name__)

_GRACE: Final = 2.0
_EVENTS_AT_ONCE: Final = 200
_MOST_BEFORE: Final = 64 * 1024
"""Bytes until the endpoint is named; it is the first thing to come."""


class SseTransport(Transport):
    """Opens a stream for each handshake."""

    is_shared = True
    has_handshake = True

    def __init__(self, sender: HttpSender) -> None:
        self._sender = sender
        self._listener: OnMessage | None = None
        self._ended: Callable[[], object] | None = None
        self._stream: _EventStream | None = None
        self.attempts = sender.http.reconnects
        self.place, self.key = sender.place, sender.url

    def tell_end(self, ended: Callable[[], object]) -> None:
        """Have a function called when the server has ended the stream, or it broke."""
        self._ended = ended

    async def open(self, listener: OnMessage) -> None:
        """Get ready; nothing is sent yet."""
        self.listen(listener)
        self._sender.open()

    def listen(self, listener: OnMessage) -> None:
        """Have a function told what the server says on its own."""
        self._listener = listener

    def set_era(self, *, stateful: bool) -> None:
        """End the stream: another handshake has another one."""
        self.hang_up()

    async def connect(self) -> None:
        """Open a stream, and wait for the endpoint.

        Raises `HttpStatus` for what is no stream of events, another `TransportError` for one
        without an endpoint that can be used.
        """
        listener, sender = self._listener, self._sender
        if listener is None:
            raise TransportError(f"{self.place} is not connected")
        limit = sender.http.connect_timeout
        stream = None
        try:
            with sender.deadlines.limit(limit):
                response = await self._get()
                stream = _EventStream(sender, response, listener, self._ended)
                await stream.endpoint
        except BaseException as error:
            if stream is not None:
                stream.close()
            if isinstance(error, TimeoutError):
                what = "stream of events" if stream is None else "endpoint event"
                raise TransportError(f"{self.place} sent no {what} within {limit:g} s") from error
            raise
        self._stream = stream

    async def _get(self) -> HttpResponse:
        """Return the response that is a stream of events."""
        sender = self._sender
        response = await sender.send("GET", {"Accept": EVENTS}, None, aside=True)
        kind = media_type_of(response)
        if response.status == 200 and kind == EVENTS:
            return response
        try:
            if response.status >= 300:
                raise sender.explain_refusal("GET", response, await sender.read(response))
            raise HttpStatus(
                f"{self.place} answered GET with {shorten(kind or 'no content type', 60)}, "
                f"expected {EVENTS}",
                status=response.status,
            )
        except aiohttp.ClientError as error:
            raise explain_loss(self.place, sender.url, error) from error
        finally:
            response.close()

    def hang_up(self) -> None:
        """End the stream, if there is one; whatever waits fails."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    async def request(self, outgoing: Outgoing) -> Response:
        """Post the request and wait for the event that answers it; the first opens a stream."""
        if self._stream is None and outgoing.method == INITIALIZE:
            await self.connect()
        stream = self._stream
        if stream is None or stream.lost is not None:
            reason = f"{self.place} is not connected" if stream is None else str(stream.lost)
            raise ConnectionLost(reason, sent=False)
        return await stream.request(outgoing)

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Post a message that has no answer."""
        if self._stream is not None and self._stream.lost is None:
            await self._stream.notify(frame, headers)

    async def overhear(self, headers: Mapping[str, str], opened: Callable[[], object]) -> bool:
        """Wait for the end of the stream, on which everything is heard."""
        stream = self._stream
        if stream is not None and stream.lost is None:
            opened()
            await stream.wait()
        return True

    async def revive(self) -> bool:
        """Say whether the stream was lost, so that there has to be a handshake."""
        return self._stream is None or self._stream.lost is not None

    def explain_silence(self) -> str:
        """Return what came instead of an answer."""
        return "" if self._stream is None else self._stream.explain_silence()

    async def close(self) -> None:
        """End the stream and every connection."""
        self._listener = None
        self.hang_up()
        await self._sender.close()


class _EventStream:
    """One stream, read in a task of its own, and the endpoint that belongs to it."""

    def __init__(
        self,
        sender: HttpSender,
        response: HttpResponse,
        listener: OnMessage,
        ended: Callable[[], object] | None,
    ) -> None:
        self._sender = sender
        self._place = sender.place
        self._tell_end = ended
        self._conversation = Conversation(self._place, sender.bounds, listener, self._reply)
        self._is_used = False
        self.endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Where messages are posted to."""
        self.lost: TransportError | None = None
        self._over = asyncio.Event()
        self._response = response
        self._task = sender.spawn(self._follow())
        if self._task is None:
            self._lose(TransportError(f"{self._place} is not connected"))

    # Sending.

    async def request(self, outgoing: Outgoing) -> Response:
        headers = outgoing.headers()
        post = self._sender.spawn(self._post(outgoing, headers))
        if post is None:
            raise ConnectionLost(f"{self._place} is not connected", sent=False)
        post.add_done_callback(lambda _: post.cancelled() or post.exception())  # seen below, or not
        answer = self._conversation.begin(outgoing)
        try:
            # Some servers answer the post only when they have answered on the stream.
            await asyncio.wait({post, answer}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                post.result()
            answered = await answer
        except BaseException as error:
            post.cancel()  # it may have to leave yet, and nobody wants it any more
            is_given_up = isinstance(error, asyncio.CancelledError)
            if is_given_up and outgoing.cancellable and self.lost is None:
                self._sender.spawn(self.notify(cancellation(outgoing.id), headers))
            raise
        finally:
            self._conversation.end(outgoing)
        if not post.done():
            timer = asyncio.get_running_loop().call_later(_GRACE, post.cancel)
            post.add_done_callback(lambda _: timer.cancel())
        return answered

    async def _post(self, outgoing: Outgoing, headers: Mapping[str, str]) -> None:
        endpoint = self.endpoint.result()
        response = await self._sender.send("POST", headers, outgoing.frame, to=endpoint)
        try:
            body = await self._sender.read(response)
        except aiohttp.ClientError as error:
            raise explain_loss(self._place, endpoint, error) from error
        finally:
            response.close()
        if response.status == 404 and self._is_used:
            raise SessionLost(f"{self._place} no longer knows the session")
        if response.status >= 300:
            what = f"{outgoing.method} at {without_secrets(endpoint)}"
            raise self._sender.explain_refusal(what, response, body)
        self._is_used = True

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        await self._sender.notify(frame, headers, to=self.endpoint.result())

    def _reply(self, frame: bytes) -> None:
        if self.endpoint.done() and self.lost is None:
            self._sender.reply(frame, {}, to=self.endpoint.result())

    # Reading.

    async def _follow(self) -> None:
        reader = EventReader(self._place, self._sender.bounds.max_answer_bytes)
        seen = taken = 0
        error: TransportError = ConnectionLost(f"{self._place} ended the stream", sent=True)
        try:
            while chunk := await self._response.next_chunk():
                seen += len(chunk)
                if seen > _MOST_BEFORE and not self.endpoint.done():
                    raise self._flood(_MOST_BEFORE, "an endpoint event")
                self._conversation.count(len(chunk))
                for piece in pieces_of(chunk):
                    for event in reader.feed(piece):
                        self._take(event)
                        taken += 1
                        if taken % _EVENTS_AT_ONCE == 0:
                            await asyncio.sleep(0)
                    if piece is not chunk:
                        await asyncio.sleep(0)
                if self._conversation.is_endless:
                    raise self._flood(self._conversation.most_unanswered, "an answer")
        except aiohttp.ClientError as broken:
            error = explain_loss(self._place, self._sender.url, broken)
        except TransportError as refused:
            error = refused
        finally:
            self._response.close()
            self._lose(error)

    def _take(self, event: ReceivedEvent) -> None:
        if self.endpoint.done():
            if event.name == b"message":
                self._conversation.take(event.data)
            else:
                logger.debug("%s sent an event %s", self._place, shorten(event.name, 40))
        elif event.name == b"endpoint":
            self.endpoint.set_result(self._read_endpoint(event.data))
        elif event.name == b"message":
            raise TransportError(f"{self._place} sent a message before an endpoint event")

    def _read_endpoint(self, data: bytes) -> str:
        """Return where messages go: never to another origin than that of the stream."""
        written = data.decode("utf-8", "replace").strip()
        endpoint = follow(self._sender.url, written)
        if endpoint is None:
            shown = without_secrets(written) if "://" in written else shorten(written, 60)
            raise TransportError(
                f"{self._place} names an endpoint of another origin, {shown!r}: "
                "nothing is sent there"
            )
        return endpoint

    def _flood(self, most: int, missing: str) -> TransportError:
        return TransportError(f"{self._place} sent more than {most} bytes without {missing}")

    def explain_silence(self) -> str:
        return self._conversation.explain_silence("events")

    # Ends.

    async def wait(self) -> None:
        self._tell_end = None  # it is told by this
        await self._over.wait()

    def close(self) -> None:
        self._tell_end = None
        if self._task is not None:
            self._task.cancel()
        self._response.close()
        self._lose(ConnectionLost(f"the stream of {self._place} was closed", sent=True))

    def _lose(self, error: TransportError) -> None:
        if self.lost is not None:
            return
        self.lost = error
        self._over.set()
        if not self.endpoint.done():
            self.endpoint.set_exception(error)
            self.endpoint.exception()  # nobody has to wait for it
        elif self._tell_end is not None:
            self._tell_end()
        reason, is_lost = str(error), isinstance(error, ConnectionLost)
        self._conversation.fail(
            lambda: ConnectionLost(reason, sent=True) if is_lost else TransportError(reason)
        )
