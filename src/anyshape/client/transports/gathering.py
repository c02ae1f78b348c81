"""Room for answers that are being read: many long ones at once wait in turn, on their connections.

One answer is bounded, but a server that answers a hundred calls at once, each at great length and
slowly, would have all of them gathered in memory together. What is not read stays with the server.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from anyshape.client.transports.responses import HttpResponse

SHORT: Final = 1 << 18
"""Bytes of an answer that need no room: so many are buffered of each connection anyway."""


class GatheringRoom:
    """So many bytes for the answers that one server sends at once; who came first is first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()

    async def take(self, size: int) -> int:
        """Wait for room, and return how many bytes were taken: never more than there are in all."""
        size = min(size, self._most)
        if not self._waiting and self._taken + size <= self._most:
            self._taken += size
            return size
        place = asyncio.get_running_loop().create_future()
        self._waiting.append((place, size))
        try:
            await place
        except asyncio.CancelledError:
            self.give_back(0 if place.cancelled() else size)
            raise
        return size

    def give_back(self, size: int) -> None:
        """Have room for others again."""
        self._taken -= size
        self._admit()

    def _admit(self) -> None:
        """Give room to those who wait, in their order, as long as there is enough for the first."""
        while self._waiting:
            place, size = self._waiting[0]
            if not place.cancelled():
                if self._taken + size > self._most:
                    return
                self._taken += size
                place.set_result(None)
            self._waiting.popleft()


class GatheredAnswer:
    """The room that one answer has taken, for a `with` statement around reading it.

    It takes all that it may come to need at once: answers that took more step by step could come
    to wait for each other.
    """

    __slots__ = ("_room", "_taken")

    def __init__(self, room: GatheringRoom) -> None:
        self._room = room
        self._taken = 0

    def __enter__(self) -> GatheredAnswer:
        """Begin without room: most answers are short."""
        return self

    def __exit__(self, *_: object) -> None:
        """Have room for others again."""
        self.release()

    async def hold(self, most: int) -> None:
        """Wait for room for so many bytes, unless it was taken before."""
        if not self._taken:
            self._taken = await self._room.take(most)

    def release(self) -> None:
        """Have room for others again, if any was taken."""
        if self._taken:
            taken, self._taken = self._taken, 0
            self._room.give_back(taken)


async def gather(response: HttpResponse, room: GatheringRoom, most: int) -> bytes | None:
    """Return a body of at most so many bytes, `None` if there are more."""
    chunks: list[bytes] = []
    size = 0
    with GatheredAnswer(room) as gathered:
        while chunk := await response.next_chunk():
            size += len(chunk)
            if size > most:
                return None
            chunks.append(chunk)
            if size > SHORT:
                await gathered.hold(most)
        return b"".join(chunks)
