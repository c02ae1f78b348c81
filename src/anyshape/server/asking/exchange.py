"""Where the answer to a question finds whoever asked it.

Up to 2025-11-25 a client answers over HTTP with a POST of its own, which another process may
receive than the one that asked. So what waits and what arrives meet at an address, in a place that
processes can share: anything with the two methods of `AnswerExchange`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeAlias


class AnswerExchange(Protocol):
    """Carries answers to those who wait for them.

    An address is a string that nobody can guess; an answer is the JSON text of a whole response.
    """

    def expect(self, address: str) -> AbstractAsyncContextManager[Awaitable[bytes]]:
        """Have the answer for an address kept from now on, and give what to await for it.

        Entered before the question is sent. Left, the address is forgotten.
        """
        ...

    async def deliver(self, address: str, answer: bytes) -> bool:
        """Hand an answer over; tell whether anybody was waiting for it.

        A second answer for the same address is dropped.
        """
        ...


ExpectedAnswer: TypeAlias = tuple[bytes, AbstractAsyncContextManager[Awaitable[bytes]]]
"""The id of a question, as JSON text, and what its answer is waited for in."""


def answer_address(session: str, id: bytes) -> str:
    """Return where the answer of a session to one question is; sessions are no names to keep."""
    return hashlib.sha256(b"%b\n%b" % (session.encode(), id)).hexdigest()


class LocalExchange:
    """Answers for questions of this process."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[bytes]] = {}

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where an answer is waited for."""
        return tuple(self._waiting)

    def __contains__(self, address: str) -> bool:
        return address in self._waiting

    @asynccontextmanager
    async def expect(self, address: str) -> AsyncGenerator[Awaitable[bytes]]:
        """Wait for an answer, for as long as the context is open."""
        answer = self._waiting[address] = asyncio.get_running_loop().create_future()
        try:
            yield answer
        finally:
            del self._waiting[address]

    async def deliver(self, address: str, answer: bytes) -> bool:
        """Hand an answer to whoever waits for it here."""
        waiting = self._waiting.get(address)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True
