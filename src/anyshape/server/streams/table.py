"""The sessions of which anything is remembered: what each has subscribed to, and its stream.

A session is here from when it first subscribes or listens, until it has been idle for long enough
or is ended. It goes on without being here: session ids say what a handshake settled.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from anyshape.server.failures import busy
from anyshape.server.features.announcements import Position, Topic
from anyshape.server.streams.standing import StandingStream

if TYPE_CHECKING:
    from anyshape.server.http_options import Streams
    from anyshape.server.service import Service


class LiveSession:
    """What is remembered of one session."""

    __slots__ = ("stream", "told", "topics", "touched")

    def __init__(self, told: Position, touched: float) -> None:
        self.topics: dict[Topic, None] = {}
        self.told = told
        """Where in the news it is, if it does not say so itself."""
        self.stream: StandingStream | None = None
        self.touched = touched

    def leave(self) -> None:
        """End its stream, if it has one."""
        stream, self.stream = self.stream, None
        if stream is not None:
            self.told = stream.told
            stream.end()


class SessionTable:
    """Sessions by their keys, those that were used longest ago first."""

    def __init__(self, service: Service, options: Streams) -> None:
        self._service = service
        self._options = options
        self._sessions: dict[str, LiveSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def touch(self, key: str) -> LiveSession:
        """Return the session of a key, which is remembered from now on; raise if there is no room.

        Those that are idle make room, the oldest first.
        """
        now = time.monotonic()
        session = self._sessions.pop(key, None)
        self._forget(now - self._options.idle)
        if session is None:
            session = LiveSession(self._service.listeners.position, now)
            self._make_room()
        session.touched = now
        self._sessions[key] = session
        return session

    def find(self, key: str) -> LiveSession | None:
        """Return the session of a key, if anything is remembered of it."""
        return self._sessions.get(key)

    def streaming(self) -> list[tuple[str, StandingStream]]:
        """Return the sessions that have a stream, with it."""
        return [
            (key, session.stream)
            for key, session in self._sessions.items()
            if session.stream is not None
        ]

    def subscribe(self, key: str, topic: Topic) -> None:
        """Have a session told of a topic, on the stream it has or will have."""
        session = self.touch(key)
        if topic in session.topics:
            return
        self._service.check_topics(session.topics)
        session.topics[topic] = None
        if session.stream is not None:
            session.stream.add(topic)

    def unsubscribe(self, key: str, topic: Topic) -> None:
        """Tell a session no more of a topic."""
        session = self._sessions.get(key)
        if session is not None:
            session.topics.pop(topic, None)
            if session.stream is not None:
                session.stream.remove(topic)

    def release(self, key: str, stream: StandingStream) -> None:
        """Know that a session's stream is over."""
        stream.end()
        session = self._sessions.get(key)
        if session is not None and session.stream is stream:
            session.leave()
            session.touched = time.monotonic()
            self._sessions[key] = self._sessions.pop(key)

    def end(self, key: str) -> None:
        """Forget a session."""
        session = self._sessions.pop(key, None)
        if session is not None:
            session.leave()

    def _forget(self, before: float) -> None:
        for key, session in tuple(self._sessions.items()):
            if session.touched > before:
                break
            if session.stream is None:
                del self._sessions[key]

    def _make_room(self) -> None:
        allowed = self._options.max_sessions
        if len(self._sessions) < allowed:
            return
        for key, session in self._sessions.items():
            if session.stream is None:
                del self._sessions[key]
                return
        raise busy(allowed, "sessions")
