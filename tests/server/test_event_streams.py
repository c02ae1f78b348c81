"""What waits on streams that nobody reads is bounded together, and costs others nothing."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from patience import turn_until

from anyshape.server.response import EventStream, StreamRoom

MESSAGE = b"x" * 1_000
MOST = 200_000


async def _never(_event: MutableMapping[str, Any]) -> None:
    await asyncio.Event().wait()


async def _push_while_there_is_room(*streams: EventStream) -> list[int]:
    """Push to each stream in turn, as progress is; return how often it was possible."""
    counts = [0] * len(streams)
    for _ in range(1_000):
        for index, stream in enumerate(streams):
            if not stream.is_nearly_full:
                stream.push(MESSAGE)
                counts[index] += 1
    return counts


async def test_streams_that_nobody_reads_share_a_room() -> None:
    room = StreamRoom(MOST)
    streams = [EventStream(_never, 60, room) for _ in range(20)]
    for stream in streams:
        stream.push(MESSAGE)
    await asyncio.sleep(0)  # All of them have begun to send.
    counts = await _push_while_there_is_room(*streams)
    assert max(counts) - min(counts) <= 1
    assert sum(counts) * len(MESSAGE) <= MOST
    assert sum(counts) * len(MESSAGE) >= MOST // 2
    for stream in streams:
        stream.abandon()


async def test_what_has_to_arrive_finds_room_that_reports_leave_it() -> None:
    stream = EventStream(_never, 60, StreamRoom(MOST))
    stream.push(MESSAGE)
    await asyncio.sleep(0)
    await _push_while_there_is_room(stream)
    before = stream.unread
    stream.push(MESSAGE)
    assert stream.unread == before + 1
    stream.abandon()


async def test_a_stream_that_is_read_gets_everything_beside_those_that_are_not() -> None:
    room = StreamRoom(MOST)
    idle = [EventStream(_never, 60, room) for _ in range(50)]
    for stream in idle:
        stream.push(MESSAGE)
    sent: list[bytes] = []

    async def send(event: MutableMapping[str, Any]) -> None:
        sent.append(event.get("body", b""))

    stream = EventStream(send, 60, room)
    for _ in range(200):
        assert not stream.is_nearly_full
        stream.push(MESSAGE)
        await turn_until(lambda: not stream.unread)
    await stream.finish(b"{}")
    assert b"".join(sent).count(MESSAGE) == 200
    for other in idle:
        other.abandon()


async def test_the_room_is_left_by_streams_that_have_sent_what_they_had() -> None:
    room = StreamRoom(MOST)

    async def send(_event: MutableMapping[str, Any]) -> None:
        await asyncio.sleep(0)

    async def fail(_event: MutableMapping[str, Any]) -> None:
        raise OSError

    streams = [EventStream(each, 60, room) for each in (send, send, fail)]
    for stream in streams:
        stream.push(MESSAGE)
    assert room.sending == 3
    assert room.share == MOST // 3
    await turn_until(lambda: not room.sending)
    for stream in streams:
        await stream.finish(b"{}")
    assert room.sending == 0
    assert room.share == MOST
