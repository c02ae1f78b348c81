"""Who is told of what: topics, and those who listen for them.

A topic is data, so that whatever carries news from one process to another can carry it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple

from anyshape.protocol.jsonrpc import encode_notification

__all__ = ["Listener", "Listeners", "Topic"]


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

    def __init__(self, topics: Iterable[Topic], deliver: Callable[[Topic], None]) -> None:
        self.topics = tuple(topics)
        self._loop = asyncio.get_running_loop()
        self._deliver = deliver
        self._pending: set[Topic] = set()

    def notify(self, topic: Topic) -> None:
        """Tell, from any thread."""
        if topic not in self._pending and not self._loop.is_closed():
            self._pending.add(topic)
            self._loop.call_soon_threadsafe(self._tell, topic)

    def _tell(self, topic: Topic) -> None:
        self._pending.discard(topic)
        self._deliver(topic)

    def silence(self) -> None:
        """Never tell again."""
        self._deliver = _nothing


def _nothing(_topic: Topic) -> None:
    return


class Listeners:
    """Everyone who listens, whatever the transport and on whichever thread."""

    def __init__(self) -> None:
        self._by_topic: dict[Topic, set[Listener]] = {}
        self._changing = threading.Lock()

    def add(self, topics: Iterable[Topic], deliver: Callable[[Topic], None]) -> Listener:
        """Have `deliver` called on the current loop after every change of one of the topics."""
        listener = Listener(topics, deliver)
        with self._changing:
            for topic in listener.topics:
                self._by_topic.setdefault(topic, set()).add(listener)
        return listener

    def remove(self, listener: Listener) -> None:
        """Forget a listener."""
        listener.silence()
        with self._changing:
            for topic in listener.topics:
                others = self._by_topic.get(topic)
                if others is not None:
                    others.discard(listener)
                    if not others:
                        del self._by_topic[topic]

    def has(self, topic: Topic) -> bool:
        """Tell whether anybody listens for a topic."""
        return topic in self._by_topic

    def notify(self, topic: Topic) -> None:
        """Tell everyone who listens for a topic, from any thread."""
        with self._changing:
            listening = tuple(self._by_topic.get(topic, ()))
        for listener in listening:
            listener.notify(topic)
