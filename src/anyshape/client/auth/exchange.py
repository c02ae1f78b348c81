"""One HTTP exchange about authorization: a document is fetched, a form or an object is sent.

Nothing here is trusted: documents are bounded in bytes, depth and time, only what `Reach` allows is
asked, redirects are followed within one origin and only where nothing secret was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urljoin

import aiohttp

from anyshape.client.answers import as_object, decode_value
from anyshape.client.auth.reach import Reach, VettingResolver
from anyshape.client.options import Http
from anyshape.client.quoting import shorten, without_secrets
from anyshape.client.transports.http_failures import cause_of, words_of
from anyshape.client.transports.origins import origin_of
from anyshape.client.transports.proxies import proxy_for
from anyshape.errors import AnyshapeError, AuthorizationError

Body: TypeAlias = aiohttp.FormData | aiohttp.JsonPayload

_MOST_BYTES: Final = 256 * 1024
_DEEPEST: Final = 32
_SECONDS: Final = 30.0
_REDIRECTS: Final = 3
_REDIRECTING: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class AuthReply:
    """An answer: `members` of the JSON object in it, none if there is no such object."""

    status: int
    members: Mapping[str, Any] = field(repr=False)
    nonce: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether it is a success with an object in it."""
        return 200 <= self.status < 300 and bool(self.members)


class Exchange:
    """Asks on behalf of one server's client."""

    def __init__(self, reach: Reach, http: Http) -> None:
        self.reach = reach
        self._http = http

    async def get(self, url: str, what: str) -> AuthReply:
        """Return what is at a URL; `what` it is said to be goes into error messages."""
        self.reach.check(url, what)
        origin = origin_of(url)
        for _ in range(_REDIRECTS + 1):
            reply, location = await self._send("GET", url, what, {}, None)
            if location is None:
                return reply
            try:
                url = urljoin(url, location)
                leaves = origin_of(url) != origin
            except ValueError:
                raise AuthorizationError(f"{what}: redirected to a malformed URL") from None
            if leaves:
                raise AuthorizationError(
                    f"{what}: redirected to another origin, {without_secrets(url)}"
                )
        raise AuthorizationError(f"{what}: redirected more than {_REDIRECTS} times")

    async def find(self, places: Iterable[str], what: str) -> AuthReply | None:
        """Return what is at the first of some URLs that has it; `None` if none of them does."""
        for url in places:
            reply = await self.get(url, what)
            if reply.is_good:
                return reply
            if reply.status >= 500:
                raise AuthorizationError(f"{what} at {without_secrets(url)}: HTTP {reply.status}")
        return None

    async def post_form(
        self, url: str, what: str, fields: Mapping[str, str], headers: Mapping[str, str]
    ) -> AuthReply:
        """Send a form, which may hold secrets: a redirect is refused."""
        return await self._post(url, what, headers, aiohttp.FormData(dict(fields)))

    async def post_json(self, url: str, what: str, members: Mapping[str, Any]) -> AuthReply:
        """Send an object; a redirect is refused."""
        return await self._post(url, what, {}, aiohttp.JsonPayload(members))

    async def _post(self, url: str, what: str, headers: Mapping[str, str], body: Body) -> AuthReply:
        reply, location = await self._send("POST", url, what, headers, body)
        if location is not None:
            raise AuthorizationError(f"{what} at {without_secrets(url)}: answered with a redirect")
        return reply

    async def _send(
        self, method: str, url: str, what: str, headers: Mapping[str, str], body: Body | None
    ) -> tuple[AuthReply, str | None]:
        parts = self.reach.check(url, what)
        shown = f"{what} at {without_secrets(url)}"
        resolver = VettingResolver(self.reach, parts.hostname or "")
        connector = aiohttp.TCPConnector(
            ssl=self._http.tls, force_close=True, use_dns_cache=False, resolver=resolver
        )
        try:
            async with (
                asyncio.timeout(_SECONDS),
                aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    auto_decompress=False,
                ) as session,
                session.request(
                    method,
                    url,
                    data=body,
                    headers={
                        "Accept": "application/json",
                        "Accept-Encoding": "identity",
                        **headers,
                    },
                    allow_redirects=False,
                    proxy=proxy_for(self._http, url),
                ) as response,
            ):
                if response.status in _REDIRECTING:
                    location = response.headers.get("Location", "")
                    return AuthReply(response.status, {}), location
                members = as_object(await _read(response, shown))
                nonce = response.headers.get("DPoP-Nonce")
                return AuthReply(response.status, members, nonce), None
        except TimeoutError:
            raise AuthorizationError(f"{shown}: no answer within {_SECONDS:g} s") from None
        except (aiohttp.ClientError, ValueError) as error:
            reason = shorten(words_of(error))
            raise AuthorizationError(f"cannot reach {shown}: {reason}") from cause_of(error)
        finally:
            await resolver.close()


async def _read(response: aiohttp.ClientResponse, shown: str) -> object:
    """Return the JSON of an answer; nothing if it is none, and a failure or a page.

    Many sites answer whatever they do not know with a page and status 200.
    """
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise AuthorizationError(f"{shown}: the answer is longer than {_MOST_BYTES} bytes")
    try:
        return decode_value(bytes(body), _DEEPEST)
    except AnyshapeError as error:
        claims = response.method == "POST" or response.content_type == "application/json"
        if response.status < 400 and claims:
            raise AuthorizationError(f"{shown}: {error}") from error
        return None
