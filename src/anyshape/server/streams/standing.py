"""The stream that a client opens with GET: its session's news, until one of the two ends it.

See "Listening for Messages from the Server" under "Transports" of revision 2025-11-25.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from anyshape.protocol.revision import Revision
from anyshape.server.features.announcements import Listener, Position, Topic
from anyshape.server.response import EventStream, write_event
from anyshape.server.service import Service
from anyshape.server.streams.event_ids import NewsId, new_stream

_MOST_UNREAD: Final = 256
"""Events that wait for their reader. After that the stream ends; who comes back is told what has
changed, once, however often it did."""


class StandingStream:
    """One open stream of a session.

    `told` is where its reader is in the news, as far as we know.
    """

    def __init__(
        self, service: Service, response: EventStream, revision: Revision, told: Position
    ) -> None:
        self.told = told
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listeners = service.listeners
        self._listening: dict[Topic, Listener] = {}
        self._response = response
        self._timer: asyncio.TimerHandle | None = None
        self._name = new_stream() if revision.has_event_ids else None

    def begin(
        self,
        topics: Iterable[Topic],
        told: Position,
        retry: float | None = None,
        hold: float | None = None,
    ) -> None:
        """Start the response, tell what was missed, and listen from now on, for `hold` seconds.

        What was missed is all that came behind `told`: one topic may have been added, and told of,
        before the others were known. With `retry` it begins with an event that has an id and
        nothing else.
        """
        self.told = told
        if hold is not None:
            self._timer = asyncio.get_running_loop().call_later(hold, self.end)
        wanted = list(topics)
        if retry is None:
            self._response.break_silence()
        else:
            self._response.push_event(write_event(b"", self._id(self.told), retry))
        for topic in wanted:
            self.add(topic)
        for topic, position in self._listeners.since(self.told, wanted):
            self._tell(topic, position)

    @property
    def topics(self) -> tuple[Topic, ...]:
        """What its reader is told of."""
        return tuple(self._listening)

    def add(self, topic: Topic) -> None:
        """Tell of a topic, too; once it has ended, of nothing: nobody would stop listening."""
        if topic not in self._listening and not self.ended.done():
            self._listening[topic] = self._listeners.add((topic,), self._tell)

    def remove(self, topic: Topic) -> None:
        """Tell no more of a topic."""
        listener = self._listening.pop(topic, None)
        if listener is not None:
            self._listeners.remove(listener)

    def end(self) -> None:
        """Let the response end."""
        if self._timer is not None:
            self._timer.cancel()
        for topic in tuple(self._listening):
            self.remove(topic)
        if not self.ended.done():
            self.ended.set_result(None)

    def _tell(self, topic: Topic, position: Position) -> None:
        if self._response.unread >= _MOST_UNREAD:
            self.end()
            return
        self.told = max(self.told, position)
        self._response.push_event(write_event(topic.message(), self._id(position)))

    def _id(self, position: Position) -> bytes | None:
        return None if self._name is None else bytes(NewsId(position, self._name))
