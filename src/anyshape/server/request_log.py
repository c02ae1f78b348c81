"""Log messages of one request: those that its peer wants, short, and no more than it can follow."""

from __future__ import annotations

import asyncio
import reprlib
import threading
from time import monotonic
from typing import Any, Final

from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.log_levels import SEVERITY, LogLevel
from anyshape.protocol.methods import LOG_MESSAGE
from anyshape.server.request import OpenRequest
from anyshape.tools.serialization import encode_json

_WINDOW: Final = 1.0
_MOST_MESSAGES: Final = 100
"""Messages of one request within so many seconds; of more, only the number is told."""

_LONGEST_DATA: Final = 64 * 1024
"""Bytes of a message's data."""
_LONGEST_TEXT: Final = 8 * 1024
"""Characters of data that is text."""

_outline: Final = reprlib.Repr()
"""Says what other data is if it is longer than that, or no JSON."""
_outline.maxlevel = 3
_outline.maxstring = _outline.maxother = 400

_LONGEST_NAME: Final = 256


class RequestLog:
    """Sends the messages of one request, from any thread, until it is answered.

    Nobody waits for a message: one that comes while the peer is far behind in reading, or after
    many others, is left out, and the peer is told how many were.
    """

    __slots__ = ("_count", "_least", "_left_out", "_loop", "_request", "_thread", "_window",
        "is_open")  # fmt: skip

    def __init__(self, request: OpenRequest, level: LogLevel) -> None:
        self._request = request
        self._least = SEVERITY[level]
        self._count = 0
        self._left_out = 0
        self._window = 0.0
        """When counting starts again."""
        self.is_open = True
        """Whether anything is still sent."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def write(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Send a message if it is severe enough; `data` that is no JSON is sent as text."""
        if SEVERITY[level] < self._least or not self.is_open:
            return
        now = monotonic()
        if now >= self._window:
            self._tell_left_out()
            self._window = now + _WINDOW
            self._count = 0
        self._count += 1
        if self._count > _MOST_MESSAGES or self._request.peer.is_congested:
            self._left_out += 1
        else:
            self._pass_on(level, _data_text(data), logger)

    def finish(self) -> None:
        """Send what is left to say before the answer, and nothing after it."""
        self._tell_left_out()
        self.is_open = False

    def close(self) -> None:
        """Send nothing more."""
        self.is_open = False

    def _tell_left_out(self) -> None:
        count, self._left_out = self._left_out, 0
        if count:
            note = f"{count} log messages were left out, for there were too many at a time"
            self._pass_on("warning", encode_data(note), "anyshape")

    def _pass_on(self, level: LogLevel, data: bytes, logger: str | None) -> None:
        named = b"" if logger is None else b'"logger":%b,' % encode_data(_printable(logger))
        message = encode_notification(LOG_MESSAGE, b'{"level":"%b",%b"data":%b}' % (
            level.encode(), named, data))  # fmt: skip
        if threading.get_ident() == self._thread:
            self._send(message)
        else:
            self._loop.call_soon_threadsafe(self._send, message)

    def _send(self, message: bytes) -> None:
        if self.is_open and self._request.interruption is None:
            self._request.peer.send(message)


def _data_text(data: Any) -> bytes:
    """Return data as JSON text of a bounded length."""
    if isinstance(data, str) and len(data) > _LONGEST_TEXT:
        data = f"{data[:_LONGEST_TEXT]}… ({len(data)} characters in all)"
    try:
        text = encode_json(data)
    except Exception:  # Whatever it is, it is no reason for a tool to fail.
        text = b""
    if 0 < len(text) <= _LONGEST_DATA:
        return text
    shown = data if isinstance(data, str) else _outline.repr(data)
    return encode_data(_printable(shown, _LONGEST_DATA))


def _printable(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return the start of a text, without what no UTF-8 can hold."""
    return text[:longest].encode(errors="replace").decode()
