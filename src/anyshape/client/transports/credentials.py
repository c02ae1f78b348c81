"""The headers that say who is calling, asked for once and again when a server refuses them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import cast

from anyshape.client.options import Auth

__all__ = ["CredentialStore"]


class CredentialStore:
    """Holds the current headers; concurrent refusals of the same ones ask only once."""

    def __init__(self, auth: Auth | None) -> None:
        self._auth = auth
        self._headers: Mapping[str, str] | None = {} if auth is None else None
        self._asking = asyncio.Lock()

    async def headers(self) -> Mapping[str, str]:
        """Return the headers to send, asking for them if nobody has yet."""
        if self._headers is None:
            async with self._asking:
                if self._headers is None:
                    self._headers = await self._ask()
        return self._headers

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """Ask for others than the `refused` ones; return whether there is something new to try."""
        if self._auth is None or isinstance(self._auth, str):
            return False
        async with self._asking:
            if self._headers is refused:
                self._headers = await self._ask()
        return True

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
