"""One request and its response, on a connection that aiohttp has made and keeps.

aiohttp resolves names, connects, speaks TLS, and keeps as many connections as are allowed. What its
session does beside that, for every request, takes three times as long as writing the request and
parsing the response by themselves (docs/internals/client.md), so these are done here: a connection
is borrowed, and given back to the protocol that aiohttp gave it when the response has come.

The grammar of responses is left to httptools, with the leniencies that aiohttp grants servers.
https://www.rfc-editor.org/rfc/rfc9112
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, cast

import aiohttp
import httptools

from anyshape.client.transports.inflation import WINDOWS, Inflater
from anyshape.client.transports.routes import Route

_LONGEST_HEAD: Final = 1 << 18
"""Bytes of a response up to its body, with all that comes before the final head; and bytes that
are no body on the way to its next piece or its end, such as trailers."""
_BUFFERED: Final = 1 << 18
"""Bytes of a body that wait to be read before the connection does."""
_TOO_LONG: Final = f"more than {_LONGEST_HEAD} bytes of headers"
_SEVERAL: Final = 2
_SWITCHING: Final = 101

_LENIENCIES: Final[dict[str, Any]] = {
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_spaces_after_chunk_size": True,
}


class BadResponse(aiohttp.ClientError):
    """What a server sent is no HTTP response."""


class Unwritten(aiohttp.ClientConnectionError):
    """A connection was closed before anything of the request was written to it."""


class Outbox:
    """Requests of one turn of the event loop, which leave together at its end.

    A write on a local connection runs through the network stack to the far end; done between the
    work on one call and on the next, it drives the code and data of both out of the caches. A
    request that is alone leaves at once.
    """

    def __init__(self) -> None:
        self.under_way = 0
        """Requests that wait for the head of a response."""
        self._waiting: list[tuple[DirectResponse, bytes]] = []

    def add(self, response: DirectResponse, request: bytes) -> None:
        """Write a request, when all that can run now has run if there are others."""
        if self.under_way < _SEVERAL:
            response.write(request)
            return
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append((response, request))

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for response, request in waiting:
            response.write(request)


class DirectResponse(asyncio.Protocol):
    """A request that was sent, and the response to it, read as it comes."""

    __slots__ = (
        "_buffered",
        "_chunks",
        "_connection",
        "_error",
        "_given",
        "_handler",
        "_has_head",
        "_headers",
        "_inflater",
        "_is_complete",
        "_is_gathered",
        "_is_interim",
        "_is_kept",
        "_is_paused",
        "_is_written",
        "_parser",
        "_reason",
        "_received",
        "_repeated",
        "_route",
        "_transport",
        "_waiter",
        "status",
    )

    def __init__(
        self, connection: aiohttp.connector.Connection, route: Route, given: Mapping[str, str]
    ) -> None:
        """Take a connection to a route, for a request with the headers given."""
        self.status = 0
        self._route = route
        self._given = given
        self._reason = b""
        self._headers: dict[bytes, bytes] = {}
        self._repeated: list[tuple[bytes, bytes]] = []
        self._connection: aiohttp.connector.Connection | None = connection
        self._handler = connection.protocol
        self._transport = cast("asyncio.Transport", connection.transport)
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**_LENIENCIES)
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._received = 0
        self._waiter: asyncio.Future[None] | None = None
        self._error: aiohttp.ClientError | None = None
        self._inflater: Inflater | None = None
        self._has_head = False
        self._is_interim = False
        self._is_complete = False
        self._is_kept = False
        self._is_paused = False
        self._is_gathered = False
        self._is_written = False

    async def send(self, request: bytes, outbox: Outbox) -> None:
        """Write the request, and wait for the head of the response."""
        self._transport.set_protocol(self)
        outbox.under_way += 1
        try:
            outbox.add(self, request)
            while not self._has_head:
                await self._wait()
        finally:
            outbox.under_way -= 1

    def write(self, request: bytes) -> None:
        """Write the request, unless the connection was given back or closed in the meantime."""
        if self._connection is None:
            return
        if self._transport.is_closing():
            self._fail(Unwritten("the server has hung up"))
            return
        self._is_written = True
        try:
            self._transport.write(request)
        except Exception as error:  # which must not cost the requests that leave with it
            self._fail(aiohttp.ClientConnectionError(str(error)))

    # What a reply is.

    @property
    def sent(self) -> Mapping[str, str]:
        """The headers of the request."""
        return {**self._route.fixed, **self._given}

    @property
    def reason(self) -> str:
        """What the server calls the status."""
        return self._reason.decode("utf-8", "replace")

    @property
    def is_over(self) -> bool:
        """Whether the body was read to its end."""
        return self._is_complete and not self._chunks

    def header(self, name: str) -> str | None:
        """Return the first header of that name, which is written in small letters."""
        value = self._headers.get(name.encode())
        return None if value is None else value.decode("utf-8", "surrogateescape")

    def headers(self, name: str) -> tuple[str, ...]:
        """Return every header of that name."""
        wanted = name.encode()
        found = [self._headers[wanted]] if wanted in self._headers else []
        found += [value for known, value in self._repeated if known == wanted]
        return tuple(value.decode("utf-8", "surrogateescape") for value in found)

    async def read(self) -> bytes:
        """Return the whole body, as it came."""
        self._is_gathered = True
        self._buffered = 0  # nothing waits for a reader who takes all
        self._resume()
        while not self._is_complete:
            await self._wait()
        chunks = self._chunks
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()
        return body

    async def next_chunk(self) -> bytes:
        """Return the next piece of the body, nothing at its end."""
        inflater = self._inflater
        if inflater is None:
            return await self._next_raw()
        if piece := inflater.take():
            # Few bytes may stand for many, whose reader has to wait for nothing else.
            await asyncio.sleep(0)
            return piece
        while not (piece := inflater.take()):
            raw = await self._next_raw()
            if not raw:
                inflater.finish()
                return b""
            inflater.feed(raw)
        return piece

    async def _next_raw(self) -> bytes:
        while not self._chunks:
            if self._is_complete:
                return b""
            self._resume()
            await self._wait()
        chunk = self._chunks.popleft()
        self._buffered -= len(chunk)
        return chunk

    def close(self) -> None:
        """Drop the rest, and the connection, which was given back if all of it has come."""
        self._chunks.clear()
        self._give_back(keep=False)
        self._fail(aiohttp.ClientConnectionError("the connection was closed"))

    # What the connection tells.

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        parser = self._parser
        if parser is None:
            return
        if not self._is_written:
            # https://www.rfc-editor.org/rfc/rfc9112#section-9.2: no answer, whatever it says
            self._fail(Unwritten("the server spoke before it was asked"))
            return
        self._received += len(data)
        before = len(self._chunks)
        try:
            parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._is_kept = False
            if not self._is_complete:
                self._fail(BadResponse(str(error.__context__ or error)))
        if len(self._chunks) - before > 1:
            self._join_chunks(before)
        if self._is_complete:
            self._give_back(keep=self._is_kept)
            self._wake()
        elif self._received > _LONGEST_HEAD:
            self._fail(BadResponse(_TOO_LONG))
        elif self._chunks:
            if self._buffered > _BUFFERED and not self._is_gathered and not self._is_paused:
                self._is_paused = True
                self._transport.pause_reading()
            self._wake()

    def _join_chunks(self, first: int) -> None:
        """Make one of the chunks from `first` on: short ones take thirty times their room."""
        came = [self._chunks.pop() for _ in range(len(self._chunks) - first)]
        self._chunks.append(b"".join(reversed(came)))

    def pause_writing(self) -> None:
        """Have aiohttp know that the server is slow to read: it may hear of the end of that."""
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Have aiohttp know that the server reads on."""
        if self._handler is not None:
            self._handler.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the response, or say that it broke off."""
        by_server = exc is None and self._handler is not None and self._handler.connected
        if self._handler is not None:
            self._handler.connection_lost(exc)  # aiohttp waits for it when it closes
        if self._is_complete or self._error is not None:
            return
        if not self._is_written:
            self._fail(Unwritten("the server has hung up"))
        elif not self._has_head:
            lost = aiohttp.ServerDisconnectedError()
            self._fail(lost if exc is None else aiohttp.ClientOSError(*exc.args))
        elif by_server and self._ends_with_connection():
            self._is_complete = True
            self._give_back(keep=False)
            self._wake()
        else:
            self._fail(aiohttp.ClientPayloadError("the response broke off"))

    def _ends_with_connection(self) -> bool:
        return self.header("content-length") is None and self.header("transfer-encoding") is None

    # What the parser tells.

    def on_message_begin(self) -> None:
        """Refuse a response that nobody asked for."""
        if self._is_complete:
            raise BadResponse("more than one response")

    def on_status(self, status: bytes) -> None:
        """Take the words of the status."""
        self._reason += status

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind the body say nothing that is wanted."""
        if self._has_head:
            return
        name = name.lower()
        if name in self._headers:
            self._repeated.append((name, value))
        else:
            self._headers[name] = value

    def on_headers_complete(self) -> None:
        """Know that the head is there, unless it is one that only precedes it."""
        parser = self._parser
        if parser is None:
            return
        status = parser.get_status_code()
        if self._received > _LONGEST_HEAD:
            fields = (*self._headers.items(), *self._repeated)
            if sum(len(name) + len(value) for name, value in fields) > _LONGEST_HEAD:
                raise BadResponse(_TOO_LONG)
        if status < 100:
            raise BadResponse(f"there is no status {status}")
        if status == _SWITCHING:
            raise BadResponse("the server switches to another protocol")
        if status < 200:
            self._is_interim = True
            self._headers.clear()
            self._repeated.clear()
            self._reason = b""
            return
        self.status = status
        self._is_kept = parser.should_keep_alive()
        self._has_head = True
        self._received = 0
        if b"content-encoding" in self._headers:
            encoding = (self.header("content-encoding") or "").strip().lower()
            if encoding in WINDOWS:
                self._inflater = Inflater(encoding)
        self._wake()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._chunks.append(body)
        self._buffered += len(body)
        self._received = 0

    def on_message_complete(self) -> None:
        """Know that the response is there."""
        if self._is_interim:
            self._is_interim = False
        else:
            self._is_complete = True

    # Ends.

    async def _wait(self) -> None:
        """Wait for more; raise what went wrong."""
        if self._error is None:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            except asyncio.CancelledError:
                self.close()
                raise
            finally:
                self._waiter = None
        if self._error is not None:
            raise self._error

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _resume(self) -> None:
        if self._is_paused and self._buffered <= _BUFFERED:
            self._is_paused = False
            self._transport.resume_reading()

    def _fail(self, error: aiohttp.ClientError) -> None:
        if not self._is_complete and self._error is None:
            self._error = error
            self._give_back(keep=False)
            self._wake()

    def _give_back(self, *, keep: bool) -> None:
        """Give the connection back to aiohttp, once; what is not kept is closed by it."""
        connection, self._connection = self._connection, None
        self._parser = None  # The parser knows this object, and would be left to the GC with it.
        if connection is None:
            return
        if self._handler is not None and not self._transport.is_closing():
            if self._is_paused:
                self._transport.resume_reading()
            self._transport.set_protocol(self._handler)
            if _has_unsent(self._transport):
                # Nobody waits until the server has read the rest of a request that is over.
                keep = False
                self._transport.abort()
        if keep:
            connection.release()
        else:
            connection.close()


def _has_unsent(transport: asyncio.Transport) -> bool:
    """Tell whether some of what was written has yet to leave this process.

    A TLS transport of asyncio does not count what waits in the transport below it.
    """
    below = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None)
    waiting = transport.get_write_buffer_size()
    return bool(waiting if below is None else waiting or below.get_write_buffer_size())
