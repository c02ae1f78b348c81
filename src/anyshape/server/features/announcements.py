"""Who is told of what: topics, and those who listen for them.

A topic is data, so that whatever carries news from one process to another can carry it. Every
change has a position, and what has changed since a position can be told: somebody who missed some
of the news needs no record of it, only where they were.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from anyshape.protocol.jsonrpc import encode_notification

Position: TypeAlias = tuple[int, int]
"""Where in the news something is: a time in milliseconds, and a number. Later ones are greater."""

_REMEMBERED: Final = 4096
"""Topics of which it is known when they last changed."""


class Topic(NamedTuple):
    """Something that changes, and the notification that says so.

    `members` are what its parameters hold beside `_meta`, as JSON text without braces.
    """

    notification: str
    members: bytes = b""

    def message(self, meta: bytes | None = None) -> bytes:
        """Return the notification, with `meta` as its `_meta`."""
        parts = [] if meta is None else [b'"_meta":' + meta]
        if self.members:
            parts.append(self.members)
        return encode_notification(self.notification, b"{%b}" % b",".join(parts) if parts else None)


class Listener:
    """Somebody on an event loop who wants to know; changes in one turn are told once."""

    __slots__ = ("_deliver", "_loop", "_pending", "topics")

    def __init__(self, topics: Iterable[Topic], deliver: Callable[[Topic, Position], None]) -> None:
        self.topics = tuple(topics)
        self._loop = asyncio.get_running_loop()
        self._deliver: Callable[[Topic, Position], None] = deliver
        self._pending: dict[Topic, Position] = {}

    def notify(self, topic: Topic, position: Position) -> None:
        """Tell, from any thread."""
        if topic not in self._pending and not self._loop.is_closed():
            self._pending[topic] = position
            self._loop.call_soon_threadsafe(self._tell, topic)

    def _tell(self, topic: Topic) -> None:
        self._deliver(topic, self._pending.pop(topic))

    def silence(self) -> None:
        """Never tell again."""
        self._deliver = lambda _topic, _position: None


class Listeners:
    """Everyone who listens, whatever the transport and on whichever thread."""

    def __init__(self) -> None:
        self._by_topic: dict[Topic, set[Listener]] = {}
        self._changing = threading.Lock()
        self._changed: dict[Topic, Position] = {}
        self.position = self._forgotten = (time.time_ns() // 1_000_000, 0)
        """The position of the last change, or of the start if there was none."""
        self.relay: Callable[[Topic], bool] | None = None
        """Tells other processes of a change; returns whether we will hear of it as they do."""
        self.on_interest: Callable[[Topic], None] | None = None
        """Called when a topic has got its first listener, or lost its last."""

    def add(self, topics: Iterable[Topic], deliver: Callable[[Topic, Position], None]) -> Listener:
        """Have `deliver` called on the current loop after every change of one of the topics."""
        listener = Listener(topics, deliver)
        new: list[Topic] = []
        with self._changing:
            for topic in listener.topics:
                if topic not in self._by_topic:
                    self._by_topic[topic] = set()
                    new.append(topic)
                self._by_topic[topic].add(listener)
        self._tell_interest(new)
        return listener

    def remove(self, listener: Listener) -> None:
        """Forget a listener."""
        listener.silence()
        over: list[Topic] = []
        with self._changing:
            for topic in listener.topics:
                others = self._by_topic.get(topic)
                if others is not None:
                    others.discard(listener)
                    if not others:
                        del self._by_topic[topic]
                        over.append(topic)
        self._tell_interest(over)

    def has(self, topic: Topic) -> bool:
        """Tell whether anybody listens for a topic."""
        return topic in self._by_topic

    def notify(self, topic: Topic) -> None:
        """Tell everyone who listens for a topic, from any thread, and other processes if any."""
        if self.relay is None:
            with self._changing:
                time, number = self.position
                self._tell(topic, (time, number + 1))
        elif not self.relay(topic):
            self.tell(topic)

    def tell(self, topic: Topic) -> None:
        """Tell those in this process alone; the position stays what it was."""
        with self._changing:
            self._call(topic, self.position)

    def take(self, topic: Topic, position: Position) -> None:
        """Tell those in this process of news that has come from elsewhere."""
        with self._changing:
            self._tell(topic, position)

    def adopt(
        self,
        news: Iterable[tuple[Topic, Position]],
        start: Position,
        end: Position,
        *,
        is_told: bool,
    ) -> None:
        """Replace what is known of changes by the news of a store, complete from `start` to `end`.

        With `is_told` those who listen are told what is new to them. If the news do not reach back
        to our last position, that is everything: any topic may have changed.
        """
        with self._changing:
            before, is_whole = self.position, start <= self.position <= end
            self._changed = {}
            self._forgotten = start
            for topic, position in news:
                if is_told and is_whole and position > before:
                    self._tell(topic, position)
                else:
                    self._changed.pop(topic, None)
                    self._changed[topic] = position
            self.position = end
            if is_told and not is_whole:
                for topic in tuple(self._by_topic):
                    self._call(topic, end)

    def since(self, position: Position, topics: Iterable[Topic]) -> list[tuple[Topic, Position]]:
        """Return which of the topics may have changed after a position, in the order they did.

        All of them may have, if it is not known what happened since.
        """
        with self._changing:
            if not self._forgotten <= position <= self.position:
                return [(topic, self.position) for topic in topics]
            found = [(topic, self._changed.get(topic, position)) for topic in topics]
        return sorted((each for each in found if each[1] > position), key=lambda each: each[1])

    def _tell_interest(self, topics: Iterable[Topic]) -> None:
        if self.on_interest is not None:
            for topic in topics:
                self.on_interest(topic)

    def _tell(self, topic: Topic, position: Position) -> None:
        # Everyone is told before the next change is, so that nobody hears of a later one first.
        self.position = position
        self._changed.pop(topic, None)
        self._changed[topic] = position
        if len(self._changed) > _REMEMBERED:
            self._forgotten = self._changed.pop(next(iter(self._changed)))
        self._call(topic, position)

    def _call(self, topic: Topic, position: Position) -> None:
        for listener in self._by_topic.get(topic, ()):
            listener.notify(topic, position)
