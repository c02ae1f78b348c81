"""Awaiting in place, and learning of the first wait."""

import asyncio
import contextvars
from typing import Any

import pytest

from anyshape.server.suspension import watched


class _Counter:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1


async def test_a_coroutine_that_never_waits_tells_nobody() -> None:
    async def quick() -> int:
        return 7

    suspended = _Counter()
    assert await watched(quick(), suspended) == 7
    assert suspended.calls == 0


async def test_a_coroutine_that_waits_tells_once() -> None:
    async def slow() -> int:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return 7

    suspended = _Counter()
    assert await watched(slow(), suspended) == 7
    assert suspended.calls == 1


async def test_exceptions_come_through_before_and_after_a_wait() -> None:
    async def fail(waits: bool) -> None:
        if waits:
            await asyncio.sleep(0)
        raise LookupError("gone")

    for waits in (False, True):
        with pytest.raises(LookupError):
            await watched(fail(waits), _Counter())


async def test_cancelling_the_task_reaches_the_coroutine() -> None:
    seen: list[str] = []

    async def wait_forever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    started = asyncio.Event()
    task = asyncio.create_task(_await(watched(wait_forever(), started.set)))
    await asyncio.wait_for(started.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_a_time_out_inside_works_because_the_task_is_the_same() -> None:
    async def time_out() -> str:
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            return "timed out"
        return "finished"

    assert await watched(time_out(), _Counter()) == "timed out"


async def test_a_task_group_inside_works() -> None:
    async def group() -> int:
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(asyncio.sleep(0, 1))
            second = tasks.create_task(asyncio.sleep(0, 2))
        return first.result() + second.result()

    assert await watched(group(), _Counter()) == 3


@pytest.mark.parametrize("waits", [False, True])
async def test_with_a_context_variables_do_not_leak(waits: bool) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="clean")

    async def stain() -> str:
        variable.set("stained")
        if waits:
            await asyncio.sleep(0)
        return variable.get()

    assert await watched(stain(), _Counter(), contextvars.copy_context()) == "stained"
    assert variable.get() == "clean"


async def test_closing_the_awaiting_coroutine_closes_the_inner_one() -> None:
    closed: list[bool] = []

    async def inner() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            closed.append(True)

    outer = _await(watched(inner(), _Counter()))
    outer.send(None)
    outer.close()
    assert closed == [True]


async def _await(awaitable: Any) -> Any:
    return await awaitable
