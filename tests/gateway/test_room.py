"""Room for calls: so many at once, so many waiting, so long; per upstream and per caller."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from patience import PATIENCE

from anyshape.gateway.refusal import UpstreamRefusal
from anyshape.gateway.room import CallerRooms, Room, RoomOptions


class Held:
    """A call that holds a place until it is told to end."""

    def __init__(self, room: Room) -> None:
        self.begun = asyncio.Event()
        self._end = asyncio.Event()
        self.task = asyncio.create_task(self._run(room))

    async def _run(self, room: Room) -> None:
        async with room:
            self.begun.set()
            await self._end.wait()

    async def end(self) -> None:
        self._end.set()
        async with asyncio.timeout(PATIENCE):
            await self.task


async def hold(room: Room) -> Held:
    held = Held(room)
    async with asyncio.timeout(PATIENCE):
        await held.begun.wait()
    return held


async def queue(room: Room) -> Held:
    """Have a call wait."""
    waiting = room.waiting
    held = Held(room)
    await asyncio.sleep(0)
    assert room.waiting == waiting + 1
    return held


async def test_calls_beyond_the_limit_wait_and_are_served_in_turn() -> None:
    room = Room("sums", RoomOptions(max_calls=2))
    first, second = await hold(room), await hold(room)
    third, fourth = await queue(room), await queue(room)
    assert (room.in_flight, room.waiting) == (2, 2)
    assert not room.enter_now()
    await second.end()
    async with asyncio.timeout(PATIENCE):
        await third.begun.wait()
    assert not fourth.begun.is_set()
    for held in (first, third, fourth):
        await held.end()
    assert (room.in_flight, room.waiting) == (0, 0)
    assert room.enter_now()


async def test_more_than_may_wait_are_refused_at_once() -> None:
    room = Room("sums", RoomOptions(max_calls=1, max_waiting=1))
    first = await hold(room)
    second = await queue(room)
    with pytest.raises(UpstreamRefusal) as caught:
        async with room:
            pytest.fail("there was no place")
    assert (caught.value.upstream, caught.value.limit) == ("sums", "max_waiting")
    assert "upstream 'sums' has 1 calls in flight, and 1 waiting" in str(caught.value)
    assert "try again" in str(caught.value)
    await first.end()
    await second.end()
    assert (room.in_flight, room.waiting) == (0, 0)


async def test_without_a_queue_the_limit_is_named() -> None:
    room = Room("sums", RoomOptions(max_calls=1, max_waiting=0))
    first = await hold(room)
    with pytest.raises(UpstreamRefusal, match="max_calls") as caught:
        async with room:
            pytest.fail("there was no place")
    assert caught.value.limit == "max_calls"
    await first.end()


async def test_nobody_waits_longer_than_the_limit() -> None:
    room = Room("sums", RoomOptions(max_calls=1, max_wait=0.01))
    first = await hold(room)
    with pytest.raises(UpstreamRefusal, match="max_wait") as caught:
        async with room:
            pytest.fail("there was no place")
    assert caught.value.limit == "max_wait"
    assert (room.in_flight, room.waiting) == (1, 0)
    await first.end()
    assert room.in_flight == 0


async def test_a_call_that_is_cancelled_while_it_waits_loses_nobody_a_place() -> None:
    room = Room("sums", RoomOptions(max_calls=1))
    first, second, third = await hold(room), await queue(room), await queue(room)
    second.task.cancel()
    await asyncio.wait([second.task])
    await first.end()
    await third.end()
    assert (room.in_flight, room.waiting) == (0, 0)


async def test_a_place_given_to_a_call_that_is_cancelled_then_goes_on_to_the_next() -> None:
    room = Room("sums", RoomOptions(max_calls=1))
    assert room.enter_now()
    second, third = await queue(room), await queue(room)
    room.leave()
    second.task.cancel()  # it was given the place, and has not run since
    await asyncio.wait([second.task])
    await third.end()
    assert (room.in_flight, room.waiting) == (0, 0)


async def test_whatever_happens_every_place_comes_back() -> None:
    chance = random.Random(7)
    room = Room("sums", RoomOptions(max_calls=3, max_waiting=20, max_wait=0.005))
    most = 0

    async def call() -> None:
        nonlocal most
        async with room:
            most = max(most, room.in_flight)
            for _ in range(chance.randrange(20)):
                await asyncio.sleep(0)
            if chance.random() < 0.2:
                raise ValueError

    tasks = [asyncio.create_task(call()) for _ in range(400)]
    for task in tasks:
        if chance.random() < 0.3:
            task.cancel()
        await asyncio.sleep(0)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    kinds = (type(None), ValueError, UpstreamRefusal, asyncio.CancelledError)
    assert all(isinstance(each, kinds) for each in outcomes)
    assert most == 3
    assert (room.in_flight, room.waiting) == (0, 0)


async def test_one_caller_cannot_take_the_room_of_another() -> None:
    rooms = CallerRooms("sums", RoomOptions(max_calls=1, max_waiting=0))
    first = await hold(rooms.of("ann"))
    with pytest.raises(UpstreamRefusal, match="of caller 'ann'"):
        async with rooms.of("ann"):
            pytest.fail("there was no place")
    async with rooms.of("bob"):
        assert len(rooms) == 2
    await first.end()
    async with rooms.of("ann"):
        pass


async def test_callers_that_have_no_calls_take_no_memory() -> None:
    rooms = CallerRooms("sums", RoomOptions(max_calls=2))
    for number in range(1_000):
        async with rooms.of(f"caller {number}"):
            assert len(rooms) == 1
    assert len(rooms) == 0


@pytest.mark.parametrize(
    "options", [{"max_calls": 0}, {"max_waiting": -1}, {"max_wait": 0}], ids=str
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        RoomOptions(**options)
