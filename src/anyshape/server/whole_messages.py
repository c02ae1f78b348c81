"""Whole requests and whole answers on uvicorn's connections, without the events of ASGI in between.

Most requests are whole when they are looked at, and most answers are when they are sent. Events
for them are made, checked header by header and taken apart again, which is a seventh of what a
small call costs (docs/internals/performance.md). Here a request is taken from uvicorn's record of
it, and an answer is written as uvicorn writes it: the same bytes, in the same order. Connections of
our own (`anyshape.server.http_protocol`) go one step further: a request that has come whole has no
record until somebody needs one. Where anything is out of the ordinary, or somebody stands in
between, nothing is done: the events are there for it.

What is relied on beyond uvicorn's documentation is named in tests/server/test_uvicorn.py.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent, HTTPScope
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from anyshape.server.bodies import Receive
    from anyshape.server.http_protocol import HttpProtocol
    from anyshape.server.response import Event, Send

_Headers: TypeAlias = list[tuple[bytes, bytes]]

VERSIONS: Final = frozenset({"0.53", "0.54"})
"""The versions of uvicorn that were read beside this module. Others are used through their events:
up to 0.52 `send` looks for `Connection: close` itself, and 0.43 knows of an end before it comes."""
_MODULE: Final = "uvicorn.protocols.http.httptools_impl"
_RECORD: Final = "RequestResponseCycle"
_STATUS: Final = b"HTTP/1.1 200 OK\r\n"
_LONG: Final = 65_536
"""Bytes that cost more to copy than to write apart from the head."""
_PLAIN: Final = frozenset((b"date", b"server"))
"""What uvicorn says of itself; whatever else it was told to say is checked as it does that."""


class _Opening:
    """How a response begins: remembered for uvicorn's headers, which change once a second."""

    def __init__(self) -> None:
        self._last: tuple[_Headers, bytes | None] = ([], _STATUS)

    def for_headers(self, headers: _Headers) -> bytes | None:
        """Return status and headers as they are written; `None` if some are not uvicorn's own."""
        known, head = self._last
        # Compared with a copy: a list that somebody adds to is still the same list.
        if known != headers:
            head = None
            if all(name in _PLAIN and _is_printable(value) for name, value in headers):
                head = _STATUS + b"".join(b"%b: %b\r\n" % header for header in headers)
            self._last = list(headers), head
        return head


def _is_printable(value: bytes) -> bool:
    """Tell whether a value is surely one that uvicorn does not refuse to write."""
    return value.isascii() and value.decode().isprintable()


_opening: Final = _Opening()


class UvicornRecords:
    """The class of uvicorn's records of requests, and its two methods that are events otherwise.

    They stay unknown if uvicorn has another version, or somebody has put functions of their own in
    their place: those are called then, as they are where a single `receive` or `send` is wrapped.
    """

    kind: type[RequestResponseCycle] | None = None
    receive: FunctionType | None = None
    send: FunctionType | None = None
    _is_sought = True

    def own(self, method: object) -> RequestResponseCycle | None:
        """Return the record that `method` is uvicorn's own `receive` or `send` of."""
        if type(method) is not MethodType:
            return None
        if self._is_sought:
            self._seek()
        function, record = method.__func__, method.__self__
        if type(record) is self.kind and (function is self.send or function is self.receive):
            return cast("RequestResponseCycle", record)
        return None

    def known(self) -> type[RequestResponseCycle] | None:
        """Return the class, as long as both methods are uvicorn's own."""
        if self._is_sought:
            self._seek()
        kind = self.kind
        if kind is None or kind.receive is not self.receive or kind.send is not self.send:
            return None
        return kind

    def _seek(self) -> None:
        """Find what is uvicorn's own, as soon as uvicorn is there."""
        module = sys.modules.get(_MODULE)
        kind = getattr(module, _RECORD, None)
        if module is None or not isinstance(kind, type):
            return
        self._is_sought = False
        version = str(getattr(sys.modules.get("uvicorn"), "__version__", ""))
        if ".".join(version.split(".")[:2]) not in VERSIONS:
            return
        found = [vars(kind).get(name) for name in ("receive", "send")]
        for function in found:
            # A function that stands in for another takes on its name, but not its globals.
            if type(function) is not FunctionType or function.__globals__ is not vars(module):
                return
        self.kind = kind
        self.receive, self.send = cast("list[FunctionType]", found)


