"""Sessions of a server that has several replicas.

What a session has subscribed to, and where in the news it was, is in the store for as long as one
process alone would remember it. A reply is kept by the process that answers; to a client that comes
back elsewhere it is passed on through the store, and only then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, TypeVarTuple, cast

from anyshape.server.failures import StoreAwayError, busy
from anyshape.server.features.announcements import Position, Topic
from anyshape.server.stores.link import (
    Signal,
    StoreLink,
    failures_of_store,
    read_topic,
    write_topic,
)

if TYPE_CHECKING:
    from anyshape.server.response import EventStream
    from anyshape.server.streams.endpoint import SessionStreams
    from anyshape.server.streams.event_ids import ReplyId
    from anyshape.server.streams.standing import StandingStream

_log = logging.getLogger("anyshape.server.stores")

Found = TypeVar("Found")
Of = TypeVarTuple("Of")

_HEARD_WITHIN: Final = 3.0
"""Seconds in which the process that has a reply says so."""
_PASSED_ON: Final = 60
"""Seconds for which a piece of a reply stays in the store."""
_MOST_PASSED_ON: Final = 1024
"""Pieces that wait there for a replica that may be gone."""
_MOST_ENDED: Final = 10_000
"""Sessions that are known to be over."""
_MOST_UNTOLD: Final = 10_000
"""Ends and cancellations that wait for the store; the oldest of more are never told."""
_SUBSCRIBE: Final = """
local is_known = redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1
if not is_known and redis.call('SCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('SADD', KEYS[1], ARGV[1])
return 1
"""
"""Add a topic unless it is one too many; whoever asks at the same time sees none that is not."""


class KnownSession(NamedTuple):
    """What the store knows of a session: its topics, and where in the news it was."""

    topics: list[Topic]
    told: Position | None


class SharedSessions:
    """What the sessions of one application share with those of its replicas."""

    def __init__(self, streams: SessionStreams, link: StoreLink) -> None:
        self._streams = streams
        self.link = link
        self._all = link.key("sessions")
        self._ended = link.key("ended")
        self._untold: dict[tuple[Callable[..., Awaitable[None]], tuple[Any, ...]], None] = {}
        """What the store has to be told when it is back."""
        for kind in ("subscribed", "unsubscribed", "listening", "ended", "cancelled", "resume"):
            link.on(kind, getattr(self, f"_on_{kind}"))
        link.on_return.append(self.recall)

    async def insist(self, ask: Callable[[*Of], Awaitable[Found]], *of: *Of) -> Found:
        """Return what the store was asked for; that it is away is an error for who asked."""
        if not self.link.is_linked:  # It was said already, and nobody has to wait for it.
            raise StoreAwayError
        try:
            return await self.link.persist(lambda: ask(*of))
        except failures_of_store() as error:
            _log.warning("%s could not be asked: %s", self.link.store.place, error)
            raise StoreAwayError from error

    async def attempt(self, ask: Callable[[*Of], Awaitable[Found]], *of: *Of) -> Found | None:
        """Return what the store was asked for, `None` if it is away."""
        try:
            return await self.insist(ask, *of)
        except StoreAwayError:
            return None

    async def tell(self, tell: Callable[[*Of], Awaitable[None]], *of: *Of) -> None:
        """Tell the store something now, or when it is back."""
        try:
            await self.insist(tell, *of)
        except StoreAwayError:
            self._untold[tell, of] = None
            if len(self._untold) > _MOST_UNTOLD:
                del self._untold[next(iter(self._untold))]

    async def recall(self) -> None:
        """Say and learn what could not be said and heard."""
        for tell, of in tuple(self._untold):
            await tell(*of)
            self._untold.pop((tell, of), None)
        now = time.time()
        client = cast("Any", self.link.client)
        found = await client.zrangebyscore(
            self._ended, now, "+inf", start=0, num=_MOST_ENDED, withscores=True
        )
        for key, expires in cast("list[tuple[bytes, float]]", found):
            self._streams.forget(key.decode(), expires)
        for key, stream in self._streams.table.streaming():
            for topic in await self._topics(key):
                stream.add(topic)
            if await self.link.client.zscore(self._all, key) is None:
                await self._restore(key, stream.topics)

    async def _restore(self, session: str, topics: Iterable[Topic]) -> None:
        """Tell a store that has lost everything what a session has subscribed to."""
        lists = self._streams.service.list_topics()
        for topic in topics:
            if topic not in lists:
                await self.subscribe(session, topic, sys.maxsize)

    async def subscribe(self, session: str, topic: Topic, allowed: int) -> None:
        """Have a session told of a topic, wherever its stream is or will be."""
        text = write_topic(topic)
        options = self._streams.options
        pipeline = self.link.client.pipeline(transaction=True)
        pipeline.eval(_SUBSCRIBE, 1, self.link.key("topics", session), text, allowed)
        pipeline.zadd(self._all, {session: time.time()})
        pipeline.zcard(self._all)
        pipeline.set(self._told(session), _write(self._streams.service.listeners.position), nx=True)
        self._renew(pipeline, session)
        is_added, _, sessions, *_ = await pipeline.execute()
        if not is_added:
            raise busy(allowed, "subscriptions")
        if sessions > options.max_sessions:
            await self._make_room(sessions - options.max_sessions)
        await self.link.signal("subscribed", session=session, topic=text.decode())

    async def unsubscribe(self, session: str, topic: Topic) -> None:
        """Tell a session no more of a topic."""
        text = write_topic(topic)
        await self.link.client.srem(self.link.key("topics", session), text)
        await self.link.signal("unsubscribed", session=session, topic=text.decode())

    async def listen(self, session: str) -> KnownSession:
        """Return a session's topics, and where in the news it was; its other streams end."""
        told = cast("bytes | None", await self.link.client.get(self._told(session)))
        topics = await self._topics(session)
        await self.link.signal("listening", session=session)
        return KnownSession(topics, None if told is None else _read(told))

    def leave_later(self, session: str, told: Position) -> None:
        """Remember where in the news a session was; nobody waits for that."""
        self.link.spawn(self._leave(session, told))

    async def _leave(self, session: str, told: Position) -> None:
        """Remember where in the news a session was, for as long as it may be idle."""
        pipeline = self.link.client.pipeline(transaction=True)
        pipeline.set(self._told(session), _write(told))
        self._renew(pipeline, session)
        await pipeline.execute()

    async def renew(self, session: str) -> None:
        """Have a session that has a stream remembered for longer."""
        pipeline = self.link.client.pipeline(transaction=True)
        self._renew(pipeline, session)
        await pipeline.execute()

    async def end(self, session: str, expires: float) -> None:
        """Let a session be over in every replica."""
        pipeline = self.link.client.pipeline(transaction=True)
        pipeline.delete(self.link.key("topics", session), self._told(session))
        pipeline.zrem(self._all, session)
        pipeline.zadd(self._ended, {session: expires})
        pipeline.zremrangebyscore(self._ended, 0, time.time())
        pipeline.zremrangebyrank(self._ended, 0, -_MOST_ENDED - 1)
        await pipeline.execute()
        await self.link.signal("ended", session=session, expires=expires)

    async def cancel(self, session: str, request: bytes) -> None:
        """Stop a request of a session wherever it is answered."""
        await self.link.signal("cancelled", session=session, request=request.decode())

    async def resume(
        self, session: str, heard: ReplyId, response: EventStream
    ) -> asyncio.Future[None] | None:
        """Go on with a reply of another replica; `None` if none of them has it.

        What is returned is done when the reply is over, or goes on elsewhere.
        """
        key = self.link.key("reply", secrets.token_urlsafe(12))
        loop = asyncio.get_running_loop()
        found: asyncio.Future[bool] = loop.create_future()
        done: asyncio.Future[None] = loop.create_future()
        done.add_done_callback(lambda _: self.link.leave(key))

        def take(fields: dict[bytes, bytes]) -> None:
            if not found.done():
                found.set_result(b"lost" not in fields)
            if b"event" in fields:
                response.push_event(fields[b"event"])
            if b"end" in fields and not done.done():
                done.set_result(None)

        wanted = {"session": session, "stream": heard.stream, "after": heard.number, "key": key}
        is_found = False
        try:
            await self.link.follow(key, take)
            await self.link.signal("resume", **wanted)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_HEARD_WITHIN):
                    is_found = await found
        finally:
            if not is_found:
                done.cancel()
        return done if is_found else None

    # What other replicas say.

    def _on_subscribed(self, signal: Signal) -> None:
        stream, topic = self._stream_in(signal), read_topic(str(signal.get("topic")).encode())
        if stream is not None and topic is not None:
            stream.add(topic)

    def _on_unsubscribed(self, signal: Signal) -> None:
        stream, topic = self._stream_in(signal), read_topic(str(signal.get("topic")).encode())
        if stream is not None and topic is not None:
            stream.remove(topic)

    def _stream_in(self, signal: Signal) -> StandingStream | None:
        """Return the stream that the session of a signal has here, if it has one."""
        live = self._streams.table.find(str(signal.get("session")))
        return None if live is None else live.stream

    def _on_listening(self, signal: Signal) -> None:
        live = self._streams.table.find(str(signal.get("session")))
        if live is not None and signal.get("from") != self.link.replica:
            live.leave()

    def _on_ended(self, signal: Signal) -> None:
        expires = signal.get("expires")
        if isinstance(expires, int | float):
            self._streams.forget(str(signal.get("session")), expires)

    def _on_cancelled(self, signal: Signal) -> None:
        request = str(signal.get("request")).encode()
        self._streams.stop(str(signal.get("session")), request)

    def _on_resume(self, signal: Signal) -> None:
        stream = self._streams.archive.find(str(signal.get("session")), str(signal.get("stream")))
        after, key = signal.get("after"), str(signal.get("key"))
        if stream is None or not isinstance(after, int) or signal.get("from") == self.link.replica:
            return
        remote = RemoteReply(self.link, key)
        if stream.reaches(after):
            done = stream.resume(after, remote)
            done.add_done_callback(lambda _: remote.abandon())
        else:
            remote.add(lost=b"1")

    async def _topics(self, session: str) -> list[Topic]:
        found = cast(
            "set[bytes]", await self.link.client.smembers(self.link.key("topics", session))
        )
        topics = (read_topic(text) for text in sorted(found))
        return [topic for topic in topics if topic is not None]

    async def _make_room(self, count: int) -> None:
        """Forget the sessions that were used longest ago."""
        popped = await self.link.client.zpopmin(self._all, count)
        for session, _ in cast("list[tuple[bytes, float]]", popped):
            key = session.decode()
            await self.link.client.delete(self.link.key("topics", key), self._told(key))

    def _renew(self, pipeline: Any, session: str) -> None:
        idle = int(self._streams.options.idle) + 1
        pipeline.expire(self.link.key("topics", session), idle)
        pipeline.expire(self._told(session), idle)
        pipeline.zadd(self._all, {session: time.time()}, xx=True)
        pipeline.zremrangebyscore(self._all, 0, time.time() - idle)

    def _told(self, session: str) -> str:
        return self.link.key("told", session)


