"""uvicorn's HTTP protocol, with the head and the body of a response in one write.

uvicorn writes the head of a response when the application starts it and the body when that follows:
two system calls, two packets and two wake-ups of whoever waits, where one of each would do. Here a
head that announces a body waits for it. Heads of streams and of empty responses leave at once.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["JoiningProtocol"]

_HEAD: Final = b"HTTP/1.1 "
_END: Final = b"\r\n\r\n"
_BODY: Final = b"\r\ncontent-length: "
_NO_BODY: Final = b"\r\ncontent-length: 0\r\n"
_LARGE: Final = 65_536
"""Bytes from which on a body costs more to copy than a second system call does."""


class JoiningProtocol(HttpToolsProtocol):
    """One HTTP connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Write to the connection through a transport that joins."""
        super().connection_made(_JoiningTransport(transport, self))


class _JoiningTransport(asyncio.Transport):
    """A transport that holds back the head of a response until its body is written.

    Whatever is written next takes the head along, and closing writes it, so it cannot be lost. Only
    the answer to a POST is held: that to a HEAD announces a body that never comes.
    """

    def __init__(self, transport: asyncio.Transport, protocol: HttpToolsProtocol) -> None:
        super().__init__()
        self._transport = transport
        self._protocol = protocol
        self._held = b""
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write, or hold a head back."""
        held = self._held
        if held:
            self._held = b""
            if len(data) < _LARGE:
                data = held + data
            else:
                self._transport.write(held)
        elif (
            isinstance(data, bytes)
            and data.startswith(_HEAD)
            and data.endswith(_END)
            and _BODY in data
            and _NO_BODY not in data
            and self._protocol.scope["method"] == "POST"
        ):
            self._held = data
            return
        self._transport.write(data)

    def close(self) -> None:
        """Write what is held, and close."""
        held, self._held = self._held, b""
        if held:
            self._transport.write(held)
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()