records: Final = UvicornRecords()


def take_request(receive: Receive) -> Event | None:
    """Return the event with the body of a request that has come whole, as `receive` would."""
    record = records.own(receive)
    if (
        record is None
        or record.more_body
        or record.waiting_for_100_continue
        or record.disconnected
        or record.response_complete
        or not record.message_event.is_set()
    ):
        return None
    record.flow.resume_reading()
    record.message_event.clear()
    body, record.body = record.body, bytearray()
    return {"type": "http.request", "body": bytes(body), "more_body": False}


def write_answer(send: Send, body: bytes) -> bool:
    """Write a response with a JSON body; tell whether that was done, or is left to `send`."""
    if type(send) is MethodType:
        direct: object = cast("MethodType", send).__self__
        if type(direct) is DirectRequest:
            return direct.write(body)
    record = records.own(send)
    if (
        record is None
        or record.response_started
        or record.disconnected
        or record.access_log
        or not record.keep_alive
        or record.flow.write_paused
        or record.transport.get_write_buffer_size()  # The head could be what is too much.
        or record.scope["method"] == "HEAD"
    ):
        return False
    head = _opening.for_headers(record.default_headers)
    if head is None:
        return False
    record.response_started = True
    record.waiting_for_100_continue = False
    _write(record.transport, head, body)
    record.response_complete = True
    record.message_event.set()
    record.on_response()
    return True


def _write(transport: asyncio.Transport, opening: bytes, body: bytes) -> None:
    size = len(body)
    head = b"%bcontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (opening, size)
    if size < _LONG:
        transport.write(head + body)
    else:
        transport.write(head)
        transport.write(body)


class DirectRequest:
    """A request that has come whole to a connection of ours, and has no record of uvicorn's yet.

    An answer that is whole is written without one. Whatever else happens, to the request or to its
    connection, is for the record: `receive` and `send` are those of one that is made then, as it
    would be by now.
    """

    __slots__ = ("_connection", "_headers", "_is_begun", "_is_over", "_kind", "_record")

    def __init__(self, connection: HttpProtocol, kind: type[RequestResponseCycle]) -> None:
        self._connection = connection
        self._kind = kind
        self._headers = connection.server_state.default_headers
        self._record: RequestResponseCycle | None = None
        self._is_begun = self._is_over = False

    async def run(self, answering: Awaitable[None]) -> None:
        """Await what answers the request; what is wrong with that is for uvicorn to say."""
        failure: BaseException | None = None
        try:
            await answering
        except BaseException as error:
            failure = error
        if self._is_over and failure is None:
            return

        async def ended(*_: object) -> None:
            if failure is not None:
                raise failure

        try:
            await self.record().run_asgi(ended)
        finally:
            failure = None  # It knows these frames: what they hold would wait for the collector.

    def write(self, body: bytes) -> bool:
        """Write a response with a JSON body; tell whether that was done, or is left to `send`."""
        if self._record is not None:
            return write_answer(cast("Send", self._record.send), body)
        connection = self._connection
        transport = connection.transport
        if connection.flow.write_paused or transport.get_write_buffer_size():
            return False
        head = _opening.for_headers(self._headers)
        if head is None:
            return False
        self._is_begun = True
        _write(transport, head, body)
        self._is_over = True
        connection.direct_request = None
        connection.on_response_complete()
        return True

    async def receive(self) -> Event:
        """Do as the record does."""
        return cast("Event", await self.record().receive())

    async def send(self, event: Event) -> None:
        """Do as the record does."""
        await self.record().send(cast("ASGISendEvent", event))

    def record(self) -> RequestResponseCycle:
        """Return the record, whose body has been read; the connection has it from now on."""
        record = self._record
        if record is None:
            connection = self._connection
            record = self._record = self._kind(
                # No more of it is looked at: nobody logs accesses, and it is not for applications.
                scope=cast("HTTPScope", {"type": "http", "method": "POST"}),
                transport=connection.transport,
                flow=connection.flow,
                logger=connection.logger,
                access_logger=connection.access_logger,
                access_log=False,
                default_headers=self._headers,
                message_event=asyncio.Event(),
                expect_100_continue=False,
                keep_alive=True,
                on_response=connection.on_response_complete,
            )
            record.more_body = False
            record.response_started, record.response_complete = self._is_begun, self._is_over
            if not self._is_over:
                connection.cycle, connection.direct_request = record, None
        return record
