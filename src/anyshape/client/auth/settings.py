"""What a caller chooses about tokens, whichever way they are got."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from anyshape.client.auth.storage import MemoryStorage, TokenStorage


class Turns:
    """A lock for each server, in each event loop: who holds it may get a token.

    So clients that share an authorizer ask a person once, and not each of them.
    """

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]]
        self._locks = WeakKeyDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """Return the lock for what is kept under a key."""
        locks = self._locks.setdefault(asyncio.get_running_loop(), {})
        return locks.setdefault(key, asyncio.Lock())


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """The choices that every authorizer has."""

    issuer: str | None = None
    """The only authorization server to use."""
    scopes: Sequence[str] = ()
    """What to ask for where the server does not say."""
    storage: TokenStorage = field(default_factory=MemoryStorage, repr=False)
    """Where tokens are kept."""
    dpop: bool = False
    """Whether tokens have to be bound to a key of this client (needs `anyshape[auth]`)."""
    turns: Turns = field(default_factory=Turns, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.scopes, str):
            kind = type(self).__name__
            raise ValueError(f"{kind}(scopes={self.scopes!r}): expected a list of strings")
