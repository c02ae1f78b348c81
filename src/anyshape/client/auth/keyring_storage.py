"""Tokens in the system's keyring, by the `keyring` library. Needs `anyshape[keyring]`."""

from __future__ import annotations

import asyncio

try:
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError
except ImportError as error:
    raise ImportError("a keyring needs keyring; pip install 'anyshape[keyring]'") from error

from anyshape.errors import AuthorizationError

__all__ = ["KeyringStorage"]


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
        try:
            return await asyncio.to_thread(keyring.get_password, self._service, key)
        except KeyringError as error:
            raise _unusable(error) from error

    async def save(self, key: str, value: str) -> None:
        """Save a text under a key."""
        try:
            await asyncio.to_thread(keyring.set_password, self._service, key, value)
        except KeyringError as error:
            raise _unusable(error) from error

    async def delete(self, key: str) -> None:
        """Forget what was saved under a key."""
        try:
            await asyncio.to_thread(keyring.delete_password, self._service, key)
        except PasswordDeleteError:
            return
        except KeyringError as error:
            raise _unusable(error) from error


def _unusable(error: KeyringError) -> AuthorizationError:
    return AuthorizationError(f"the system's keyring cannot be used: {type(error).__name__}")
