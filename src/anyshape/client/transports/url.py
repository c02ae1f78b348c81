"""A server at a URL: by Streamable HTTP, or by HTTP+SSE if that is all it has.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#http-sse-transport-2024-11-05

Which it is shows when the handshake is opened: a server that does not take a POST there is asked
for a stream. docs/internals/client.md says why no other sign is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from anyshape.client.request import Outgoing
from anyshape.client.transports.http import HttpTransport
from anyshape.client.transports.sending import HttpSender
from anyshape.client.transports.sse import SseTransport
from anyshape.client.transports.transport import HttpStatus, OnMessage, Received, Transport
from anyshape.errors import TransportError
from anyshape.protocol.methods import INITIALIZE

_NOT_TAKEN: Final = frozenset({400, 404, 405})
_REFUSALS: Final = frozenset({401, 403})


class UrlTransport(Transport):
    """Speaks Streamable HTTP until a handshake shows that the server does not."""

    is_shared = True
    has_headers = True

    def __init__(self, sender: HttpSender) -> None:
        self._streamable = HttpTransport(sender)
        self._sse = SseTransport(sender)
        self._spoken: Transport = self._streamable
        self.place, self.key = self._streamable.place, self._streamable.key
        self.attempts = self._streamable.attempts
        self.tell_end = self._sse.tell_end

    async def open(self, listener: OnMessage) -> None:
        """Get ready; nothing is sent yet."""
        self._sse.listen(listener)
        await self._streamable.open(listener)

    def set_era(self, *, stateful: bool) -> None:
        """Begin with Streamable HTTP: the server may have learnt it."""
        self._sse.hang_up()
        self._spoken = self._streamable
        self._streamable.set_era(stateful=stateful)

    def request(self, outgoing: Outgoing) -> Coroutine[Any, Any, Received]:
        """Send a request and wait for its answer."""
        if self._spoken is self._sse:
            return self._sse.request(outgoing)
        if outgoing.method == INITIALIZE:
            return self._initialize(outgoing)
        return self._streamable.request(outgoing)

    async def _initialize(self, outgoing: Outgoing) -> Received:
        """Open the handshake in whichever way the server takes it."""
        try:
            return await self._streamable.request(outgoing)
        except HttpStatus as error:
            if error.status not in _NOT_TAKEN:
                raise
            refusal = error
        try:
            await self._sse.connect()
        except HttpStatus as error:
            raise (error if error.status in _REFUSALS else refusal) from None
        except TransportError as error:
            raise HttpStatus(f"{refusal}; {error}", status=refusal.status) from error
        self._spoken = self._sse
        return await self._sse.request(outgoing)

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Send a message that has no answer."""
        await self._spoken.notify(frame, headers)

    async def overhear(self, headers: Mapping[str, str], opened: Callable[[], object]) -> bool:
        """Follow the stream beside requests, where there is one."""
        return await self._spoken.overhear(headers, opened)

    async def revive(self) -> bool:
        """Say whether there has to be another handshake."""
        return await self._spoken.revive()

    def explain_silence(self) -> str:
        """Return what came instead of an answer."""
        return self._spoken.explain_silence()

    async def close(self) -> None:
        """End streams, session and every connection."""
        self._sse.hang_up()
        await self._streamable.close()
