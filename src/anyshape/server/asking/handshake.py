"""Questions up to 2025-11-25: a request of our own to the client, whose response is waited for.

https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from anyshape.errors import AskError
from anyshape.protocol.capabilities import lacking
from anyshape.protocol.input_requests import InputRequest
from anyshape.protocol.jsonrpc import Response, decode, encode_notification, encode_request
from anyshape.protocol.methods import CANCELLED
from anyshape.server.asking.questions import read_answer
from anyshape.server.request import OpenRequest
from anyshape.tools.asking import Asker
from anyshape.tools.deadline import Interruptible, paused

_SHOWN: Final = 200


class _ErrorObject(msgspec.Struct, gc=False, frozen=True):
    """What an error says."""

    code: int
    message: str


_decode_error: Final = msgspec.json.Decoder(_ErrorObject).decode


class HandshakeAsker(Asker):
    """Asks a client that has shaken hands, while one of its requests waits."""

    def __init__(self, request: OpenRequest, call: Interruptible) -> None:
        self.revision = request.revision
        self.capabilities = request.peer.capabilities
        self._request = request
        self._call = call

    async def ask(self, question: InputRequest, key: str | None) -> Any:
        """Send a question and wait for its answer, for as long as answers are waited for."""
        missing = lacking(question.requires, self.capabilities)
        if missing:
            raise AskError(
                f"the client cannot be asked with {question.method}: "
                f"it did not declare {describe(missing)}"
            )
        if not self._request.peer.takes_stream:
            raise AskError("the client cannot be asked: its Accept has no text/event-stream")
        with self._request.paused(), paused(self._call):
            response = decode(await self._exchange(question))
        if not isinstance(response, Response) or response.result is None:
            raise self._failure(question, response)
        return read_answer(response.result, question, self)

    async def _exchange(self, question: InputRequest) -> bytes:
        """Return the whole response to a question."""
        peer = self._request.peer
        seconds = peer.service.options.answer_timeout
        id, expecting = peer.expect_answer(self._request)
        async with expecting as answer:
            peer.send(encode_request(id, question.method, question.params))
            try:
                async with asyncio.timeout(seconds):
                    return await answer
            except TimeoutError:
                self._withdraw(id)
                raise AskError(
                    f"the client did not answer {question.method} within {seconds:g} seconds"
                ) from None
            except asyncio.CancelledError:
                self._withdraw(id)
                raise

    def _withdraw(self, id: bytes) -> None:
        """Tell the client that a question no longer matters."""
        self._request.peer.send(encode_notification(CANCELLED, b'{"requestId":%b}' % id))

    def _failure(self, question: InputRequest, response: object) -> AskError:
        said = ""
        if isinstance(response, Response) and response.error is not None:
            try:
                said = f": {_one_line(_decode_error(response.error).message)}"
            except msgspec.DecodeError:
                said = ", which cannot be read"
        return AskError(f"the client answered {question.method} with an error{said}")


def describe(capabilities: Mapping[str, Any]) -> str:
    """Return capabilities as words: `elicitation.url, sampling`."""
    return ", ".join(
        name if not inner else ", ".join(f"{name}.{each}" for each in inner)
        for name, inner in capabilities.items()
    )


def _one_line(text: str) -> str:
    line = "".join(letter if letter.isprintable() else " " for letter in text[:_SHOWN])
    return " ".join(line.split())
