"""Bodies that come compressed, read in pieces of a bounded size: a few bytes may stand for many."""

from __future__ import annotations

import zlib
from typing import Final

import aiohttp

ENCODINGS: Final = "gzip, deflate"
"""What is offered to servers, as `Accept-Encoding` says it."""

_PIECE: Final = 1 << 16
"""Bytes that are returned at once, at most."""
_SLICE: Final = 1 << 12
"""Bytes that zlib gets at once: it copies what is left of them at the end of every member."""
WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": zlib.MAX_WBITS}
"""The encodings that can be read, and what zlib calls them."""
_ZLIB_METHOD: Final = 8


class Inflater:
    """Decodes one body; `ClientPayloadError` if it is not encoded as its header says."""

    def __init__(self, encoding: str) -> None:
        self._window = WINDOWS[encoding]
        self._stream: zlib._Decompress | None = None
        self._fed = b""
        self._at = 0
        self._is_full = False
        """Whether the last piece ended where it was cut, and zlib may have the rest."""

    def feed(self, data: bytes) -> None:
        """Take more of the body."""
        self._fed = self._fed[self._at :] + data
        self._at = 0

    def take(self) -> bytes:
        """Return the next piece of what was fed, nothing if more is needed."""
        while self._is_full or self._at < len(self._fed):
            data = self._fed[self._at : self._at + _SLICE]
            stream = self._stream
            if stream is None or (stream.eof and data):
                stream = self._stream = self._begin(data)
            try:
                piece = stream.decompress(data, _PIECE)
            except zlib.error as error:
                raise aiohttp.ClientPayloadError(f"the body cannot be decoded: {error}") from error
            left = stream.unused_data if stream.eof else stream.unconsumed_tail
            self._at += len(data) - len(left)
            self._is_full = len(piece) == _PIECE and not stream.eof
            if piece:
                return piece
        return b""

    def finish(self) -> None:
        """Raise if the body has ended too early."""
        if self._stream is not None and not self._stream.eof:
            raise aiohttp.ClientPayloadError("the compressed body breaks off")

    def _begin(self, data: bytes) -> zlib._Decompress:
        window = self._window
        if window == zlib.MAX_WBITS:
            if self._stream is not None:  # only gzip may go on with another member
                raise aiohttp.ClientPayloadError("the compressed body goes on behind its end")
            if data[0] & 0xF != _ZLIB_METHOD:
                # Some servers send bare deflate under that name, without zlib's header.
                window = -zlib.MAX_WBITS
        return zlib.decompressobj(window)
