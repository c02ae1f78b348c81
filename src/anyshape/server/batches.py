"""Batches, which revision 2025-03-26 has: several messages in one array, answered in one.

A small request can have a large answer, so an array of small requests is a lever. How many messages
it may hold is bounded before they are looked at (`anyshape.protocol.jsonrpc`), and what their
answers take together is bounded here: requests for which no room is left are not begun. Nor may an
array get its sender ahead of others: one request of it begins per turn of the event loop, as from
any connection, and few of them wait at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from typing import Final

from anyshape.protocol.jsonrpc import Request, encode_error, request_key
from anyshape.server.failures import BATCH_FULL
from anyshape.server.peer import Peer
from anyshape.server.request import IN_PARAMETERS, Answer, OpenRequest

_AT_ONCE: Final = 8
"""How many requests of one batch may wait at once: about as many as a browser has connections."""


async def answer_requests(
    peer: Peer, requests: Iterable[Request], unwanted: Container[bytes] = ()
) -> list[bytes]:
    """Return the answers to the requests of a batch, within what they may take together.

    Each request is begun, in order, in a task of its own, when those before it leave room. Where an
    answer does not fit an error stands in for it. Requests whose key is in `unwanted` by the time
    they would begin have none.
    """
    left = room = peer.service.options.max_batch_bytes
    places = asyncio.Semaphore(_AT_ONCE)

    async def answer(request: Request) -> bytes | None:
        nonlocal left
        if left <= 0:
            return _refuse(request, room, "it was not begun; ask again, alone")
        if request_key(request.id) in unwanted:
            return None
        opened = OpenRequest(peer, request.id, request.params, IN_PARAMETERS, batched=True)
        answered = opened.answer(request.method, request.params)
        given = (answered if isinstance(answered, Answer) else await answered).message
        if given is None:
            return None
        left -= len(given)
        return given if left >= 0 else _refuse(request, room, "its answer did not fit")

    tasks: list[asyncio.Task[bytes | None]] = []
    async with asyncio.TaskGroup() as group:
        for request in requests:
            await places.acquire()
            tasks.append(group.create_task(answer(request)))
            tasks[-1].add_done_callback(lambda _: places.release())
            await asyncio.sleep(0)
    return [given for task in tasks if (given := task.result()) is not None]


def _refuse(request: Request, room: int, outcome: str) -> bytes:
    reason = f"Batch too large: its answers may take {room} bytes together"
    return encode_error(request.id, BATCH_FULL, f"{reason}, and this request came late: {outcome}")
