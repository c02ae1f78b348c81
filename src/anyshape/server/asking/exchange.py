"""Where the answer to a question finds whoever asked it.

Up to 2025-11-25 a client answers over HTTP with a POST of its own, which another process may
receive than the one that asked. So what waits and what arrives meet at an address, in a place that
processes can share: anything with the two methods of `AnswerExchange`.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NamedTuple, Protocol

from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import Response, encode_answer, request_key


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


class HttpAnswers:
    """The answers that clients of an HTTP service post, each for a question to its own session."""

    def __init__(self, exchange: AnswerExchange | None = None) -> None:
        self._exchange = exchange or LocalExchange()

    def address(self, session: str) -> QuestionAddress:
        """Return an address for a question to a session."""
        id = encode_data(secrets.token_urlsafe(16))
        return QuestionAddress(id, self._exchange, _address(session, id))

    async def deliver(self, session: str, response: Response) -> None:
        """Hand over what a session has answered; what nobody waits for is dropped."""
        if response.id is not None:
            address = _address(session, request_key(response.id))
            await self._exchange.deliver(address, encode_answer(response))


def _address(session: str, id: bytes) -> str:
    """Return where the answer of a session to one question is; sessions are no names to keep."""
    return hashlib.sha256(b"%b\n%b" % (session.encode(), id)).hexdigest()


class QuestionAddress(NamedTuple):
    """Under which id, as JSON text, a question is sent, and where its answer will be."""

    id: bytes
    exchange: AnswerExchange
    address: str


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
