"""How a person is sent to sign in, and how the answer comes back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeAlias

Authorize: TypeAlias = Callable[[str], Awaitable[str]]
"""Sends a person to a URL; returns the URL to which the authorization server sent them back."""


class OpenLogin(Protocol):
    """A login that is ready for the answer."""

    @property
    def redirect_uri(self) -> str:
        """Where the authorization server is to send the person back to."""
        ...

    async def authorize(self, url: str, state: str) -> str:
        """Send a person to `url`; return where they were sent back to, with that `state`."""
        ...


class Login(Protocol):
    """A way to have a person sign in."""

    def open(self, redirect_uri: str | None) -> AbstractAsyncContextManager[OpenLogin]:
        """Get ready for the answer, at the address of an earlier login if that can be."""
        ...


class CallerLogin:
    """A login that the caller's function sees to, at a fixed address."""

    def __init__(self, authorize: Authorize, redirect_uri: str) -> None:
        self._authorize = authorize
        self.redirect_uri = redirect_uri

    @asynccontextmanager
    async def open(self, redirect_uri: str | None) -> AsyncGenerator[OpenLogin]:
        """Do nothing: the caller listens."""
        yield self

    async def authorize(self, url: str, state: str) -> str:
        """Ask the caller."""
        return await self._authorize(url)
