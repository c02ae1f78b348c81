"""Tasks in Valkey or Redis: accepted by any process, worked on by any other.

What is to be done, and whether somebody does it, is kept by docket
(https://github.com/chrisguidry/docket): a stream with a consumer group, whose entries come again if
the worker that took them is silent. What a task is, and what came of it, is kept beside that.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final, NamedTuple, cast

import msgspec
from docket import Docket
from redis.exceptions import RedisError

from anyshape.protocol.tasks import TaskSnapshot, TaskStatus
from anyshape.server.failures import SERVER_BUSY, UnservedError, busy
from anyshape.server.service import Service
from anyshape.server.stores.link import stop
from anyshape.server.tasks.engine import CANCELLED, TaskCall, TaskEngine, TaskOutcome, next_look
from anyshape.server.tasks.options import TaskOptions
from anyshape.server.tasks.performing import failed_outcome
from anyshape.server.tasks.records import ANSWER, BEGIN, END, read_record
from anyshape.server.tasks.redis_tasks import RedisTasks

WORK: Final = "work_on_anyshape_task"
"""What docket calls the function that works on a task."""

_UNTAKEN: Final = 7 * 24 * 3600.0
"""Seconds that a task waits for a worker before it is forgotten."""

_encode: Final = msgspec.msgpack.Encoder(enc_hook=str).encode
_log = logging.getLogger("anyshape.server.tasks")


class TaskKeys(NamedTuple):
    """The keys that hold one task, and those that all tasks share, in the order of the scripts."""

    task: str
    call: str
    all: str
    owned: str
    sizes: str


class RedisEngine(TaskEngine):
    """The tasks of a server, as one process of it sees them."""

    def __init__(self, store: RedisTasks, service: Service, options: TaskOptions) -> None:
        self.store = store
        self.service = service
        self.options = options
        self._open: _Opened | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Close what was opened for the tasks; it is opened when it is first needed."""
        try:
            yield
        finally:
            held, self._open = self._open, None
            if held is not None:
                await held.close()

    async def docket(self) -> Docket:
        """Return what knows which work there is to do."""
        here = asyncio.get_running_loop()
        if self._open is None or self._open.loop is not here:
            self._open = _Opened(self.store)
        return await asyncio.shield(self._open.docket)

    async def begin(self, call: TaskCall) -> TaskSnapshot:
        """Keep the task, and have docket hand it to a worker."""
        now, options = time.time(), self.options
        with _reaching():
            docket = await self.docket()
            keys = self.keys(docket, call.id, _owner(call.owner))
            full = await self.run(
                docket,
                BEGIN,
                keys,
                *(call.id, now, now + _UNTAKEN, call.size),
                *(options.max_tasks, options.max_tasks_per_caller, options.max_bytes),
                *(_owner(call.owner), _encode(call)),
            )
            if full:
                what = cast("bytes", full).decode()
                raise busy(_allowed(what, options), what)
            try:
                await docket.add(WORK, key=work_key(call.id))(call.id)
            except BaseException:
                await self.end(call.id, CANCELLED)
                raise
        return TaskSnapshot(
            id=call.id,
            status=TaskStatus.WORKING,
            created=now,
            updated=now,
            kept_until=now + options.keep,
            poll_interval=next_look(0, options.poll_interval),
        )

    async def find(self, id: str, owner: str | None) -> TaskSnapshot | None:
        """Return how a task stands."""
        with _reaching():
            fields = await self._fields(id)
        if not fields or fields[b"owner"] != _owner(owner):
            return None
        return self._read(id, fields)

    async def cancel(self, id: str) -> None:
        """End a task, and have the worker that has it, if any, stop."""
        with _reaching():
            await self.end(id, CANCELLED)
            await (await self.docket()).cancel(work_key(id))

    async def answer(self, id: str, answers: Mapping[str, bytes]) -> None:
        """Put answers where the worker looks for them."""
        with _reaching():
            docket = await self.docket()
            given = [part for pair in answers.items() for part in pair]
            keys, most = self.keys(docket, id), self.options.max_bytes
            full = await self.run(
                docket,
                ANSWER,
                (keys.task, keys.sizes),
                *(id, time.time(), channel(docket), most),
                *given,
            )
            if full:
                raise busy(most, cast("bytes", full).decode())

    async def watch(self, id: str) -> None:
        """Hear of changes that other processes make."""
        with _reaching():
            docket = await self.docket()
        if self._open is not None:
            self._open.listen(docket, self._hear)

    async def end(self, id: str, outcome: TaskOutcome) -> None:
        """End a task that has not ended."""
        docket, now, options = await self.docket(), time.time(), self.options
        fields = await self._fields(id)
        if not fields:
            return
        full = failed_outcome(busy(options.max_bytes, "bytes of tasks"))
        await self.run(
            docket,
            END,
            self.keys(docket, id, fields[b"owner"]),
            *(id, now, now + options.keep),
            *(outcome.status.value, outcome.text, outcome.message or ""),
            *(options.max_bytes, full.text, channel(docket)),
        )

    async def run(self, docket: Docket, script: str, keys: tuple[str, ...], *values: Any) -> Any:
        """Run a script on keys, in one step."""
        async with docket.redis() as redis:
            return await cast("Any", redis).register_script(script)(keys=[*keys], args=[*values])

    def keys(self, docket: Docket, id: str, owner: bytes = b"") -> TaskKeys:
        """Return where a task is kept, and how many of its owner's are counted."""
        # Ids and names of callers are strangers' text: a digest has one length and no colons.
        return TaskKeys(
            docket.key(f"mcp:task:{_digest(id.encode())}"),
            docket.key(f"mcp:call:{_digest(id.encode())}"),
            docket.key("mcp:tasks"),
            docket.key(f"mcp:owned:{_digest(owner)}"),
            docket.key("mcp:sizes"),
        )

    async def _fields(self, id: str) -> dict[bytes, bytes]:
        docket = await self.docket()
        async with docket.redis() as redis:
            key = self.keys(docket, id).task
            return await cast("Any", redis).hgetall(key)

    def _read(self, id: str, fields: dict[bytes, bytes]) -> TaskSnapshot:
        now, options = time.time(), self.options
        interval = next_look(now - float(fields[b"created"]), options.poll_interval)
        return read_record(id, fields, now=now, keep=options.keep, poll_interval=interval)

    async def _hear(self, id: str) -> None:
        fields = await self._fields(id)
        if fields and self.on_change is not None:
            task = self._read(id, fields)
            self.on_change(id, lambda: task)


