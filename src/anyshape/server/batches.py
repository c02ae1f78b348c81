"""Batches, which revision 2025-03-26 has: several messages in one array, answered in one.

A small request can have a large answer, so an array of small requests is a lever. How many messages
it may hold is bounded before they are looked at (`anyshape.protocol.jsonrpc`), and what their
answers take together is bounded here, in one array and in all that are being answered, since one
slow request keeps the answers beside it: requests for which no room is left are not begun. Nor may
an array get its sender ahead of others: one request of it begins per turn of the event loop, as
from any connection, and few of them wait at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from typing import Final

from anyshape.protocol.jsonrpc import Request, encode_error, request_key
from anyshape.server.failures import BATCH_FULL, SERVER_BUSY
from anyshape.server.peer import Peer
from anyshape.server.request import IN_PARAMETERS, Answer, OpenRequest

_AT_ONCE: Final = 8
"""How many requests of one batch may wait at once: about as many as a browser has connections."""
_TOGETHER: Final = 4
"""How many times what the answers of one batch may take those of all batches may."""


async def answer_requests(
    peer: Peer, requests: Iterable[Request], unwanted: Container[bytes] = ()
) -> list[bytes]:
    """Return the answers to the requests of a batch, within what they may take together.

    Each request is begun, in order, in a task of its own, when those before it leave room. Where an
    answer does not fit an error stands in for it. Requests whose key is in `unwanted` by the time
    they would begin have none.
    """
    service = peer.service
    left = room = service.options.max_batch_bytes
    held = 0
    places = asyncio.Semaphore(_AT_ONCE)
    answers: dict[int, bytes] = {}

    def refuse(request: Request, outcome: str) -> bytes:
        if left > 0:
            reason = "Server busy: answers to batches take all the room they may"
            return encode_error(request.id, SERVER_BUSY, f"{reason}; {outcome}")
        reason = f"Batch too large: its answers may take {room} bytes together"
        lateness = f"and this request came late: {outcome}"
        return encode_error(request.id, BATCH_FULL, f"{reason}, {lateness}")

    async def answer(request: Request) -> bytes | None:
        nonlocal left, held
        if left <= 0 or service.batched_bytes >= _TOGETHER * room:
            return refuse(request, "it was not begun; ask again, alone")
        if request_key(request.id) in unwanted:
            return None
        opened = OpenRequest(peer, request.id, request.params, IN_PARAMETERS, batched=True)
        answered = opened.answer(request.method, request.params)
        given = (answered if isinstance(answered, Answer) else await answered).message
        if given is None:
            return None
        left -= len(given)
        if left < 0 or service.batched_bytes + len(given) > _TOGETHER * room:
            return refuse(request, "its answer did not fit")
        held += len(given)
        service.batched_bytes += len(given)
        return given

    async def put(place: int, request: Request) -> None:
        given = await answer(request)
        if given is not None:
            answers[place] = given

    try:
        async with asyncio.TaskGroup() as group:
            for place, request in enumerate(requests):
                await places.acquire()
                task = group.create_task(put(place, request))
                task.add_done_callback(lambda _: places.release())
                await asyncio.sleep(0)
    finally:
        service.batched_bytes -= held
    return [answers[place] for place in sorted(answers)]
