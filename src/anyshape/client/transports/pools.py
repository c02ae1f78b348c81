"""The connections to one HTTP server: which are kept for the next request, and which are not.

A request on a kept connection is lost if the server hung up a moment ago, and nobody can tell
whether it was read (https://www.rfc-editor.org/rfc/rfc9112#section-9.5). So before a kept
connection is used, the loop gets to hear of hang-ups; one that was silent for longer than most
servers wait is not used again; and a server that hangs up after its first answer, without having
said so, gets a connection for every request.
"""

from __future__ import annotations

import asyncio
import socket

import aiohttp

from anyshape.client.options import Http

__all__ = ["Pools"]

_ASIDE = 4
_GLANCE = 0.01
_PEERS = 64
_KEPT = 4.0
"""Seconds: uvicorn, hypercorn and Node hang up after five of silence."""

Address = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]


class Pools:
    """Pools of connections: for requests, and `aside`, for what must not wait for requests."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._requests = 0
        self._first: list[socket.socket] | None = []
        self._kept: aiohttp.ClientSession | None = None
        self._calls = self._pool(http.max_connections, keep=True)
        self.peers: set[str] = set()
        """The addresses that were connected to, or tried."""
        self.answered = False
        """Whether an answer was read to its end, so that hanging up was the server's idea."""
        self.aside = self._pool(_ASIDE, keep=False)

    async def calls(self) -> aiohttp.ClientSession:
        """Return the pool for a request, once it had the time to drop dead connections."""
        self._requests += 1
        if self._requests == 2:
            await self._glance()
        # Once for the selector to see a hang-up, once for the connection to leave the pool.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return self._calls

    async def close(self) -> None:
        """Close every connection but those of `aside`, which has the last words."""
        await self._calls.close()
        if self._kept is not None:
            await self._kept.close()

    async def _glance(self) -> None:
        """Look whether the server hung up after its first answer; keep no connections then."""
        made, self._first = self._first, None
        if self.answered and made:
            await asyncio.sleep(_GLANCE)
            if all(each.fileno() == -1 for each in made):
                self._kept = self._calls
                self._calls = self._pool(self._http.max_connections, keep=False)

    def _pool(self, limit: int, *, keep: bool) -> aiohttp.ClientSession:
        http = self._http
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=limit,
                ssl=http.tls,
                force_close=not keep,
                keepalive_timeout=_KEPT if keep else None,
                socket_factory=self._make_socket,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=http.connect_timeout),
        )

    def _make_socket(self, address: Address) -> socket.socket:
        family, kind, protocol, _, place = address
        if len(self.peers) < _PEERS:
            self.peers.add(str(place[0]))
        made = socket.socket(family, kind, protocol)
        if self._first is not None:
            self._first.append(made)
        return made
