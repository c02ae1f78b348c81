"""Server-sent events, read piece by piece.

The format is https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream;
comments are ignored and lines may end in LF, CR or CRLF.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from anyshape.errors import TransportError
from anyshape.protocol.headers import LONGEST_ECHO

_LINES_APART: Final = 4096
"""Lines of one event that are kept as they came: short ones take twenty times their room."""
_PIECE: Final = 8 * 1024
"""Bytes of short lines that are read at a time: a hundred streams may have as many at once."""
_FEW_LINES: Final = 1_000


def pieces_of(chunk: bytes) -> Iterable[bytes]:
    """Return a chunk in pieces, between which others are to have a turn; nearly all are one."""
    if len(chunk) <= _PIECE or chunk.count(b"\n") + chunk.count(b"\r") <= _FEW_LINES:
        return (chunk,)
    return (chunk[start : start + _PIECE] for start in range(0, len(chunk), _PIECE))


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One dispatched event."""

    data: bytes
    name: bytes = b"message"


class EventReader:
    """Turns chunks of a stream into events; `last_id` and `retry` are for resuming it."""

    def __init__(self, place: str, max_event_bytes: int) -> None:
        """Read what a place sends, events of so many bytes at most."""
        self.last_id: str | None = None
        self.retry: float | None = None
        self._place = place
        self._max_event_bytes = max_event_bytes
        self.restart()

    def restart(self) -> None:
        """Read another stream from its beginning; an event that was cut off is dropped."""
        self._partial: list[bytes] = []
        self._partial_size = 0
        self._data: list[bytes] = []
        self._joined = bytearray()
        self._data_size = 0
        self._name = b""
        self._after_return = False
        self._first = True

    @property
    def gathered(self) -> int:
        """How many bytes there are of an event that is not complete."""
        return self._data_size + self._partial_size

    def feed(self, chunk: bytes) -> list[ReceivedEvent]:
        """Return the events that this chunk completes."""
        if self._after_return and chunk.startswith(b"\n"):
            self._after_return = False
            chunk = chunk[1:]
        if not chunk:
            return []
        self._after_return = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events: list[ReceivedEvent] = []
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            if self._partial:
                self._partial.append(line)
                line = b"".join(self._partial)
                self._partial.clear()
                self._partial_size = 0
            event = self._take(line)
            if event is not None:
                events.append(event)
        if rest:
            self._partial.append(rest)
            self._partial_size += len(rest)
            self._check_size(self.gathered)
        return events

    def _take(self, line: bytes) -> ReceivedEvent | None:
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            if len(self._data) > _LINES_APART:
                self._join_data()
            self._data_size += len(value) + 1
            self._check_size(self._data_size)
        elif name == b"event":
            self._name = value
        elif name == b"id" and b"\0" not in value:
            # Behind an event with a longer one no stream can be resumed, as behind one with none.
            is_short = len(value) <= LONGEST_ECHO
            self.last_id = value.decode("utf-8", "replace") if is_short else None
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self.retry = int(value) / 1000
        return None

    def _dispatch(self) -> ReceivedEvent | None:
        data, name = self._data, self._name
        self._name = b""
        if not data:
            return None
        self._data = []
        self._data_size = 0
        whole = b"\n".join(data)
        if self._joined:
            whole = bytes(self._joined + whole)
            self._joined = bytearray()
        return ReceivedEvent(whole, name or b"message")

    def _join_data(self) -> None:
        """Make one text of all lines but the last, by which an event shows that it has data."""
        last = self._data.pop()
        self._joined += b"\n".join(self._data) + b"\n"
        self._data = [last]

    def _check_size(self, size: int) -> None:
        if size > self._max_event_bytes:
            raise TransportError(
                f"{self._place} sent an event longer than {self._max_event_bytes} bytes"
            )
