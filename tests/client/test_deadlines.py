"""Time limits by one timer do what those with a timer each would.

The clock of the loop stands still until a test moves it, so that a limit which is not kept shows at
once and nothing is waited for.
"""

from __future__ import annotations

import asyncio
import math

import pytest

from anyshape.client import Client
from anyshape.client.deadlines import Deadlines
from anyshape.errors import TransportError
from anyshape.server import Server

LONG = 1000.0
"""Seconds that no test lets pass."""
TURNS = 20
"""Turns of the loop, in which a task hears that its time is over, and ends."""


class Clock:
    """The clock of the running loop, which only its test moves."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self._now = float(math.ceil(loop.time()))  # whole seconds add up exactly
        patch.setattr(loop, "time", lambda: self._now)

    async def advance(self, seconds: float) -> None:
        """Let tasks begin what they would now, then what they would so much later."""
        for elapsed in (0.0, seconds):
            self._now += elapsed
            for _ in range(TURNS):
                await asyncio.sleep(0)


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


async def wait(deadlines: Deadlines, timeout: float | None) -> str:
    try:
        with deadlines.limit(timeout):
            await asyncio.Event().wait()
    except TimeoutError:
        return "late"
    return "done"


class Waiting:
    """Tasks that wait for ever, each within its limit."""

    def __init__(self, deadlines: Deadlines, *timeouts: float | None) -> None:
        self.tasks = [asyncio.create_task(wait(deadlines, timeout)) for timeout in timeouts]

    @property
    def late(self) -> list[bool]:
        """Which of them were told that their time is over."""
        return [task.done() and task.result() == "late" for task in self.tasks]

    async def end(self) -> list[type]:
        """Cancel them all; return what each came to."""
        for task in self.tasks:
            task.cancel()
        outcomes = await asyncio.gather(*self.tasks, return_exceptions=True)
        return [type(outcome) for outcome in outcomes]


async def test_a_call_fails_when_its_time_is_over(clock: Clock) -> None:
    server = Server("silent")

    @server.tool
    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    async with Client(server, timeout=5) as client:
        call = asyncio.create_task(client.call("wait_for_ever"))
        await clock.advance(4)
        assert not call.done()
        await clock.advance(2)
        assert call.done()
        with pytest.raises(TransportError, match=r"no answer .* within 5 s"):
            await call


async def test_the_shortest_limit_ends_first_whenever_it_began(clock: Clock) -> None:
    deadlines = Deadlines(LONG)
    long = Waiting(deadlines, LONG, None)
    await clock.advance(1)
    for _ in range(2):
        short = Waiting(deadlines, 5)
        await clock.advance(4)
        assert short.late == [False]
        await clock.advance(1)
        assert short.late == [True]
    assert await long.end() == [asyncio.CancelledError] * 2


async def test_many_limits_end_each_at_its_time(clock: Clock) -> None:
    waiting = Waiting(Deadlines(LONG), 1, 3, 2, 1)
    seen: list[list[bool]] = []
    for _ in range(3):
        await clock.advance(1)
        seen.append(waiting.late)
    assert seen == [[True, False, False, True], [True, False, True, True], [True] * 4]


async def test_what_ends_in_time_is_left_alone(clock: Clock) -> None:
    deadlines = Deadlines(LONG)
    for _ in range(3):
        with deadlines.limit(2):
            await clock.advance(1)
    await clock.advance(5)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_task_that_somebody_else_cancels_is_not_late(clock: Clock) -> None:
    waiting = Waiting(Deadlines(LONG), LONG)
    await clock.advance(1)
    assert await waiting.end() == [asyncio.CancelledError]


async def test_no_limit_runs_in_a_pause_and_all_go_on_after_it(clock: Clock) -> None:
    deadlines = Deadlines(LONG)
    before = Waiting(deadlines, 5)
    await clock.advance(1)
    with deadlines.paused():
        during = Waiting(deadlines, 5)
        await clock.advance(100)
    await clock.advance(3)
    assert before.late + during.late == [False, False]
    await clock.advance(1)
    assert before.late + during.late == [True, False]
    await clock.advance(1)
    assert during.late == [True]


async def test_a_pause_has_an_end(clock: Clock) -> None:
    deadlines = Deadlines(10)
    with deadlines.paused():
        waiting = Waiting(deadlines, 5)
        await clock.advance(14)
        assert waiting.late == [False]
        await clock.advance(1)
        assert waiting.late == [True]


async def test_a_limit_that_began_in_a_pause_is_put_off_by_its_own_part_of_it(
    clock: Clock,
) -> None:
    deadlines = Deadlines(LONG)
    with deadlines.paused():
        await clock.advance(500)
        waiting = Waiting(deadlines, 5)
        await clock.advance(0)
    await clock.advance(6)
    assert waiting.late == [True]


async def outlast(deadlines: Deadlines, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return whether a limit of this loop is kept."""
    clock = Clock(monkeypatch)
    waiting = Waiting(deadlines, 5)
    await clock.advance(5)
    return waiting.late


def test_a_client_may_be_used_on_another_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines = Deadlines(LONG)

    async def briefly() -> None:
        with deadlines.limit(5):
            await asyncio.sleep(0)

    asyncio.run(briefly())
    assert asyncio.run(outlast(deadlines, monkeypatch)) == [True]


def test_a_loop_that_was_closed_on_requests_does_not_stop_the_limits_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deadlines = Deadlines(LONG)
    first = asyncio.new_event_loop()
    first.set_exception_handler(lambda _loop, _said: None)  # its task is left alone
    left = first.create_task(wait(deadlines, 5))
    first.run_until_complete(asyncio.sleep(0))
    first.close()
    assert asyncio.run(outlast(deadlines, monkeypatch)) == [True]
    assert not left.done()
