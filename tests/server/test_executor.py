"""Threads that nobody waits for, behind what asyncio offers."""

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest
from patience import PATIENCE

from anyshape.server.executor import DaemonExecutor


async def test_a_function_runs_on_a_daemon_thread_and_its_outcome_comes_back() -> None:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(DaemonExecutor())
    assert await asyncio.to_thread(lambda: threading.current_thread().daemon)
    assert await loop.run_in_executor(None, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await asyncio.to_thread(divmod, 1, 0)


@pytest.mark.parametrize("end", [StopIteration, GeneratorExit])
async def test_what_would_end_who_awaits_it_comes_back_as_another_error(
    end: type[BaseException],
) -> None:
    asyncio.get_running_loop().set_default_executor(DaemonExecutor())

    def finish() -> None:
        raise end

    async with asyncio.timeout(PATIENCE):
        with pytest.raises(RuntimeError) as raised:
            await asyncio.to_thread(finish)
    assert type(raised.value.__cause__) is end


async def test_many_functions_run_side_by_side() -> None:
    executor = DaemonExecutor()
    together = threading.Barrier(8, timeout=PATIENCE)
    await asyncio.gather(*(asyncio.wrap_future(executor.submit(together.wait)) for _ in range(8)))


async def test_a_function_that_was_cancelled_in_time_is_never_called() -> None:
    executor = DaemonExecutor()
    release = threading.Event()
    busy = [executor.submit(release.wait, PATIENCE) for _ in range(64)]
    called: list[str] = []
    waiting = executor.submit(called.append, "late")
    assert waiting.cancel()
    release.set()
    await asyncio.gather(*map(asyncio.wrap_future, busy))
    await asyncio.wrap_future(executor.submit(called.append, "next"))
    assert called == ["next"]
    with pytest.raises(CancelledError):
        waiting.result()
