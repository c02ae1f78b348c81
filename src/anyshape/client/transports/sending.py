"""Requests to one HTTP server: credentials, redirects within its origin, bodies that are bounded.

Both ways of MCP over HTTP send by it: `http`, which is Streamable HTTP, and `sse`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Mapping
from typing import Final
from urllib.parse import urljoin

import aiohttp

from anyshape.client.authorizer import Authorizer, RefusedRequest
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Auth, Bounds, Http
from anyshape.client.quoting import without_secrets
from anyshape.client.transports.credentials import credentials_for
from anyshape.client.transports.gathering import SHORT, GatheringRoom, gather
from anyshape.client.transports.http_failures import (
    EVENTS,
    JSON,
    cause_of,
    explain_loss,
    explain_refusal,
)
from anyshape.client.transports.origins import follow
from anyshape.client.transports.pools import Pools
from anyshape.client.transports.proxies import proxy_for
from anyshape.client.transports.responses import HttpResponse
from anyshape.client.transports.transport import HttpStatus, too_long
from anyshape.errors import ProtocolError, TransportError

logger = logging.getLogger(__name__)

_NONCE: Final = "dpop-nonce"
_REDIRECTS: Final = 3
_RENEWALS: Final = 4
_GRACE: Final = 2.0
_MOST_REPLIES: Final = 64
_LONGEST_NUMBER: Final = 100


class HttpSender:
    """Sends requests over a pool of connections, and what nobody waits for in the background."""

    def __init__(
        self, url: str, http: Http, auth: Auth | None, bounds: Bounds, deadlines: Deadlines
    ) -> None:
        self.url = url
        """Where requests go; a redirect changes it."""
        self.place = f"the server at {without_secrets(url)}"
        self.http = http
        self.bounds = bounds
        self.deadlines = deadlines
        self.gathering = GatheringRoom(bounds.max_unfinished_bytes)
        self._proxy = proxy_for(http, url)
        self._credentials = credentials_for(auth, url, http, deadlines)
        self._has_auth = auth is not None
        self._has_source = isinstance(auth, Authorizer)
        self._fixed = {
            **http.headers,
            "Content-Type": JSON,
            "Accept": f"{JSON}, {EVENTS}",
        }
        self._pools: Pools | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._replies = 0

    def open(self) -> None:
        """Make the pools; nothing is sent yet."""
        self._pools = Pools(self.http, self._fixed, self._proxy)

    async def close(self, farewell: Mapping[str, str] | None = None) -> None:
        """End what runs in the background, and every connection.

        A farewell is what tells the server that a session is over: the headers of a `DELETE`.
        """
        pools, self._pools = self._pools, None
        for task in self._background:
            task.cancel()
        try:
            await asyncio.gather(*self._background, return_exceptions=True)
            if pools is not None:
                await pools.close_calls()
                if farewell is not None:
                    await self._take_leave(pools, farewell)
        finally:
            if pools is not None:
                await pools.close()

    async def _take_leave(self, pools: Pools, headers: Mapping[str, str]) -> None:
        with contextlib.suppress(aiohttp.ClientError, TransportError, TimeoutError):
            async with asyncio.timeout(_GRACE):
                credentials = await self._credentials.headers("DELETE", self.url)
                sent = {**headers, **credentials}
                response = await pools.send("DELETE", self.url, sent, None, aside=True)
                response.close()

    async def send(
        self,
        method: str,
        headers: Mapping[str, str],
        frame: bytes | None,
        *,
        to: str | None = None,
        aside: bool = False,
    ) -> HttpResponse:
        """Send a request to the URL, or `to` another one of its origin; return the response.

        `aside` is for what must not wait for a connection that calls have.
        """
        renewals = 0
        for _ in range(_REDIRECTS + _RENEWALS + 1):
            url = to or self.url
            credentials = await self._credentials.headers(method, url)
            if self._pools is None:
                raise TransportError(f"{self.place} is not connected")
            sent = {**headers, **credentials} if credentials else headers
            try:
                response = await self._pools.send(method, url, sent, frame, aside=aside)
            except aiohttp.ClientError as error:
                raise explain_loss(self.place, url, error) from cause_of(error)
            except ValueError as error:
                raise TransportError(f"cannot send to {self.place}: {error}") from error
            status = response.status
            if status in (401, 403) and renewals < _RENEWALS:
                if await self._renew(response, credentials, renewals):
                    renewals += 1
                    continue
                return response
            if self._has_source:
                self._credentials.heed(response.header(_NONCE))
            if status not in (307, 308):
                return response
            response.close()
            moved = self._follow(url, response)
            if to is None:
                self.url = moved
            else:
                to = moved
        raise TransportError(f"{self.place} redirects in circles")

    async def notify(
        self, frame: bytes, headers: Mapping[str, str], *, to: str | None = None
    ) -> None:
        """Post a message that has no answer; that it was not taken is only logged."""
        try:
            with self.deadlines.limit(self.http.connect_timeout):
                response = await self.send("POST", headers, frame, to=to, aside=True)
                response.close()
        except (aiohttp.ClientError, TimeoutError, TransportError) as error:
            logger.debug("%s did not take a notification: %s", self.place, error)

    def reply(self, frame: bytes, headers: Mapping[str, str], *, to: str | None = None) -> None:
        """Answer the server in the background; one that asks too much at once gets no answer."""
        if self._replies < _MOST_REPLIES:
            task = self.spawn(self.notify(frame, headers, to=to))
            if task is not None:
                self._replies += 1
                task.add_done_callback(self._count_reply)

    def _count_reply(self, _task: asyncio.Task[None]) -> None:
        self._replies -= 1

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None] | None:
        """Do something in the background, until the connections are closed."""
        if self._pools is None:
            work.close()
            return None
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def read(self, response: HttpResponse) -> bytes:
        """Return the body of a response, if it is no longer than an answer may be."""
        limit = self.bounds.max_answer_bytes
        length = response.header("content-length")
        if length is not None and (len(length) > _LONGEST_NUMBER or int(length) > limit):
            raise too_long(self.place, limit)
        is_known = length is not None and response.header("content-encoding") is None
        most = int(length or 0) if is_known else limit
        if is_known and most <= SHORT:
            body = await response.read()
        else:
            body = await gather(response, self.gathering, most)
            if body is None:
                raise too_long(self.place, limit)
        if self._pools is not None:
            self._pools.take(response)
        return body

    def explain_refusal(
        self, method: str, response: HttpResponse, body: bytes
    ) -> TransportError | ProtocolError:
        """Return the exception for a response that holds no answer to `method`."""
        return explain_refusal(self.place, method, response, body, has_auth=self._has_auth)

    async def _renew(
        self, response: HttpResponse, refused: Mapping[str, str], attempt: int
    ) -> bool:
        refusal = RefusedRequest(
            response.status,
            refused,
            attempt,
            response.headers("www-authenticate"),
            response.header(_NONCE),
            self._peers(),
        )
        try:
            renewed = await self._credentials.renew(refusal)
        except BaseException:
            response.close()
            raise
        if renewed:
            response.close()
        return renewed

    def _peers(self) -> tuple[str, ...]:
        if self._proxy is not None or self._pools is None:
            return ()
        return tuple(self._pools.peers)

    def _follow(self, url: str, response: HttpResponse) -> str:
        reference = response.header("location") or ""
        target = follow(url, reference)
        if target is None:
            # Our headers hold credentials; another origin never gets them.
            with contextlib.suppress(ValueError):
                reference = urljoin(url, reference)
            raise HttpStatus(
                f"{self.place} redirects to another origin, {without_secrets(reference)}: "
                "use that address if it is right",
                status=response.status,
            )
        return target
