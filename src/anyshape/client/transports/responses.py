"""What answers a request over HTTP, whoever read it from the connection.

Nearly all requests go the short way (`direct_requests`); those that need a proxy, or a password
that is part of the URL, are left to aiohttp's session, whose responses get the same face here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, TypeAlias

import aiohttp

from anyshape.client.transports.direct_requests import DirectResponse

_PIECE: Final = 1 << 16


class SessionResponse:
    """A response that aiohttp's session has read."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.reason = response.reason or ""
        self.close = response.close
        self.read = response.read

    @property
    def sent(self) -> Mapping[str, str]:
        """The headers of the request."""
        return self._response.request_info.headers

    async def next_chunk(self) -> bytes:
        """Return the next piece of the body, nothing at its end."""
        piece = await self._response.content.read(_PIECE)
        if len(piece) == _PIECE:
            # There may be more at once, whose reader has to wait for nothing else.
            await asyncio.sleep(0)
        return piece

    @property
    def is_over(self) -> bool:
        """Whether the body was read to its end."""
        return self._response.content.at_eof()

    def header(self, name: str) -> str | None:
        """Return the first header of that name."""
        return self._response.headers.get(name)

    def headers(self, name: str) -> tuple[str, ...]:
        """Return every header of that name."""
        return tuple(self._response.headers.getall(name, ()))


HttpResponse: TypeAlias = DirectResponse | SessionResponse
"""The response to a request: its head is there, its body may still be on its way.

What goes wrong with the body is an `aiohttp.ClientError`.
"""
