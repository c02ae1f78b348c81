"""Requests and their answers, over any transport.

Gives every request an id, a time limit and, where it is safe, a second chance; takes what the
server says in between to those it concerns.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import msgspec

from anyshape.client.answers import protocol_error
from anyshape.client.lifecycle import Lifecycle
from anyshape.client.options import Bounds
from anyshape.client.progress import ProgressRelay, read_progress
from anyshape.client.question import Outgoing, Question
from anyshape.client.quoting import shorten
from anyshape.client.transports.transport import ConnectionLost, Hearing, SessionLost, Transport
from anyshape.errors import TransportError
from anyshape.protocol.jsonrpc import (
    METHOD_NOT_FOUND,
    Request,
    Response,
    encode_error,
    encode_response,
)
from anyshape.resumption import Resumed

__all__ = ["Exchange", "NoAnswer", "Result", "not_open"]


async def _fail(error: TransportError) -> Result:
    raise error


Result: TypeAlias = msgspec.Raw | dict[str, Any]


def not_open() -> TransportError:
    """Return the exception for a client that is used before or after its time."""
    return TransportError("the client is not open; use it in `async with Client(…)`")


class NoAnswer(TransportError):
    """A server was silent for longer than the caller would wait."""


class Exchange:
    """The conversation with one server; `lifecycle` is there once it was agreed."""

    def __init__(self, transport: Transport, bounds: Bounds) -> None:
        self.transport = transport
        self.bounds = bounds
        self.lifecycle: Lifecycle | None = None
        self.on_tools_changed: Callable[[], None] | None = None
        self.reopen: Callable[[], Awaitable[None]] | None = None
        self._ids = itertools.count(1)
        self._relays: dict[int | str, ProgressRelay] = {}
        self._reopening = asyncio.Lock()
        self._generation = 0

    async def open(self) -> None:
        """Open the transport."""
        await self.transport.open(self._hear)

    async def close(self) -> None:
        """Close the transport."""
        await self.transport.close()

    async def ask(
        self,
        lifecycle: Lifecycle,
        question: Question,
        *,
        cancellable: bool = True,
        endless: bool = False,
    ) -> Result:
        """Send one request, once, and return its result, as text or, where asked for, whole."""
        id = next(self._ids)
        meta = question.meta
        relay: ProgressRelay | None = None
        if question.on_progress is not None:
            relay = self._relays[id] = ProgressRelay(question.on_progress)
            meta = b'"progressToken":%d%b' % (id, b"," + meta if meta else b"")
        frame = lifecycle.frame(id, question.method, question.members, meta)
        outgoing = Outgoing(id, frame, question, lifecycle, cancellable, endless)
        if relay is None:
            response = await self.transport.request(outgoing)
        else:
            try:
                response = await self.transport.request(outgoing)
                await relay.finish()
            finally:
                relay.abandon()
                del self._relays[id]
        result = response.result
        if result is not None:
            return result
        error = response.error if isinstance(response, Response) else None
        raise protocol_error(error, self.bounds.max_depth)

    async def request(self, question: Question, timeout: float | None) -> Result:
        """Send a request within `timeout` seconds, again where that is safe."""
        generation = self._generation
        attempt = self.ask(self.agreed(), question)
        try:
            waits_for = attempt.send(None)
        except StopIteration as done:
            return done.value
        except (ConnectionLost, SessionLost) as error:
            first = _fail(error)
        else:
            first = Resumed(attempt, waits_for)
        try:
            async with asyncio.timeout(timeout):
                return await self._persist(question, first, generation)
        except TimeoutError as error:
            raise self.silence(question, timeout) from error

    async def _persist(
        self, question: Question, attempt: Awaitable[Result], generation: int
    ) -> Result:
        """Return what an attempt gives; make others after losses that allow it."""
        losses = 0
        while True:
            try:
                return await attempt
            except ConnectionLost as error:
                losses += 1
                if losses > self.transport.attempts or (error.sent and not question.repeatable):
                    raise
                await self._revive(generation, losses)
                if self.lifecycle is None:  # closed meanwhile
                    raise
            except SessionLost:
                # The server refused the request unread: repeating it is always safe.
                losses += 1
                if losses > 1:
                    raise
                await self._reopen(generation)
            generation = self._generation
            attempt = self.ask(self.agreed(), question)

    def agreed(self) -> Lifecycle:
        """Return the lifecycle, or say that there is none yet."""
        if self.lifecycle is None:
            raise not_open()
        return self.lifecycle

    def silence(self, question: Question, timeout: float | None) -> NoAnswer:
        """Return the exception for a request that nobody answered in time."""
        what = question.method
        if question.name is not None:
            what += f" {shorten(question.name, 60)!r}"
        place, more = self.transport.place, self.transport.explain_silence()
        return NoAnswer(f"{place} gave no answer to {what} within {timeout:g} s{more}")

    # After a loss.

    async def _revive(self, generation: int, attempt: int) -> None:
        async with self._reopening:
            anew = await self.transport.revive()
            if anew:
                await self._settle_again()
        if not anew and generation == self._generation:
            await asyncio.sleep(0.05 * 4 ** (attempt - 1))

    async def _reopen(self, generation: int) -> None:
        async with self._reopening:
            if generation == self._generation:
                await self._settle_again()

    async def _settle_again(self) -> None:
        self._generation += 1
        if self.reopen is not None:
            await self.reopen()

    # What the server says on its own.

    def _hear(self, message: Hearing) -> bytes | None:
        if isinstance(message, Request):
            return self._refuse(message)
        if message.method == "notifications/progress":
            report = read_progress(message.params)
            relay = self._relays.get(report[0]) if report is not None else None
            if report is not None and relay is not None:
                relay.take(report[1])
        elif message.method == "notifications/tools/list_changed" and self.on_tools_changed:
            self.on_tools_changed()
        return None

    def _refuse(self, message: Request) -> bytes | None:
        """Answer a server's request; only those with a handshake may send any."""
        if self.lifecycle is None or not self.lifecycle.stateful:
            return None
        if message.method == "ping":
            return encode_response(message.id, b"{}")
        return encode_error(message.id, METHOD_NOT_FOUND, "this client answers only ping")
