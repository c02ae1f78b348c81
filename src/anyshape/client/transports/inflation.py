"""Bodies that come compressed, read in pieces of a bounded size: a few bytes may stand for many."""

from __future__ import annotations

import zlib
from typing import Final

import aiohttp

__all__ = ["ENCODINGS", "WINDOWS", "Inflater"]

ENCODINGS: Final = "gzip, deflate"
"""What is offered to servers, as `Accept-Encoding` says it."""

_PIECE: Final = 1 << 16
WINDOWS: Final = {"gzip": 31, "x-gzip": 31, "deflate": zlib.MAX_WBITS}
"""The encodings that can be read, and what zlib calls them."""
_ZLIB_METHOD: Final = 8


class Inflater:
    """Decodes one body; `ClientPayloadError` if it is not encoded as its header says."""

    def __init__(self, encoding: str) -> None:
        self._window = WINDOWS[encoding]
        self._stream: zlib._Decompress | None = None
        self._left = b""

    def feed(self, data: bytes) -> None:
        """Take more of the body."""
        self._left += data

    def take(self) -> bytes:
        """Return the next piece of what was fed, nothing if more is needed."""
        while self._left:
            stream = self._stream
            if stream is None:
                stream = self._stream = zlib.decompressobj(self._window_of(self._left))
            try:
                piece = stream.decompress(self._left, _PIECE)
            except zlib.error as error:
                raise aiohttp.ClientPayloadError(f"the body cannot be decoded: {error}") from error
            self._left = stream.unused_data if stream.eof else stream.unconsumed_tail
            if stream.eof and self._left:
                self._stream = None  # gzip may go on with another member
            if piece:
                return piece
        return b""

    def finish(self) -> None:
        """Raise if the body has ended too early."""
        if self._stream is not None and not self._stream.eof:
            raise aiohttp.ClientPayloadError("the compressed body breaks off")

    def _window_of(self, data: bytes) -> int:
        # Some servers send bare deflate under that name, without the header that zlib writes.
        if self._window == zlib.MAX_WBITS and data[0] & 0xF != _ZLIB_METHOD:
            return -zlib.MAX_WBITS
        return self._window
