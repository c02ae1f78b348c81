"""Starting a coroutine by hand, and awaiting what remains of it."""

import asyncio
import contextvars
from collections.abc import Coroutine
from typing import Any, cast

import pytest

from anyshape.resumption import Resumed, start


async def test_a_coroutine_that_never_waits_gives_its_value_at_once() -> None:
    async def quick() -> int:
        return 7

    assert start(quick()) == 7


async def test_a_coroutine_that_waits_goes_on_when_it_is_awaited() -> None:
    async def slow() -> int:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return 7

    remains = start(slow())
    assert isinstance(remains, Resumed)
    assert await remains == 7


async def test_exceptions_come_through_before_and_after_a_wait() -> None:
    async def fail(waits: bool) -> None:
        if waits:
            await asyncio.sleep(0)
        raise LookupError("gone")

    for waits in (False, True):
        with pytest.raises(LookupError):
            await _run(fail(waits))


async def test_cancelling_the_task_reaches_the_coroutine() -> None:
    seen: list[str] = []

    async def wait_forever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    task = asyncio.create_task(_run(wait_forever()))
    await asyncio.sleep(0)
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

    assert await _run(time_out()) == "timed out"


async def test_a_task_group_inside_works() -> None:
    async def group() -> int:
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(asyncio.sleep(0, 1))
            second = tasks.create_task(asyncio.sleep(0, 2))
        return first.result() + second.result()

    assert await _run(group()) == 3


@pytest.mark.parametrize("waits", [False, True])
async def test_with_a_context_variables_do_not_leak(waits: bool) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="clean")

    async def stain() -> str:
        variable.set("stained")
        if waits:
            await asyncio.sleep(0)
        return variable.get()

    assert await _run(stain(), contextvars.copy_context()) == "stained"
    assert variable.get() == "clean"


async def test_closing_the_awaiting_coroutine_closes_the_inner_one() -> None:
    closed: list[bool] = []

    async def inner() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            closed.append(True)

    outer = _run(inner())
    outer.send(None)
    outer.close()
    assert closed == [True]


async def _run(
    coroutine: Coroutine[Any, Any, Any], context: contextvars.Context | None = None
) -> Any:
    outcome: Any = start(coroutine, context)
    return await cast("Resumed[Any]", outcome) if isinstance(outcome, Resumed) else outcome
