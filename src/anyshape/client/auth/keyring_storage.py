"""Tokens in the system's keyring, by the `keyring` library. Needs `anyshape[keyring]`."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress

try:
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError
except ImportError as error:
    raise ImportError("a keyring needs keyring; pip install 'anyshape[keyring]'") from error

from anyshape.errors import AuthorizationError


class KeyringStorage:
    """Keeps secrets where the system keeps them, under the name of a service."""

    def __init__(self, service: str = "anyshape") -> None:
        self._service = service

    @staticmethod
    def is_available() -> bool:
        """Return whether this system has a keyring that can be used."""
        return keyring.get_keyring().priority > 0

    async def load(self, key: str) -> str | None:
        """Return what was saved under a key."""
        with _explained():
            return await asyncio.to_thread(keyring.get_password, self._service, key)

    async def save(self, key: str, value: str) -> None:
        """Save a text under a key."""
        with _explained():
            await asyncio.to_thread(keyring.set_password, self._service, key, value)

    async def delete(self, key: str) -> None:
        """Forget what was saved under a key."""
        with _explained(), suppress(PasswordDeleteError):
            await asyncio.to_thread(keyring.delete_password, self._service, key)


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except KeyringError as error:
        kind = type(error).__name__
        raise AuthorizationError(f"the system's keyring cannot be used: {kind}") from error
