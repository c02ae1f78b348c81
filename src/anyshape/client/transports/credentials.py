"""The headers that say who is calling, asked for once and again when a server refuses them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from anyshape.client.authorizer import Authorizer, CredentialSource, RefusedRequest
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Auth, Credentials, Http


def credentials_for(
    auth: Auth | None, url: str, http: Http, deadlines: Deadlines
) -> CredentialSource:
    """Return where the requests to a server get their credentials."""
    if isinstance(auth, Authorizer):
        return auth.source_for(url, http, deadlines)
    return CredentialStore(auth)


class CredentialStore:
    """Holds the current headers; concurrent refusals of the same ones ask only once."""

    def __init__(
        self, auth: str | Callable[[], Credentials | Awaitable[Credentials]] | None
    ) -> None:
        self._auth = auth
        self._headers: Mapping[str, str] | None = {} if auth is None else None
        self._asking = asyncio.Lock()

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """Return the headers to send, asking for them if nobody has yet."""
        if self._headers is None:
            async with self._asking:
                if self._headers is None:
                    self._headers = await self._ask()
        return self._headers

    async def renew(self, refusal: RefusedRequest) -> bool:
        """Ask once for others than the refused ones; say whether there is something to try."""
        if refusal.status != 401 or refusal.attempt or not callable(self._auth):
            return False
        async with self._asking:
            if self._headers is refusal.sent:
                self._headers = await self._ask()
        return True

    def heed(self, nonce: str | None) -> None:
        """Do nothing: these headers are the same for every request."""

    async def _ask(self) -> Mapping[str, str]:
        given: object = self._auth
        if callable(self._auth):
            given = self._auth()
            if inspect.isawaitable(given):
                given = await given
        return _as_headers(given)


def _as_headers(given: object) -> Mapping[str, str]:
    if isinstance(given, str):
        return {"Authorization": f"Bearer {given}"}
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, str]", given))
    kind = type(given).__name__
    raise TypeError(f"auth: expected a token or a mapping of headers, got {kind}")
