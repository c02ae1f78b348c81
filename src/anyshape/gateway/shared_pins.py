"""Pins in Valkey or Redis: published once, and every replica of a gateway goes by them.

They are the newest entry of a log, so that a replica has those that are in force when it starts,
and hears of others as they come. What it reads is checked like a file: whoever writes to the store
can pin what they like, and nobody can do so by accident.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, cast

from anyshape.errors import PinError
from anyshape.gateway.pins import Pins
from anyshape.server.stores.link import Entries, failures_of_store, stop
from anyshape.server.stores.redis_store import RedisStore

if TYPE_CHECKING:
    from redis.asyncio import Redis

_log = logging.getLogger("anyshape.gateway")
_FIELD: Final = b"pins"
_BLOCK: Final = 5.0
"""Seconds that the store is asked to wait for others."""
_FIRST: Final = 2.0
"""Seconds that a gateway waits for the store before it goes by what it has."""
_SOONEST, _LATEST = 0.05, 5.0
"""Seconds between attempts to reach the store again."""


class SharedPins:
    """The pins of the gateway called `name`, in a store."""

    def __init__(self, store: RedisStore, name: str) -> None:
        self._store = store
        self._key = f"{store.namespace or f'anyshape:{name}'}:pins"

    async def publish(self, pins: Pins) -> None:
        """Have every replica go by these pins from now on; `PinError` if they cannot be stored."""
        client = self._store.connect()
        try:
            fields: Any = {_FIELD: pins.text().encode()}
            await client.xadd(self._key, fields, maxlen=1, approximate=False)
        except failures_of_store() as error:
            raise PinError(f"cannot publish pins to {self._store.place}: {error}") from None
        finally:
            await client.aclose()

    @asynccontextmanager
    async def followed(self, take: Callable[[Pins], None]) -> AsyncGenerator[None]:
        """Have the pins in force taken, now and whenever there are others."""
        known = asyncio.Event()
        following = asyncio.create_task(self._follow(take, known))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_FIRST):
                    await known.wait()
            yield
        finally:
            await stop({following})

    async def _follow(self, take: Callable[[Pins], None], known: asyncio.Event) -> None:
        client, pause, at = self._store.connect(_BLOCK), _SOONEST, b"0-0"
        try:
            while True:
                try:
                    at = await self._next(client, at, take, known)
                    pause = _SOONEST
                except failures_of_store() as error:
                    if pause == _SOONEST:
                        _log.warning("pins stay as they are: %s is away: %s", self._place, error)
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _LATEST)
        finally:
            await client.aclose()

    async def _next(
        self, client: Redis, at: bytes, take: Callable[[Pins], None], known: asyncio.Event
    ) -> bytes:
        """Take the pins that are newer than those that were taken last, if there are any."""
        newest = cast("Entries", await client.xrevrange(self._key, count=1))
        if newest and newest[0][0] != at:
            at, fields = newest[0]
            try:
                take(Pins.read(fields.get(_FIELD, b""), self._place))
                _log.info("pins were taken from %s", self._place)
            except PinError as error:
                _log.error("pins stay as they are: %s", error)
        known.set()
        await client.xread({self._key: at}, count=1, block=int(_BLOCK * 1000))
        return at

    @property
    def _place(self) -> str:
        return f"{self._store.place} ({self._key})"