class RemoteReply:
    """The connection of a client at another replica, as far as a reply is concerned."""

    is_nearly_full = False

    def __init__(self, link: StoreLink, key: str) -> None:
        self._link = link
        self._key = key
        self._is_open = True
        self._count = 0
        self._last: asyncio.Task[None] | None = None
        self.add(found=b"1")

    def push_event(self, event: bytes) -> None:
        """Pass an event on."""
        if self._is_open:
            self.add(event=event)

    async def end(self, last: bytes = b"", status: int = 200) -> None:
        """Pass on the last event, and that it was the last."""
        if self._is_open:
            self._is_open = False
            self.add(event=last, end=b"1")

    def abandon(self) -> None:
        """Pass on that there is no more here."""
        if self._is_open:
            self._is_open = False
            self.add(end=b"1")

    def break_silence(self) -> None:
        """Do nothing: the other replica sees to silence."""
        return

    def add(self, **fields: bytes) -> None:
        """Add something to what the other replica reads, after all that was added before."""
        before = self._last
        self._count += 1
        entry: dict[Any, Any] = {name.encode(): value for name, value in fields.items()}
        # Under a number of its own, an entry that is there already is not added again.
        write = partial(self._write, f"0-{self._count}", entry)

        async def write_in_turn() -> None:
            if before is not None:
                await asyncio.wait((before,))
            await self._link.persist(write)

        self._last = self._link.spawn(write_in_turn())

    async def _write(self, number: str, entry: dict[Any, Any]) -> None:
        from redis.exceptions import ResponseError

        pipeline = self._link.client.pipeline(transaction=False)
        pipeline.xadd(self._key, entry, number, maxlen=_MOST_PASSED_ON, approximate=True)
        pipeline.expire(self._key, _PASSED_ON)
        try:
            await pipeline.execute()
        except ResponseError as error:
            if "equal or smaller" not in str(error):
                raise


def _write(position: Position) -> bytes:
    return b"%d-%d" % position


def _read(text: bytes) -> Position | None:
    time, _, number = text.partition(b"-")
    return (int(time), int(number)) if time.isdigit() and number.isdigit() else None
