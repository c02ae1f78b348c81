"""Time limits by one timer do what those with a timer each would."""

from __future__ import annotations

import asyncio

import pytest
from patience import PATIENCE, turn_until

from anyshape.client.deadlines import Deadlines

SOON = 0.01


async def wait(deadlines: Deadlines, timeout: float | None) -> str:
    try:
        with deadlines.limit(timeout):
            await asyncio.Event().wait()
    except TimeoutError:
        return "late"
    return "done"


async def test_the_shortest_limit_ends_first_whenever_it_began() -> None:
    deadlines = Deadlines(PATIENCE)
    long = asyncio.create_task(wait(deadlines, 1000))
    endless = asyncio.create_task(wait(deadlines, None))
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        assert await wait(deadlines, SOON) == "late"
        assert await wait(deadlines, SOON) == "late"
    assert not long.done()
    assert not endless.done()
    for task in (long, endless):
        task.cancel()
    outcomes = await asyncio.gather(long, endless, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError] * 2


async def test_many_limits_that_are_due_together_all_end() -> None:
    deadlines = Deadlines(PATIENCE)
    async with asyncio.timeout(PATIENCE):
        outcomes = await asyncio.gather(*(wait(deadlines, SOON * n) for n in (1, 3, 2, 1)))
    assert outcomes == ["late"] * 4


async def test_what_ends_in_time_is_left_alone() -> None:
    deadlines = Deadlines(PATIENCE)
    for _ in range(3):
        with deadlines.limit(SOON):
            await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    async with asyncio.timeout(PATIENCE):
        assert await wait(deadlines, SOON * 3) == "late"
    assert task.cancelling() == 0


async def test_a_task_that_somebody_else_cancels_is_not_late() -> None:
    deadlines = Deadlines(PATIENCE)
    task = asyncio.create_task(wait(deadlines, 1000))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_no_limit_runs_in_a_pause_and_all_go_on_after_it() -> None:
    deadlines = Deadlines(PATIENCE)
    before = asyncio.create_task(wait(deadlines, SOON))
    await asyncio.sleep(0)
    with deadlines.paused():
        during = asyncio.create_task(wait(deadlines, SOON))
        loop = asyncio.get_running_loop()
        until = loop.time() + 5 * SOON
        await turn_until(lambda: loop.time() > until, SOON)
        assert not before.done()
        assert not during.done()
    async with asyncio.timeout(PATIENCE):
        assert await asyncio.gather(before, during) == ["late", "late"]


async def test_a_pause_has_an_end() -> None:
    deadlines = Deadlines(SOON)
    with deadlines.paused():
        async with asyncio.timeout(PATIENCE):
            assert await wait(deadlines, SOON) == "late"


def test_a_client_may_be_used_on_another_loop() -> None:
    deadlines = Deadlines(PATIENCE)

    async def briefly() -> None:
        with deadlines.limit(SOON):
            await asyncio.sleep(0)

    asyncio.run(briefly())
    assert asyncio.run(asyncio.wait_for(wait(deadlines, SOON), PATIENCE)) == "late"


async def test_a_limit_that_began_in_a_pause_is_put_off_by_its_own_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    real, ahead = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: real() + ahead)
    deadlines = Deadlines(1000)
    with deadlines.paused():
        ahead = 500.0
        task = asyncio.create_task(wait(deadlines, PATIENCE))
        await asyncio.sleep(0)
    ahead += PATIENCE + 1
    async with asyncio.timeout(PATIENCE):
        assert await task == "late"


def test_a_loop_that_was_closed_on_requests_does_not_stop_the_limits_of_the_next() -> None:
    deadlines = Deadlines(PATIENCE)
    first = asyncio.new_event_loop()
    first.set_exception_handler(lambda _loop, _said: None)  # its task is left alone
    left = first.create_task(wait(deadlines, SOON))
    first.run_until_complete(asyncio.sleep(0))
    first.close()
    assert asyncio.run(asyncio.wait_for(wait(deadlines, SOON), PATIENCE)) == "late"
    assert not left.done()