class _Opened:
    """Connections that belong to one event loop."""

    def __init__(self, store: RedisTasks) -> None:
        self.loop = asyncio.get_running_loop()
        self._stack = contextlib.AsyncExitStack()
        self._listening: asyncio.Task[None] | None = None
        self.docket = self.loop.create_task(self._enter(store))

    async def _enter(self, store: RedisTasks) -> Docket:
        # What came of the work is kept by us, and nothing of it by docket.
        docket = Docket(name=store.name, url=store.url, execution_ttl=timedelta(0))
        docket.register(_not_here, names=[WORK])
        return await self._stack.enter_async_context(docket)

    def listen(self, docket: Docket, hear: Callable[[str], Any]) -> None:
        if self._listening is None or self._listening.done():
            self._listening = self.loop.create_task(self._listen(docket, hear))

    async def _listen(self, docket: Docket, hear: Callable[[str], Any]) -> None:
        while True:
            try:
                async with docket.redis() as redis:
                    heard = cast("Any", redis).pubsub(ignore_subscribe_messages=True)
                    async with heard:
                        await heard.subscribe(channel(docket))
                        async for message in heard.listen():
                            await hear(message["data"].decode())
            except (RedisError, OSError):
                _log.warning("the store of tasks cannot be heard; trying again", exc_info=True)
                await asyncio.sleep(1)

    async def close(self) -> None:
        if self._listening is not None:
            await stop({self._listening})
        if not self.docket.done():
            self.docket.cancel()
        await asyncio.wait([self.docket])
        await self._stack.aclose()


async def _not_here(id: str) -> None:
    """Stand for the work in processes that only hand it on; workers register their own."""
    raise RuntimeError("this process does not work on tasks; anyshape worker does")


@contextlib.contextmanager
def _reaching() -> Generator[None]:
    """Have a client told that tasks cannot be reached now, and the log why."""
    try:
        yield
    except (RedisError, OSError) as error:
        _log.exception("the store of tasks cannot be reached")
        raise UnservedError(
            "Server busy: tasks cannot be reached now; try again", code=SERVER_BUSY
        ) from error


def channel(docket: Docket) -> str:
    """Return where the ids of tasks are told that have another status."""
    return docket.key("mcp:changed")


def work_key(id: str) -> str:
    """Return what docket, which writes it to its log, knows the work on a task by."""
    return _digest(id.encode())


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:40]


def _owner(owner: str | None) -> bytes:
    """Return how an owner is written: nobody is not the caller whose name is empty."""
    return b"" if owner is None else b"=" + owner.encode(errors="surrogatepass")


def _allowed(what: str, options: TaskOptions) -> int:
    return {"tasks": options.max_tasks, "bytes of tasks": options.max_bytes}.get(
        what, options.max_tasks_per_caller
    )
