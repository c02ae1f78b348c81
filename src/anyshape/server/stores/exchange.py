"""Answers to questions, which reach the process that asked whichever of them receives them.

While a question waits, its address is in the store; the first answer takes it away, so that there
is no second one, and is put there in the same step, so that none is lost between the two. It stays
until whoever asked has it, and for a minute at most.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Final

from anyshape.server.asking.exchange import LocalExchange
from anyshape.server.failures import StoreAwayError
from anyshape.server.service import Service
from anyshape.server.stores.link import Signal, StoreLink, failures_of_store

_log = logging.getLogger("anyshape.server.stores")

_LONGEST_WAIT: Final = 3600
"""Seconds after which a question is forgotten in any case."""
_FETCHED_WITHIN: Final = 60
_HAND_OVER: Final = """
if redis.call('DEL', KEYS[1]) == 0 then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], '*', 's', ARGV[4])
return 1
"""
"""Take a question away, put its answer there and tell who asked: all of it, or nothing."""


class StoreExchange:
    """Answers for questions of all replicas; those of this process need no store."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._here = LocalExchange()
        self._bound: StoreLink | None = None

    @asynccontextmanager
    async def expect(self, address: str) -> AsyncGenerator[Awaitable[bytes]]:
        """Wait for an answer, for as long as the context is open."""
        async with self._here.expect(address) as answer:
            link = self._link()
            if link is not None:
                await self._register(link, address)
            try:
                yield answer
            finally:
                link = self._link()
                if link is not None:
                    link.spawn(_forget(link, address))

    async def deliver(self, address: str, answer: bytes) -> bool:
        """Hand an answer to whoever waits for it, here or elsewhere."""
        if address in self._here:
            return await self._here.deliver(address, answer)
        link = self._link()
        if link is None:
            if self._service.link is not None:  # Somebody may wait elsewhere, whom we cannot reach.
                raise StoreAwayError
            return False
        signal = link.write_signal("answer", address=address)
        keys = link.key("question", address), link.key("answer", address), link.signals
        values = answer, _FETCHED_WITHIN, link.store.max_news, signal
        try:
            given = await link.persist(
                lambda: link.client.eval(_HAND_OVER, len(keys), *keys, *values)
            )
        except failures_of_store() as error:
            _log.warning("%s did not take an answer: %s", link.store.place, error)
            raise StoreAwayError from error
        return given == 1

    async def _register(self, link: StoreLink, address: str) -> None:
        question = link.key("question", address)
        try:
            await link.persist(lambda: link.client.set(question, b"1", ex=_LONGEST_WAIT))
        except failures_of_store() as error:
            _log.warning(
                "%s did not take a question, so it can be answered here alone: %s",
                *(link.store.place, error),
            )

    async def _recall(self) -> None:
        """Fetch what a store that is back has for us, and tell it what is still waited for."""
        for address in self._here.addresses:
            if self._bound is not None and not await self._fetch(self._bound, address):
                await self._register(self._bound, address)

    def _link(self) -> StoreLink | None:
        link = self._service.link
        if link is not None and link is not self._bound:
            self._bound = link
            link.on("answer", self._on_answer)
            link.on_return.append(self._recall)
        return link if link is not None and link.is_linked else None

    async def _on_answer(self, signal: Signal) -> None:
        if self._bound is not None:
            await self._fetch(self._bound, str(signal.get("address")))

    async def _fetch(self, link: StoreLink, address: str) -> bool:
        """Hand over the answer that is in the store, if it is; tell whether it was."""
        if address not in self._here:
            return False
        found = await link.client.get(link.key("answer", address))
        return isinstance(found, bytes) and await self._here.deliver(address, found)


async def _forget(link: StoreLink, address: str) -> None:
    await link.client.delete(link.key("question", address), link.key("answer", address))
