"""Whole requests and whole answers on uvicorn's connections, without the events of ASGI in between.

Most requests are whole when they are looked at, and most answers are when they are sent. Events
for them are made, checked header by header and taken apart again, which is a seventh of what a
small call costs (docs/internals/performance.md). Here a request is taken from uvicorn's record of
it, and an answer is written as uvicorn writes it: the same bytes, in the same order. Where anything
is out of the ordinary, or somebody stands in between, nothing is done: the events are there for it.

What is relied on beyond uvicorn's documentation is named in tests/server/test_uvicorn.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from anyshape.server.bodies import Receive
    from anyshape.server.response import Event, Send

__all__ = ["RECORD", "take_request", "write_answer"]

_Headers: TypeAlias = list[tuple[bytes, bytes]]

RECORD: Final = ("uvicorn.protocols.http.httptools_impl", "RequestResponseCycle")
"""Module and name of the class that has uvicorn's `receive` and `send`; other hosts have others."""
_STATUS: Final = b"HTTP/1.1 200 OK\r\n"
_PLAIN: Final = frozenset((b"date", b"server"))
"""What uvicorn says of itself; whatever else it was told to say is checked as it does that."""


class _Opening:
    """How a response begins: remembered for uvicorn's headers, which change once a second."""

    def __init__(self) -> None:
        self._last: tuple[_Headers, bytes | None] = ([], _STATUS)

    def for_headers(self, headers: _Headers) -> bytes | None:
        """Return status and headers as they are written; `None` if some are not uvicorn's own."""
        known, head = self._last
        if known is not headers:
            head = None
            if all(name in _PLAIN for name, _ in headers):
                head = _STATUS + b"".join(b"%b: %b\r\n" % header for header in headers)
            self._last = headers, head
        return head


_opening: Final = _Opening()


def take_request(receive: Receive) -> Event | None:
    """Return the event with the body of a request that has come whole, as `receive` would."""
    record = _record_of(receive)
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
    record = _record_of(send)
    if (
        record is None
        or record.response_started
        or record.disconnected
        or record.access_log
        or not record.keep_alive
        or record.flow.write_paused
    ):
        return False
    head = _opening.for_headers(record.default_headers)
    if head is None:
        return False
    record.response_started = record.response_complete = True
    record.waiting_for_100_continue = False
    write = record.transport.write
    write(b"%bcontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (head, len(body)))
    write(body)
    record.message_event.set()
    record.on_response()
    return True


def _record_of(method: object) -> RequestResponseCycle | None:
    """Return uvicorn's record of a request, if this is a method of it."""
    record: object = getattr(method, "__self__", None)
    kind = type(record)
    if (kind.__module__, kind.__name__) == RECORD:
        return cast("RequestResponseCycle", record)
    return None
