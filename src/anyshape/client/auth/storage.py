"""Where tokens and registrations are kept: text by key, all of it secret.

In memory unless the caller says otherwise; `FileStorage` is a file that only its owner can read,
`anyshape.client.auth.keyring_storage` the system's keyring.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar, cast

from anyshape.errors import AuthorizationError

__all__ = ["FileStorage", "MemoryStorage", "TokenStorage"]


Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class TokenStorage(Protocol):
    """What a place to keep secrets has to be able to do."""

    async def load(self, key: str) -> str | None:
        """Return what was saved under a key."""
        ...

    async def save(self, key: str, value: str) -> None:
        """Save a secret text under a key, in place of what was there."""
        ...

    async def delete(self, key: str) -> None:
        """Forget what was saved under a key, if anything was."""
        ...


class MemoryStorage:
    """Keeps secrets for as long as the object lives."""

    def __init__(self) -> None:
        self._saved: dict[str, str] = {}

    async def load(self, key: str) -> str | None:
        """Return what was saved under a key."""
        return self._saved.get(key)

    async def save(self, key: str, value: str) -> None:
        """Save a text under a key."""
        self._saved[key] = value

    async def delete(self, key: str) -> None:
        """Forget what was saved under a key."""
        self._saved.pop(key, None)


class FileStorage:
    """Keeps secrets in one JSON file that only its owner can read or write."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._writing = threading.Lock()

    async def load(self, key: str) -> str | None:
        """Return what was saved under a key."""
        return (await self._aside(self._read)).get(key)

    async def save(self, key: str, value: str) -> None:
        """Save a text under a key."""
        await self._change(key, value)

    async def delete(self, key: str) -> None:
        """Forget what was saved under a key."""
        await self._change(key, None)

    async def _change(self, key: str, value: str | None) -> None:
        await self._aside(self._rewrite, key, value)

    async def _aside(
        self, work: Callable[Arguments, Returned], *values: Arguments.args, **more: Arguments.kwargs
    ) -> Returned:
        try:
            return await asyncio.to_thread(work, *values, **more)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise AuthorizationError(
                f"{self._path}: cannot be used for tokens: {reason}"
            ) from error

    def _rewrite(self, key: str, value: str | None) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._writing, _alone(self._path.with_name(f".{self._path.name}.lock")):
            self._rewrite_alone(key, value)

    def _rewrite_alone(self, key: str, value: str | None) -> None:
        saved = self._read()
        if value is None:
            if saved.pop(key, None) is None:
                return
        else:
            saved[key] = value
        # A new file, which `mkstemp` makes for the owner alone, then put in place whole.
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(saved, file)
            os.replace(name, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _read(self) -> dict[str, str]:
        try:
            with self._path.open(encoding="utf-8") as file:
                mode = os.fstat(file.fileno()).st_mode
                if os.name == "posix" and mode & 0o077:
                    raise AuthorizationError(
                        f"{self._path}: others than its owner can read it; chmod 600, "
                        "or delete it and sign in again"
                    )
                saved: object = json.load(file)
        except FileNotFoundError:
            return {}
        except ValueError:
            raise AuthorizationError(
                f"{self._path}: not a file of tokens; delete it and sign in again"
            ) from None
        entries = cast("dict[object, object]", saved) if isinstance(saved, dict) else {}
        return {
            key: value
            for key, value in entries.items()
            if isinstance(key, str) and isinstance(value, str)
        }


@contextlib.contextmanager
def _alone(path: Path) -> Generator[None]:
    """Let no other process change the file meanwhile, where the system can see to that."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
