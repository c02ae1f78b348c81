"""Batches, which revision 2025-03-26 has: several messages in one array, answered in one.

A small request can have a large answer, so an array of small requests is a lever. How many messages
it may hold is bounded before they are looked at (`anyshape.protocol.jsonrpc`), and what their
answers take together is bounded here: requests for which no room is left are not begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from anyshape.protocol.jsonrpc import Request, encode_error
from anyshape.server.failures import BATCH_FULL

__all__ = ["answer_requests"]


async def answer_requests(
    requests: Iterable[Request], answer: Callable[[Request], Awaitable[bytes | None]], room: int
) -> list[bytes]:
    """Return the answers to the requests of a batch, of at most `room` bytes together.

    Each request is begun, in order, in a task of its own. Where an answer does not fit an error
    stands in for it.
    """
    left = room

    async def answer_one(request: Request) -> bytes | None:
        nonlocal left
        if left <= 0:
            return _refuse(request, room, "it was not begun; ask again, alone")
        given = await answer(request)
        if given is None:
            return None
        left -= len(given)
        return given if left >= 0 else _refuse(request, room, "its answer did not fit")

    answers = await asyncio.gather(*(answer_one(request) for request in requests))
    return [given for given in answers if given is not None]


def _refuse(request: Request, room: int, outcome: str) -> bytes:
    reason = f"Batch too large: its answers may take {room} bytes together"
    return encode_error(request.id, BATCH_FULL, f"{reason}, and this request came late: {outcome}")
