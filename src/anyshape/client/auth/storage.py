"""Where tokens and registrations are kept: text by key, all of it secret.

In memory unless the caller says otherwise; `FileStorage` is a file that only its owner can read,
`anyshape.client.auth.keyring_storage` the system's keyring.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final, ParamSpec, Protocol, TypeVar, cast, runtime_checkable

from anyshape.errors import AuthorizationError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SOON: Final = 0.02
_LATE: Final = 0.5
"""Seconds between two looks whether it is our turn, at first and at last."""

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


@runtime_checkable
class SharedStorage(TokenStorage, Protocol):
    """A place that others use at the same time, who have to take turns in renewing a token.

    A refresh token is good for once: who shows it a second time may have ended all that came of it.
    """

    def turn(self, key: str) -> AbstractAsyncContextManager[None]:
        """Keep others from renewing what is kept under a key; wait until they have."""
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
        await self._aside(self._rewrite, key, value)

    async def delete(self, key: str) -> None:
        """Forget what was saved under a key."""
        await self._aside(self._rewrite, key, None)

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None]:
        """Keep other processes from renewing what is kept under a key; wait until they have."""
        if fcntl is None:
            yield
            return
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        path = self._path.with_name(f".{self._path.name}.{digest}")
        wait = _SOON
        with self._explained():
            _make_folder(path)
            while (lock := _try_lock(path)) is None:
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LATE)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
            os.close(lock)

    async def _aside(
        self, work: Callable[Arguments, Returned], *values: Arguments.args, **more: Arguments.kwargs
    ) -> Returned:
        with self._explained():
            return await asyncio.to_thread(work, *values, **more)

    @contextlib.contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise AuthorizationError(
                f"{self._path}: cannot be used for tokens: {reason}"
            ) from error

    def _rewrite(self, key: str, value: str | None) -> None:
        _make_folder(self._path)
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


def _make_folder(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _try_lock(path: Path) -> int | None:
    """Return the lock at a path, held by us; `None` while somebody else has it.

    It ends with the process at the latest.
    """
    assert fcntl is not None
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever had it before took it away, and there may be another one at its path by now.
        if os.path.samestat(os.fstat(lock), os.stat(path)):
            return lock
    os.close(lock)
    return None


@contextlib.contextmanager
def _alone(path: Path) -> Generator[None]:
    """Let no other process change the file meanwhile, where the system can see to that."""
    if fcntl is None:
        yield
        return
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
