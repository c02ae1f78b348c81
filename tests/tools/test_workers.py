"""The threads that synchronous tools run on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import weakref
from functools import partial

import pytest
from patience import PATIENCE, turn_until

from anyshape.tools.workers import CrowdedError, WorkerThreads


async def test_at_most_so_many_run_at_once_and_the_others_wait_their_turn() -> None:
    workers = WorkerThreads(limit=3)
    running: list[int] = []
    most: list[int] = []
    lock = threading.Lock()
    full = threading.Barrier(3)

    def work(number: int) -> int:
        with lock:
            running.append(number)
            most.append(len(running))
        full.wait(PATIENCE)
        with lock:
            running.remove(number)
        return number

    results = await asyncio.wait_for(
        asyncio.gather(*(workers.run(partial(work, number)) for number in range(9))), PATIENCE
    )
    assert results == list(range(9))
    assert max(most) == 3


async def test_a_call_given_up_while_it_waits_is_never_started() -> None:
    workers = WorkerThreads(limit=1)
    release = threading.Event()
    started: list[str] = []

    def block() -> None:
        release.wait(PATIENCE)

    first = workers.run(block)
    second = workers.run(partial(started.append, "second"))
    third = workers.run(partial(started.append, "third"))
    second.cancel()
    release.set()
    await asyncio.wait_for(asyncio.gather(first, third), PATIENCE)
    assert started == ["third"]


async def test_a_call_that_gets_no_thread_in_time_is_refused_and_never_started() -> None:
    workers = WorkerThreads(limit=2, patience=0.05)
    release = threading.Event()
    started: list[str] = []

    blocked = [workers.run(partial(release.wait, PATIENCE)) for _ in range(2)]
    refused = workers.run(partial(started.append, "refused"))
    with pytest.raises(CrowdedError, match="all 2 threads"):
        await asyncio.wait_for(refused, PATIENCE)
    release.set()
    await asyncio.wait_for(asyncio.gather(*blocked), PATIENCE)
    await asyncio.wait_for(workers.run(partial(started.append, "after")), PATIENCE)
    assert started == ["after"]


@pytest.mark.parametrize("patience", [None, 0.05], ids=["cancelled", "refused"])
async def test_a_call_given_up_while_it_waits_is_forgotten_before_any_thread_is_free(
    patience: float | None,
) -> None:
    workers = WorkerThreads(limit=1, patience=patience)
    release = threading.Event()

    class Argument:
        """Something that a call is given."""

    def wait_for(argument: Argument) -> weakref.ref[Argument]:
        refused = workers.run(partial(repr, argument))
        if patience is None:
            refused.cancel()
        waiting.append(refused)
        return weakref.ref(argument)

    waiting: list[asyncio.Future[str]] = []
    blocked = workers.run(partial(release.wait, PATIENCE))
    arguments = [wait_for(Argument()) for _ in range(3)]
    await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), PATIENCE)
    waiting.clear()
    await turn_until(lambda: not any(argument() for argument in arguments))
    release.set()
    assert await asyncio.wait_for(blocked, PATIENCE) is True


async def test_a_call_that_has_begun_is_not_refused_however_long_it_takes() -> None:
    workers = WorkerThreads(limit=1, patience=0.01)
    release = threading.Event()
    begun = workers.run(partial(release.wait, PATIENCE))
    with pytest.raises(CrowdedError):
        await asyncio.wait_for(workers.run(int), PATIENCE)
    release.set()
    assert await asyncio.wait_for(begun, PATIENCE) is True


async def test_an_idle_thread_is_used_again() -> None:
    workers = WorkerThreads(limit=10)
    threads = {await workers.run(threading.get_ident) for _ in range(20)}
    assert len(threads) == 1


async def test_every_exception_comes_back_to_the_caller() -> None:
    workers = WorkerThreads(limit=1)

    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await workers.run(fail)
    assert await workers.run(lambda: 1) == 1


def test_a_thread_that_never_ends_does_not_keep_the_process_alive() -> None:
    program = """
import asyncio, threading
from anyshape.tools import Tool

def tool() -> int:
    threading.Event().wait()
    return 1

async def main():
    print((await Tool.from_function(tool, timeout=0.01).call()).is_error)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout == "True\n"


def test_a_forked_child_has_threads_of_its_own() -> None:
    program = """
import asyncio, os
from anyshape.tools import Tool

def tool() -> int:
    return 1

def once():
    return asyncio.run(Tool.from_function(tool).call()).structured

assert once() == b"1"
pid = os.fork()
if pid == 0:
    os._exit(0 if once() == b"1" else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], timeout=PATIENCE, check=True)


async def test_a_pool_stays_patient_after_a_crowd() -> None:
    pool = WorkerThreads(1, 0.05)
    go_on = threading.Event()
    first, second = pool.run(go_on.wait), pool.run(lambda: 2)
    go_on.set()
    assert await first is True
    assert await second == 2
    hold = threading.Event()
    held, late = pool.run(hold.wait), pool.run(lambda: 3)
    with pytest.raises(CrowdedError):
        await late
    hold.set()
    await held
