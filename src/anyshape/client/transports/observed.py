"""A transport that tells of every message, both ways, on top of any other.

What comes in is told as it was read: the same members, in the protocol's usual order.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from anyshape.client.request import Outgoing
from anyshape.client.transports.transport import OnMessage, Received, ServerMessage, Transport
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import (
    Request,
    encode_answer,
    encode_notification,
    encode_request,
    encode_response,
)
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult


@dataclass(frozen=True, slots=True)
class Frame:
    """One message between a client and a server, as JSON text."""

    direction: Literal["sent", "received"]
    text: bytes


OnFrame: TypeAlias = Callable[[Frame], None]
"""Called with each message as it passes, on the event loop; must not wait or raise."""


class ObservedTransport(Transport):
    """Passes everything on, and tells of it."""

    def __init__(self, transport: Transport, on_frame: OnFrame) -> None:
        self._transport = transport
        self._tell = on_frame
        self.place, self.key = transport.place, transport.key
        self.is_shared, self.has_headers = transport.is_shared, transport.has_headers
        self.has_handshake, self.attempts = transport.has_handshake, transport.attempts
        self.tell_end = transport.tell_end
        self.set_era = transport.set_era
        self.overhear = transport.overhear
        self.revive = transport.revive
        self.explain_silence = transport.explain_silence
        self.close = transport.close

    async def open(self, listener: OnMessage) -> None:
        """Open the transport below, and overhear what it is told."""

        def hear(message: ServerMessage) -> bytes | None:
            self._tell(Frame("received", _spell_message(message)))
            reply = listener(message)
            if reply is not None:
                self._tell(Frame("sent", reply))
            return reply

        await self._transport.open(hear)

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


def _spell_answer(answer: Received, id: int) -> bytes:
    if isinstance(answer, OrdinaryResult):
        return encode_response(b"%d" % id, encode_data(answer.wire()))
    return encode_answer(answer)


def _spell_message(message: ServerMessage) -> bytes:
    params = None if message.params is None else bytes(message.params)
    if isinstance(message, Request):
        return encode_request(message.id, message.method, params)
    return encode_notification(message.method, params)
