"""Requests that a server with a handshake sends: each is answered in a task of its own.

https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

import msgspec

from anyshape.client.answering import Answering
from anyshape.client.answers import as_object, decode_object, read_value
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Bounds
from anyshape.client.transports.transport import Transport
from anyshape.errors import AnyshapeError, ProtocolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Request,
    encode_error,
    encode_response,
    request_key,
)
from anyshape.protocol.methods import PING

logger = logging.getLogger(__name__)


class ServerRequests:
    """What one server asks, and the tasks that find the answers."""

    def __init__(
        self, transport: Transport, answering: Answering, bounds: Bounds, deadlines: Deadlines
    ) -> None:
        self._transport = transport
        self._answering = answering
        self._bounds = bounds
        self._deadlines = deadlines
        self._tasks: dict[bytes, asyncio.Task[None]] = {}
        self._asked = 0

    def take(self, message: Request, headers: Mapping[str, str]) -> bytes | None:
        """Return the answer that needs no waiting; any other is sent when it is there."""
        if message.method == PING:
            return encode_response(message.id, b"{}")
        if not self._answering.knows(message.method):
            known = " and what it declared" if self._answering.capabilities else ""
            return encode_error(
                message.id, METHOD_NOT_FOUND, f"this client answers only ping{known}"
            )
        self._asked += 1
        key = request_key(message.id)
        if self._asked > self._bounds.max_questions or key in self._tasks:
            return encode_error(
                message.id,
                INTERNAL_ERROR,
                f"this client answers at most {self._bounds.max_questions} questions, "
                "each with an id of its own, before it gets an answer itself",
            )
        task = asyncio.get_running_loop().create_task(self._answer(message, headers))
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._tasks.pop(key, None))
        return None

    def forget_count(self) -> None:
        """Count anew: the server has answered a request of ours."""
        self._asked = len(self._tasks)

    def cancel(self, params: msgspec.Raw | None) -> None:
        """Give up on a question that the server no longer wants answered."""
        try:
            cancelled = decode_object(params, self._bounds.max_depth)
            task = self._tasks.get(request_key(encode_data(cancelled.get("requestId"))))
        except AnyshapeError:
            return
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Answer nothing more."""
        while tasks := list(self._tasks.values()):  # more may be asked until the transport closes
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)  # gather would not let go of the loop if all are done

    async def _answer(self, message: Request, headers: Mapping[str, str]) -> None:
        with self._deadlines.paused():
            answer = await self._find_answer(message)
        await self._transport.notify(answer, headers)

    async def _find_answer(self, message: Request) -> bytes:
        limit = self._bounds.answer_timeout
        try:
            params, depth = message.params, self._bounds.max_depth
            given = {} if params is None else as_object(await read_value(params, depth))
            async with asyncio.timeout(limit):
                result = await self._answering.answer(message.method, given)
            return encode_response(message.id, encode_data(result))
        except ProtocolError as error:
            return encode_error(message.id, error.code, error.message)
        except TimeoutError:
            reason = f"nobody answered within {limit:g} s"
        except Exception:
            logger.exception("a question of %s could not be answered", self._transport.place)
            reason = "the client could not answer"
        return encode_error(message.id, INTERNAL_ERROR, reason)
