"""A transport that tells of every message, both ways, on top of any other.

What comes in is told as it was read: the same members, in the protocol's usual order.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import msgspec

from anyshape.client.question import Outgoing
from anyshape.client.transports.transport import (
    EndingTransport,
    OnMessage,
    Received,
    ServerMessage,
    Transport,
)
from anyshape.protocol.jsonrpc import Request, Response, encode_response
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult

__all__ = ["Frame", "ObservedTransport", "OnFrame"]


@dataclass(frozen=True, slots=True)
class Frame:
    """One message between a client and a server, as JSON text."""

    direction: Literal["sent", "received"]
    text: bytes


OnFrame: TypeAlias = Callable[[Frame], None]
"""Called with each message as it passes, on the event loop; must not wait or raise."""

_encode: Final = msgspec.json.Encoder().encode


class ObservedTransport:
    """Passes everything on, and tells of it."""

    def __init__(self, transport: Transport, on_frame: OnFrame) -> None:
        self._transport = transport
        self._tell = on_frame

    @property
    def place(self) -> str:
        """What error messages call the server."""
        return self._transport.place

    @property
    def key(self) -> Hashable | None:
        """What tells this server from others."""
        return self._transport.key

    @property
    def is_shared(self) -> bool:
        """Whether others use the server too."""
        return self._transport.is_shared

    @property
    def has_headers(self) -> bool:
        """Whether requests have headers that repeat parts of them."""
        return self._transport.has_headers

    @property
    def attempts(self) -> int:
        """How often a request that is safe to repeat may be sent again."""
        return self._transport.attempts

    def tell_end(self, ended: Callable[[], object]) -> None:
        """Have a function called when the server has gone."""
        if isinstance(self._transport, EndingTransport):
            self._transport.tell_end(ended)

    async def open(self, listener: OnMessage) -> None:
        """Open the transport below, and overhear what it is told."""

        def hear(message: ServerMessage) -> bytes | None:
            self._tell(Frame("received", _spell_message(message)))
            reply = listener(message)
            if reply is not None:
                self._tell(Frame("sent", reply))
            return reply

        await self._transport.open(hear)

    def set_era(self, *, stateful: bool) -> None:
        """Learn whether there is a handshake."""
        self._transport.set_era(stateful=stateful)

    def request(self, outgoing: Outgoing) -> Received | Coroutine[Any, Any, Received]:
        """Send a request, and tell of it and of its answer."""
        self._tell(Frame("sent", outgoing.frame))
        answer = self._transport.request(outgoing)
        if isinstance(answer, Received):
            self._tell(Frame("received", _spell_answer(answer, outgoing.id)))
            return answer
        return self._wait(answer, outgoing)

    async def _wait(self, answer: Coroutine[Any, Any, Received], outgoing: Outgoing) -> Received:
        found = await answer
        self._tell(Frame("received", _spell_answer(found, outgoing.id)))
        return found

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Send a message that has no answer."""
        self._tell(Frame("sent", frame))
        await self._transport.notify(frame, headers)

    async def overhear(self, headers: Mapping[str, str], opened: Callable[[], object]) -> bool:
        """Listen to what a server says outside of any request."""
        return await self._transport.overhear(headers, opened)

    async def revive(self) -> bool:
        """Get ready to send after the connection was lost."""
        return await self._transport.revive()

    def explain_silence(self) -> str:
        """Return what came instead of an answer."""
        return self._transport.explain_silence()

    async def close(self) -> None:
        """Stop everything."""
        await self._transport.close()


def _spell_answer(answer: Received, id: int) -> bytes:
    if isinstance(answer, OrdinaryResult):
        return encode_response(b"%d" % id, _encode(answer.wire()))
    return _spell_response(answer)


def _spell_response(answer: Response) -> bytes:
    id = b"null" if answer.id is None else answer.id
    if answer.result is not None:
        return encode_response(id, bytes(answer.result))
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id, bytes(answer.error or b"null"))


def _spell_message(message: ServerMessage) -> bytes:
    parts = [b'{"jsonrpc":"2.0"']
    if isinstance(message, Request):
        parts.append(b'"id":%b' % message.id)
    parts.append(b'"method":%b' % _encode(message.method))
    if message.params is not None:
        parts.append(b'"params":%b' % bytes(message.params))
    return b",".join(parts) + b"}"
