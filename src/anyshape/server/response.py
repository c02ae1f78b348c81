"""One HTTP response: a JSON answer, or a stream if anything has to be said before the answer.

Which of the two it is gets decided by the first message that comes before the answer, or by a
silence so long that an intermediary might close the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_error
from anyshape.server.events import KEEP_ALIVE, STREAM_HEADERS, frame

__all__ = ["HttpResponse", "Send"]

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_JSON: Final = (b"content-type", b"application/json")
_MOST_QUEUED: Final = 1024


class HttpResponse:
    """What goes back to one POST."""

    __slots__ = (
        "_closed",
        "_keep_alive",
        "_pump",
        "_queue",
        "_send",
        "_started",
        "_timer",
        "takes_json",
        "takes_stream",
    )

    def __init__(self, send: Send, keep_alive: float) -> None:
        self.takes_json = True
        self.takes_stream = True
        self._send = send
        self._keep_alive = keep_alive
        self._queue: list[bytes] = []
        self._started = False
        self._closed = False
        self._pump: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def push(self, message: bytes) -> None:
        """Send a message before the answer, which makes the response a stream.

        A client that takes no stream does without. When it reads too slowly the oldest messages
        are dropped: progress that was overtaken is worth nothing.
        """
        if not self.takes_stream or self._closed:
            return
        if len(self._queue) >= _MOST_QUEUED:
            del self._queue[0]
        self._queue.append(frame(message))
        self._start_pump()

    def watch_silence(self) -> None:
        """See to it that a long wait is not a silent one."""
        if self.takes_stream and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._keep_alive, self._break_silence)

    async def answer(self, body: bytes, status: int = 200) -> None:
        """Send the answer and end the response."""
        if not self._started and self.takes_json:
            self._close()
            await self.send_json(status, body)
            return
        if self._pump is not None:
            await self._pump
        self._close()
        if not self._started:
            self._started = True
            await self._send(
                {"type": "http.response.start", "status": status, "headers": STREAM_HEADERS}
            )
        last = b"".join([*self._queue, frame(body)])
        self._queue.clear()
        await self._send({"type": "http.response.body", "body": last})

    async def send_json(self, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
        """Send a whole response with a JSON body."""
        length = (b"content-length", b"%d" % len(body))
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [_JSON, length, *headers],
            }
        )
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(
        self, status: int, reason: str, *headers: tuple[bytes, bytes], closes: bool = False
    ) -> None:
        """Send the reason why a request is not served, as an error without an id."""
        if closes:
            headers = (*headers, (b"connection", b"close"))
        await self.send_json(status, encode_error(None, INVALID_REQUEST, reason), *headers)

    async def accept(self) -> None:
        """Acknowledge a message that has no answer."""
        await self._send(
            {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]}
        )
        await self._send({"type": "http.response.body", "body": b""})

    async def abandon(self) -> None:
        """End the response without an answer: nobody is there to read it."""
        self._close()
        self._queue.clear()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])
        if self._started:
            await self._send({"type": "http.response.body", "body": b""})

    def _close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_pump(self) -> None:
        if self._pump is None:
            self._pump = asyncio.get_running_loop().create_task(self._run_pump())

    async def _run_pump(self) -> None:
        try:
            if not self._started:
                self._started = True
                await self._send(
                    {"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS}
                )
            while self._queue:
                body = b"".join(self._queue)
                self._queue.clear()
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
        finally:
            self._pump = None

    def _break_silence(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._keep_alive, self._break_silence)
        if self._pump is None:
            self._queue.append(KEEP_ALIVE)
            self._start_pump()
