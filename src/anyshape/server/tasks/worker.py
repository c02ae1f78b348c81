"""A process that works on tasks which others have accepted: `anyshape worker`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, TypeVar, cast

import msgspec
from docket import Docket, Worker
from redis.exceptions import RedisError

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INTERNAL_ERROR
from anyshape.server.features.tasks import Tasks
from anyshape.server.service import Service
from anyshape.server.stores.link import stop
from anyshape.server.tasks.engine import TaskCall, describe_progress
from anyshape.server.tasks.performing import failed_outcome, perform
from anyshape.server.tasks.records import ASK, REPORT, WITHDRAW
from anyshape.server.tasks.redis_engine import WORK, RedisEngine, channel

_decode: Final = msgspec.msgpack.Decoder(TaskCall).decode
_WRITING: Final = 0.5
"""Seconds between two reports of progress that are written: more nobody could follow."""
_AGAIN: Final = timedelta(seconds=1)
"""How long to wait before a store that was lost is looked for again."""
_FIRST_LOOK: Final = 0.1
_LAST_LOOK: Final = 2.0
"""Seconds between two looks for the answer to a question."""

_log = logging.getLogger("anyshape.server.tasks")

Found = TypeVar("Found")


async def _insist(step: Callable[[], Awaitable[Found]]) -> Found:
    """Have the store do something, and again while it cannot.

    To docket a function that raises is done with, and the task would be nobody's.
    """
    while True:
        try:
            return await step()
        except (RedisError, OSError):
            _log.warning("the store of tasks cannot be reached; trying again", exc_info=True)
            await asyncio.sleep(_AGAIN.total_seconds())


async def work_on_tasks(service: Service, concurrency: int) -> None:
    """Work on the tasks of a server, so many at a time, until cancelled.

    What is in flight then has the grace time to finish; what is left is done by another worker.
    """
    tasks = service.find(Tasks)
    engine = None if tasks is None else tasks.engine
    if not isinstance(engine, RedisEngine):
        raise ValueError(
            "the server has no tasks that are kept where other processes reach them; write "
            "Server(options=ServerOptions(tasks=TaskOptions(store=RedisTasks(url))))"
        )
    async with service.lifespan.held():
        docket = await engine.docket()

        async def work(id: str) -> None:
            await _work_on(id, engine, docket)

        docket.register(work, names=[WORK])
        worker = Worker(
            docket,
            concurrency=concurrency,
            redelivery_timeout=timedelta(seconds=engine.store.redelivery),
            reconnection_delay=_AGAIN,
            schedule_automatic_tasks=False,
        )
        async with worker:
            running = asyncio.create_task(worker.run_forever())
            try:
                await asyncio.wait({running})
            finally:
                # Cancelled once, it takes no more work; twice, it leaves what it has to others.
                for _ in range(2):
                    if not running.done():
                        running.cancel()
                        await asyncio.wait({running}, timeout=service.options.grace)
        if running.done() and not running.cancelled():
            running.result()


async def _work_on(id: str, engine: RedisEngine, docket: Docket) -> None:
    """Work on a task, unless it has ended or was begun too often."""
    task, text, *_ = engine.keys(docket, id)

    async def begin() -> tuple[bytes | None, int]:
        async with docket.redis() as redis:
            client = cast("Any", redis)
            found: bytes | None = await client.get(text)
            return found, 0 if found is None else await client.hincrby(task, "attempts", 1)

    async def fail(reason: str) -> None:
        failure = failed_outcome(ProtocolError(reason, code=INTERNAL_ERROR))
        await _insist(lambda: engine.end(id, failure))

    kept, attempt = await _insist(begin)
    if kept is None:  # It was cancelled, or has ended in the hands of another worker.
        return
    if attempt > engine.store.attempts:
        _log.error("a task was begun %d times and never ended", attempt - 1)
        await fail(f"The work was begun {attempt - 1} times and never ended")
        return
    try:
        call = _decode(kept)
    except msgspec.DecodeError:
        _log.exception("a task cannot be read; has another version accepted it?")
        await fail("This worker cannot read the call")
        return
    link = _StoredLink(engine, docket, task, id)
    async with link.writing():
        try:
            outcome = await perform(engine.service, call, link, engine.options.timeout)
        except asyncio.CancelledError:
            # This worker stops, or the task was cancelled; neither is a failed attempt.
            with contextlib.suppress(RedisError, OSError):
                async with docket.redis() as redis:
                    if await cast("Any", redis).exists(task):
                        await cast("Any", redis).hincrby(task, "attempts", -1)
            raise
    await _insist(lambda: engine.end(id, outcome))


class _StoredLink:
    """Reports and questions of the work on a task that is in the store."""

    def __init__(self, engine: RedisEngine, docket: Docket, key: str, id: str) -> None:
        self._engine = engine
        self._docket = docket
        self._key = key
        self._id = id
        self._message: str | None = None
        self._is_new = asyncio.Event()

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        self._message = describe_progress(progress, total, message)
        self._is_new.set()

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncGenerator[None]:
        """Write reports of progress for the time of an `async with`, the newest of many."""
        writer = asyncio.create_task(self._write())
        try:
            yield
        finally:
            await stop({writer})

    async def _write(self) -> None:
        while True:
            await self._is_new.wait()
            self._is_new.clear()
            try:
                await self._run(REPORT, time.time(), self._message)
            except Exception:
                _log.warning("progress could not be written", exc_info=True)
            await asyncio.sleep(_WRITING)

    async def ask(self, key: str, question: bytes) -> bytes:
        run, told = self._run, channel(self._docket)
        await _insist(lambda: run(ASK, self._id, time.time(), told, key, question))
        pause = _FIRST_LOOK

        async def look() -> bytes | None:
            async with self._docket.redis() as redis:
                return await cast("Any", redis).hget(self._key, f"answer:{key}")

        while (answer := await _insist(look)) is None:
            await asyncio.sleep(pause)
            pause = min(_LAST_LOOK, pause * 1.5)
        return answer

    async def withdraw(self, key: str) -> None:
        run, told = self._run, channel(self._docket)
        await _insist(lambda: run(WITHDRAW, self._id, time.time(), told, key))

    async def _run(self, script: str, *values: Any) -> None:
        await self._engine.run(self._docket, script, (self._key,), *values)
