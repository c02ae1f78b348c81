"""The link of one process to the store: what changed here is told there, and the other way round.

Two logs in the store carry everything, the news and the signals. Every process reads both from
where it is, so nothing is missed while a connection is made again, and the position of a piece of
news is the same in all of them. While the store is away, changes are told to those who listen in
this process, and to the others when it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import msgspec

from anyshape.protocol.encoding import encode_data
from anyshape.server.features.announcements import Position, Topic

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from anyshape.server.service import Service
    from anyshape.server.stores.redis_store import RedisStore

Signal: TypeAlias = dict[str, Any]
"""What one replica tells the others: `kind`, and what belongs to it."""
Entries: TypeAlias = list[tuple[bytes, dict[bytes, bytes]]]
"""What a log in the store holds: ids, and fields by their names."""

Found = TypeVar("Found")

_log = logging.getLogger("anyshape.server.stores")

_BLOCK: Final = 5.0
"""Seconds that the store is asked to wait for something new."""
_FIRST: Final = 2.0
"""Seconds that a server waits for the store before it serves without it."""
_SOONEST, _LATEST = 0.05, 5.0
"""Seconds between attempts to reach it again: the first pause, and the longest."""
_MOST_UNSENT: Final = 4096

_decode_signal: Final = msgspec.json.Decoder(dict[str, Any]).decode
_decode_topic: Final = msgspec.json.Decoder(tuple[str, str]).decode


def write_topic(topic: Topic) -> bytes:
    """Return a topic as text."""
    return encode_data((topic.notification, topic.members.decode()))


def read_topic(text: bytes) -> Topic | None:
    """Return the topic that a text stands for, `None` if it is none."""
    try:
        notification, members = _decode_topic(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return Topic(notification, members.encode())


class StoreLink:
    """A process that is linked with others through the store, as long as the store is there."""

    def __init__(self, service: Service, store: RedisStore) -> None:
        self.store = store
        self.client: Redis = store.connect()
        self.replica = secrets.token_urlsafe(9)
        self.is_linked = False
        self.on_return: list[Callable[[], Awaitable[None]]] = []
        """Called when the store is there again."""
        self._service = service
        self._reader: Redis = store.connect(_BLOCK)
        name = service.identity.name
        self._namespace = store.namespace or f"anyshape:{name}"
        self._news, self.signals = self.key("news"), self.key("signals")
        self._at: dict[str, bytes] = {}
        """Where in each log this process is."""
        self._handlers: dict[str, list[Callable[[Signal], Awaitable[None] | None]]] = {}
        self._followed: dict[str, Callable[[dict[bytes, bytes]], None]] = {}
        self._unsent: dict[Topic, None] = {}
        self._takes_news = True
        self._loop = asyncio.get_running_loop()
        self._first = asyncio.Event()
        self._something = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def key(self, *parts: str) -> str:
        """Return the name of something in the store."""
        return ":".join((self._namespace, *parts))

    def on(self, kind: str, handler: Callable[[Signal], Awaitable[None] | None]) -> None:
        """Have signals of a kind handled, our own included."""
        self._handlers.setdefault(kind, []).append(handler)

    async def signal(self, kind: str, **details: object) -> None:
        """Tell all replicas something; raise if the store is not there."""
        await self.client.xadd(
            self.signals,
            {b"s": self.write_signal(kind, **details)},
            maxlen=self.store.max_news,
            approximate=True,
        )

    def write_signal(self, kind: str, **details: object) -> bytes:
        """Return the text of a signal, as it stands in the log."""
        return encode_data({"kind": kind, "from": self.replica, **details})

    async def persist(self, ask: Callable[[], Awaitable[Found]]) -> Found:
        """Ask the store for what may be done twice: if the connection is cut, once more."""
        from redis.exceptions import ConnectionError as Cut

        try:
            return await ask()
        except (Cut, ConnectionError):  # Who waited in vain does not wait again.
            return await ask()

    async def follow(self, key: str, take: Callable[[dict[bytes, bytes]], None]) -> None:
        """Have everything that is added to a log in the store taken, until it is left."""
        self._followed[key] = take
        self._at[key] = b"0-0"
        await self.signal("wake")  # Ends the wait of our reader, which then looks there, too.

    def leave(self, key: str) -> None:
        """Follow a log no more."""
        self._followed.pop(key, None)
        self._at.pop(key, None)

    def announce(self, topic: Topic) -> bool:
        """Tell all replicas of a change, from any thread; tell whether ours will hear of it, too.

        If the store is away the others hear of it when it is back.
        """
        if len(self._unsent) < _MOST_UNSENT and not self._loop.is_closed():
            self._unsent[topic] = None
            self._loop.call_soon_threadsafe(self._something.set)
            return self.is_linked and self._takes_news
        return False

    def spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        """Have something done in the background; that the store is away is logged, no more."""
        task = self._loop.create_task(self._attempt(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Be linked for the time of an `async with`; wait a moment for the store to be there."""
        working = [self._loop.create_task(each) for each in (self._read(), self._write())]
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_FIRST):
                    await self._first.wait()
            self._service.listeners.relay = self.announce
            yield
        finally:
            self._service.listeners.relay = None
            await stop({*working, *self._tasks})
            await self._reader.aclose()
            await self.client.aclose()

    async def _attempt(self, work: Awaitable[None]) -> None:
        try:
            await work
        except failures_of_store() as error:
            _log.warning("%s could not be asked: %s", self.store.place, error)

    # What comes.

    async def _read(self) -> None:
        pause, is_first, is_late = _SOONEST, True, False
        while True:
            try:
                if is_late:
                    await cast("Any", self._reader).ping()
                    self.is_linked = True
                    for recall in self.on_return:  # Before the news: who wants them is known then.
                        await recall()
                await self._catch_up(is_first, is_told=is_late)
                self.is_linked = True
                self._first.set()
                self._something.set()
                if pause > _SOONEST:
                    _log.warning("%s is there again", self.store.place)
                pause, is_first = _SOONEST, False
                while True:
                    await self._read_once()
            except failures_of_store() as error:
                if pause == _SOONEST:
                    _log.warning(
                        "%s is away, so replicas do not hear of each other until it is back: %s",
                        *(self.store.place, error),
                    )
                self.is_linked, is_late = False, True
                self._first.set()
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
                pause = min(pause * 2, _LATEST)

    async def _read_once(self) -> None:
        at: Any = dict(self._at)
        found = await self._reader.xread(at, count=256, block=int(_BLOCK * 1000))
        for log, entries in cast("list[tuple[bytes, Entries]]", found or []):
            key = log.decode()
            for id, fields in entries:
                await self._take(key, id, fields)
                # Only now: what could not be handled, as the store was away, is read again.
                if key in self._at:
                    self._at[key] = id

    async def _take(self, key: str, id: bytes, fields: dict[bytes, bytes]) -> None:
        if key == self._news:
            topic = read_topic(fields.get(b"t", b""))
            if topic is not None:
                self._service.listeners.take(topic, _position(id))
        elif key == self.signals:
            await self._handle(fields.get(b"s", b""))
        elif key in self._followed:
            self._followed[key](fields)

    async def _handle(self, text: bytes) -> None:
        try:
            signal = _decode_signal(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        for handler in self._handlers.get(str(signal.get("kind")), ()):
            try:
                done = handler(signal)
                if done is not None:
                    await done
            except failures_of_store():
                raise
            except Exception:
                _log.exception("a signal of another replica could not be handled")

    async def _catch_up(self, is_first: bool, *, is_told: bool) -> None:
        """Learn what changed while we were not linked."""
        limit = self.store.max_news
        found = cast("Entries", await self._reader.xrevrange(self._news, count=limit))
        news = [(read_topic(fields.get(b"t", b"")), _position(id)) for id, fields in found]
        known = [(topic, position) for topic, position in reversed(news) if topic is not None]
        start = _position(found[-1][0]) if len(found) >= limit else (0, 0)
        end = _position(found[0][0]) if found else (0, 0)
        self._service.listeners.adopt(known, start, end, is_told=is_told)
        self._at[self._news] = b"%d-%d" % end
        if is_first:
            last = cast("Entries", await self._reader.xrevrange(self.signals, count=1))
            self._at[self.signals] = last[0][0] if last else b"0-0"

    # What goes.

    async def _write(self) -> None:
        pause = _SOONEST
        while True:
            await self._something.wait()
            self._something.clear()
            topics = tuple(self._unsent)
            if not topics or not self.is_linked:
                continue
            for topic in topics:
                del self._unsent[topic]
            try:
                await self._send(topics)
            except failures_of_store() as error:
                for topic in topics:
                    self._unsent.setdefault(topic, None)
                if self._takes_news:  # What comes later is told here when it is announced.
                    _log.warning("%s did not take news: %s", self.store.place, error)
                    self._takes_news = False
                    for topic in tuple(self._unsent):
                        self._service.listeners.tell(topic)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LATEST)
                self._something.set()
            else:
                pause = _SOONEST
                self._takes_news = True

    async def _send(self, topics: Iterable[Topic]) -> None:
        limit = self.store.max_news
        pipeline = self.client.pipeline(transaction=False)
        for topic in topics:
            fields: Mapping[Any, Any] = {b"t": write_topic(topic)}
            pipeline.xadd(self._news, dict(fields), maxlen=limit, approximate=True)
        await pipeline.execute()


@asynccontextmanager
async def open_link(service: Service, store: RedisStore) -> AsyncGenerator[None]:
    """Link a server with its other replicas for the time of an `async with`."""
    link = StoreLink(service, store)
    service.link = link
    try:
        async with link.held():
            yield
    finally:
        service.link = None


async def stop(tasks: set[asyncio.Task[None]]) -> None:
    """End tasks that speak to the store, whose client now and then swallows a cancellation."""
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=0.1)


def failures_of_store() -> tuple[type[Exception], ...]:
    """Return what is raised when the store is away."""
    from redis.exceptions import RedisError

    return (RedisError, OSError, TimeoutError)


def _position(id: bytes) -> Position:
    time, _, number = id.partition(b"-")
    return int(time), int(number)
