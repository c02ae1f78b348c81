"""HTTP responses: a whole one with a JSON body, or a stream that ends with the answer.

A stream is one of server-sent events, one JSON-RPC message each. A message is encoded without
newlines, so an event is one `data` line. See "Receiving Messages" in the Streamable HTTP page of
revision 2026-07-28, and https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final, TypeAlias

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_error
from anyshape.protocol.revision import LATEST
from anyshape.server.failures import http_status, translate

Scope: TypeAlias = MutableMapping[str, Any]
Event: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Event], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

_log = logging.getLogger("anyshape.server")

_JSON: Final = (b"content-type", b"application/json")
_STREAM: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
"""What a stream is headed with: never cached, never held back by a proxy."""
_KEEP_ALIVE: Final = b": keep-alive\n\n"
"""A comment: carries nothing, and shows intermediaries that the connection lives."""
_MOST_QUEUED: Final = 1024
_MOST_QUEUED_BYTES: Final = 8 * 1024 * 1024
"""Beyond these the oldest messages are dropped."""
_NEARLY: Final = 7 / 8
"""Part of them that progress and log messages may take: the rest is for what has to arrive."""
_ADVICE: Final = {503: ((b"retry-after", b"1"),)}
"""Headers that go with a status."""
_GONE: Final = 499
"""What proxies write into their logs when a client did not wait for its answer."""


def json_start(status: int, body: bytes, *headers: Header) -> Event:
    """Return the event that starts a response with a JSON body."""
    sent = [_JSON, (b"content-length", b"%d" % len(body)), *headers]
    return {"type": "http.response.start", "status": status, "headers": sent}


async def send_json(send: Send, status: int, body: bytes, *headers: Header) -> None:
    """Send a response with a JSON body."""
    await send(json_start(status, body, *headers, *_ADVICE.get(status, ())))
    await send({"type": "http.response.body", "body": body})


async def send_page(
    send: Send, status: int, kind: str, body: bytes, *, headers_only: bool = False
) -> None:
    """Send a page that is not of the protocol, such as the answer to a probe."""
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if headers_only else body})


async def refuse(send: Send, status: int, reason: str, *headers: Header) -> None:
    """Send the reason why a request is not served, as an error without an id."""
    await send_json(send, status, encode_error(None, INVALID_REQUEST, reason), *headers)


async def send_error(send: Send, error: ProtocolError) -> None:
    """Send an error that answers no request in particular, under its status."""
    failure = translate(error, "")
    body = encode_error(None, failure.code, failure.message, failure.data)
    await send_json(send, http_status(failure, LATEST), body)


async def accept(send: Send, status: int = 202) -> None:
    """Acknowledge a message that has no answer."""
    headers = [] if status == 204 else [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def dismiss(send: Send) -> None:
    """End the response to a client that is gone: no one reads it, but hosts expect one."""
    headers = [(b"content-length", b"0")]
    with contextlib.suppress(OSError):
        await send({"type": "http.response.start", "status": _GONE, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class StreamRoom:
    """What may wait to be sent on all streams of an application, shared evenly by those that send.

    Each stream bounds what waits on it, but there may be any number of them that nobody reads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.sending = 0

    @property
    def share(self) -> int:
        """How many bytes may wait on one stream."""
        return min(_MOST_QUEUED_BYTES, self._most // max(1, self.sending))


class EventStream:
    """A response that says something before its answer.

    Messages are pushed from wherever the tool reports; a task that lives as long as there is
    something to write moves them, so that a slow reader slows nobody but itself down. When it reads
    too slowly the oldest messages are dropped: progress that was overtaken is worth nothing. When
    the host cannot send any more, nothing is.
    """

    def __init__(
        self, send: Send, keep_alive: float, room: StreamRoom, headers: Sequence[Header] = ()
    ) -> None:
        self._send = send
        self._room = room
        self._headers = headers
        self._keep_alive = keep_alive
        self._queue: list[bytes] = []
        self._queued = 0
        """Bytes of messages in the queue."""
        self._started = False
        self._over = False
        self._pump: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._wind()

    @property
    def unread(self) -> int:
        """How many events wait to be sent."""
        return len(self._queue)

    @property
    def is_nearly_full(self) -> bool:
        """Whether its reader is so far behind that messages will soon be dropped."""
        if len(self._queue) >= _NEARLY * _MOST_QUEUED:
            return True
        return self._queued >= _NEARLY * self._room.share

    def push(self, message: bytes) -> None:
        """Send a message before the answer."""
        self.push_event(write_event(message))

    def push_event(self, event: bytes) -> None:
        """Send an event as it is."""
        if self._over:
            return
        self._queue.append(event)
        self._queued += len(event)
        share = self._room.share
        while len(self._queue) > 1 and (len(self._queue) > _MOST_QUEUED or self._queued > share):
            self._queued -= len(self._queue.pop(0))
        self._start_pump()

    async def finish(self, answer: bytes | None, status: int = 200) -> None:
        """Send the answer, if anybody waits for it, and end the response."""
        await self.end(b"" if answer is None else write_event(answer), status)

    async def end(self, last: bytes = b"", status: int = 200) -> None:
        """End the response, with a last event if there is one."""
        self._unwind()
        if self._pump is not None:
            await self._pump
        if self._over:
            return
        self._over = True
        if not self._started:
            await self._start(status)
        self._queue.append(last)
        await self._send({"type": "http.response.body", "body": b"".join(self._queue)})
        self._queue.clear()

    def abandon(self) -> None:
        """Send nothing more, not even the end."""
        self._over = True
        self._queue.clear()
        self._unwind()

    def _unwind(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wind(self) -> None:
        self._unwind()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._keep_alive, self.break_silence)

    def break_silence(self) -> None:
        """Send a comment if nothing else is on its way, and again after the next silence."""
        if self._over:
            return
        self._wind()
        if self._pump is None:
            self._queue.append(_KEEP_ALIVE)
            self._start_pump()

    def _start_pump(self) -> None:
        if self._pump is None:
            self._pump = asyncio.get_running_loop().create_task(self._run_pump())
            self._room.sending += 1
            self._pump.add_done_callback(self._leave_room)

    def _leave_room(self, _pump: object) -> None:
        self._room.sending -= 1

    async def _start(self, status: int) -> None:
        self._started = True
        headers = [*_STREAM, *self._headers]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _run_pump(self) -> None:
        try:
            if not self._started:
                await self._start(200)
            while self._queue:
                body = b"".join(self._queue)
                self._queue.clear()
                self._queued = 0
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
        except Exception:
            _log.debug("the client is gone", exc_info=True)
            self.abandon()
        finally:
            self._pump = None


def write_event(message: bytes, id: bytes | None = None, retry: float | None = None) -> bytes:
    """Return an event with a message, or with none; `retry` is in seconds."""
    event = b"data: " + message + b"\n\n"
    if retry is not None:
        event = b"retry: %d\n%b" % (retry * 1000, event)
    return event if id is None else b"id: %b\n%b" % (id, event)
