"""Turns in getting a token: clients that share an authorizer ask a person once, not each."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

__all__ = ["Turns"]


class Turns:
    """A lock for each server, in each event loop."""

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]]
        self._locks = WeakKeyDictionary()

    def of(self, key: str) -> asyncio.Lock:
        """Return the lock for what is kept under a key; who holds it may get a token."""
        locks = self._locks.setdefault(asyncio.get_running_loop(), {})
        return locks.setdefault(key, asyncio.Lock())
