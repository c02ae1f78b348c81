"""The connections to one HTTP server: which are kept for the next request, and which are not.

A request on a kept connection is lost if the server hung up a moment ago, and nobody can tell
whether it was read (https://www.rfc-editor.org/rfc/rfc9112#section-9.5). So before a kept
connection is used, the loop gets to hear of hang-ups; one that was silent for longer than most
servers wait is not used again; and a server that hangs up after its first answer, without having
said so, gets a connection for every request.

Requests go the short way (`direct_requests`); what that leaves to aiohttp's session, it gets.
"""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Mapping
from typing import cast

import aiohttp

from anyshape.client.options import Http
from anyshape.client.transports.direct_requests import DirectResponse, Outbox, Unwritten
from anyshape.client.transports.responses import HttpResponse, SessionResponse
from anyshape.client.transports.routes import Route

_ASIDE = 4
_GLANCE = 0.01
_PEERS = 64
_KEPT = 4.0
"""Seconds: uvicorn, hypercorn and Node hang up after five of silence."""
_EARLY = 8
"""Requests until it shows, at the latest, whether a server hangs up after its answers."""
_HUNG_UP = 3
"""Connections in a row that a server has hung up already: the first may be a kept one."""

Address = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]


class Pools:
    """Pools of connections: for requests, and `aside`, for what must not wait for requests."""

    def __init__(self, http: Http, fixed: Mapping[str, str], proxy: str | None) -> None:
        """Prepare for requests with these headers, by way of a proxy if there is one."""
        self._http = http
        self._fixed = fixed
        self._proxy = proxy
        self._requests = 0
        self._first: list[socket.socket] | None = []
        self._kept: aiohttp.ClientSession | None = None
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=http.connect_timeout)
        self._calls = self._pool(http.max_connections, keep=True)
        self._route: Route | None = None
        self._outbox = Outbox()
        self._outbox_aside = Outbox()
        self.peers: set[str] = set()
        """The addresses that were connected to, or tried."""
        self._was_kept = False
        self._aside = self._pool(_ASIDE, keep=False)

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, aside: bool
    ) -> HttpResponse:
        """Send a request, and return its reply as soon as the head of that is there.

        Raises `aiohttp.ClientError` if there is none, `ValueError` for headers that cannot be sent.
        """
        if not aside and self._first is not None:
            self._requests += 1
            if self._was_kept or self._requests > _EARLY:
                await self._glance()
        route = self._route
        if route is None or route.url != url:
            route = self._route = Route(url, self._fixed)
        request = None if self._proxy is not None else route.write(method, headers, body)
        if request is None:
            return await self._send_by_session(method, url, headers, body, aside=aside)
        connection = await self._connection(route, aside=aside)
        response = DirectResponse(connection, route, headers)
        await response.send(request, self._outbox_aside if aside else self._outbox)
        return response

    async def _send_by_session(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, aside: bool
    ) -> HttpResponse:
        if not aside:
            await _hear_hang_ups()
        response = await self._open(aside=aside).request(
            method,
            url,
            data=body,
            headers={**self._fixed, **headers},
            allow_redirects=False,
            proxy=self._proxy,
        )
        return SessionResponse(response)

    async def _connection(self, route: Route, *, aside: bool) -> aiohttp.connector.Connection:
        """Return a connection that the server has not hung up, as far as can be known."""
        connector = cast("aiohttp.BaseConnector", self._open(aside=aside).connector)
        for _ in range(_HUNG_UP):
            try:
                connection = await connector.connect(route.request, [], self._timeout)
            except TimeoutError as error:
                raise aiohttp.ConnectionTimeoutError(f"no connection to {route.url}") from error
            except asyncio.CancelledError:
                # aiohttp cancels who waits for a connection when it closes, and not the task.
                task = asyncio.current_task()
                if connector.closed and task is not None and not task.cancelling():
                    raise Unwritten("the client was closed") from None
                raise
            if _is_quiet(connection):
                return connection
            try:
                await _hear_hang_ups()
            except BaseException:
                connection.close()
                raise
            protocol = connection.protocol
            if protocol is not None and protocol.is_connected() and not protocol.should_close:
                return connection
            connection.close()
        raise Unwritten("the server hangs up at once")

    def _open(self, *, aside: bool) -> aiohttp.ClientSession:
        """Return a pool that requests can be sent by."""
        session = self._aside if aside else self._calls
        if session.closed:
            raise Unwritten("the client was closed")
        return session

    async def close_calls(self) -> None:
        """Close every connection but those `aside`, which have the last words."""
        try:
            await self._calls.close()
        finally:
            if self._kept is not None:
                await self._kept.close()

    async def close(self) -> None:
        """Close every connection."""
        try:
            await self.close_calls()
        finally:
            await self._aside.close()

    def take(self, response: HttpResponse) -> None:
        """Know that an answer was read to its end: hanging up then was the server's idea."""
        if "close" not in (response.header("connection") or "").lower():
            self._was_kept = True

    async def _glance(self) -> None:
        """Look whether the server has hung up after its answers; keep no connections then."""
        made, self._first = self._first, None
        if self._was_kept and made:
            await asyncio.sleep(_GLANCE)
            if not self._calls.closed and all(each.fileno() == -1 for each in made):
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
            timeout=self._timeout,
        )

    def _make_socket(self, address: Address) -> socket.socket:
        family, kind, protocol, _, place = address
        if len(self.peers) < _PEERS:
            self.peers.add(str(place[0]))
        made = socket.socket(family, kind, protocol)
        if self._first is not None:
            self._first.append(made)
        return made


async def _hear_hang_ups() -> None:
    # Once for the selector to see a hang-up, once for the connection to leave the pool.
    await asyncio.sleep(0)
    await asyncio.sleep(0)


def _is_quiet(connection: aiohttp.connector.Connection) -> bool:
    """Tell whether nothing has come on a connection that the loop has yet to hear of."""
    transport = connection.transport
    found = None if transport is None else transport.get_extra_info("socket")
    if found is None:
        return False
    if not hasattr(select, "poll"):  # pragma: no cover - Windows
        return not select.select([found], [], [], 0)[0]
    poll = select.poll()
    poll.register(found, select.POLLIN)
    return not poll.poll(0)
