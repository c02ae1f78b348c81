"""Responses to requests that a client may lose, or be sent away from, and come back for.

See "Sending Messages to the Server" and "Resumability and Redelivery" under "Transports" of
revision 2025-11-25. What was said is kept, within bounds, until some time after the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, Final, TypeAlias

from anyshape.server.response import write_event
from anyshape.server.streams.event_ids import ReplyId

if TYPE_CHECKING:
    from anyshape.server.http_options import Streams
    from anyshape.server.response import EventStream
    from anyshape.server.stores.sessions import RemoteReply

ReplyOutlet: TypeAlias = "EventStream | RemoteReply"
"""Where a reply goes: to a response of ours, or to another replica that has one."""

_OVERHEAD: Final = 512
"""Bytes that an event takes beside its own."""


class ReplyStream:
    """What replies to one request: to the connection that asked, and to those that come back.

    It does what an `EventStream` does for whoever answers.
    """

    def __init__(
        self, archive: Archive, session: str, name: str, response: ReplyOutlet, *, polled: bool
    ) -> None:
        self.session = session
        self.name = name
        self.size = 0
        self.is_over = False
        self._archive = archive
        self._options = archive.options
        self._polled = polled
        self._events: deque[tuple[int, bytes]] = deque()
        self._number = 0
        self._response: ReplyOutlet | None = response
        self._left: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        if polled:
            first = write_event(b"", bytes(ReplyId(name, 0)), self._options.retry)
            response.push_event(first)
            self._wind()

    @property
    def is_nearly_full(self) -> bool:
        """Whether its reader is that far behind; without a reader nothing is dropped."""
        return self._response is not None and self._response.is_nearly_full

    def push(self, message: bytes) -> None:
        """Send a message before the answer."""
        event = self._keep(message)
        if self._response is not None:
            self._response.push_event(event)

    async def finish(self, answer: bytes | None, status: int = 200) -> None:
        """Send the answer, if anybody waits for it, and end the response."""
        self.is_over = True
        if answer is None:
            event = b""
            self._archive.forget(self)
        else:
            event = self._keep(answer)
            self._archive.retire(self)
        response, left = self._part()
        if response is not None:
            await response.end(event, status)
        _let_go(left)
        if self._ending:
            # With this a request is done, and a host gives up a response that has not ended then.
            await asyncio.wait(self._ending)

    def abandon(self) -> None:
        """Send nothing more: there will be no answer."""
        self._archive.forget(self)
        response, left = self._part()
        if response is not None:
            response.abandon()
        _let_go(left)

    def break_silence(self) -> None:
        """Send a comment if nothing else is on its way."""
        if self._response is not None:
            self._response.break_silence()

    def hang_up(self) -> None:
        """Close the connection of a client that knows how to come back for the rest."""
        if self._polled and not self.is_over:
            response, left = self._part()
            if left is not None:
                _let_go(left)
            elif response is not None:
                self._end(response)

    def reaches(self, after: int) -> bool:
        """Tell whether a client that has every event up to a number can still get the answer."""
        return not self.is_over or bool(self._events) or after >= self._number

    def resume(self, after: int, response: ReplyOutlet) -> asyncio.Future[None]:
        """Reply on another connection from now on; what is returned is done when it is over.

        The one before, if it is still there, is left: its client has lost it.
        """
        before, left = self._part()
        if left is not None and not left.done():
            left.set_result(None)
        elif before is not None:
            self._end(before)
        for number, event in self._events:
            if number > after:
                response.push_event(event)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.is_over:
            done.set_result(None)
        else:
            self._response, self._left = response, done
            self._wind()
        return done

    def leave(self, response: ReplyOutlet) -> None:
        """Know that a connection is gone."""
        if self._response is response:
            self._part()

    def shrink(self) -> int:
        """Forget the oldest event that is kept; return how many bytes that frees."""
        if not self._events:
            return 0
        freed = len(self._events.popleft()[1]) + _OVERHEAD
        self.size -= freed
        return freed

    def _end(self, response: ReplyOutlet) -> None:
        """End a response while its request goes on."""
        task = asyncio.get_running_loop().create_task(_end_response(response))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _keep(self, message: bytes) -> bytes:
        self._number += 1
        event = write_event(message, bytes(ReplyId(self.name, self._number)))
        self._events.append((self._number, event))
        self.size += len(event) + _OVERHEAD
        self._archive.admit(self, len(event) + _OVERHEAD)
        if len(self._events) > self._options.max_events:
            self._archive.release(self, self.shrink())
        return event

    def _wind(self) -> None:
        if self._polled and self._options.hold is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._options.hold, self.hang_up)

    def _part(self) -> tuple[ReplyOutlet | None, asyncio.Future[None] | None]:
        """Write to the connection no more; return it, and whoever waits there."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        response, left = self._response, self._left
        self._response = self._left = None
        return response, left


def _let_go(waiting: asyncio.Future[None] | None) -> None:
    """Have whoever waits on a connection, if anybody does, wait no longer."""
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


async def _end_response(response: ReplyOutlet) -> None:
    with contextlib.suppress(OSError):
        await response.end()


class Archive:
    """What was replied, by session and stream, within bounds for each session and for all."""

    def __init__(self, options: Streams) -> None:
        self.options = options
        self._streams: dict[tuple[str, str], ReplyStream] = {}
        self._retired: dict[ReplyStream, asyncio.TimerHandle] = {}
        """Those that have their answer, the oldest first."""
        self._sizes: dict[str, int] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._streams)

    def add(self, stream: ReplyStream) -> None:
        """Keep what is said on a stream."""
        self._streams[stream.session, stream.name] = stream

    def find(self, session: str, name: str) -> ReplyStream | None:
        """Return a stream of a session, if anything is kept of it."""
        return self._streams.get((session, name))

    def admit(self, stream: ReplyStream, size: int) -> None:
        """Count bytes more that a stream keeps; where they are too many, forget others."""
        session, options = stream.session, self.options
        if (session, stream.name) not in self._streams:
            stream.shrink()
            return
        self._sizes[session] = self._sizes.get(session, 0) + size
        self._size += size
        while self._sizes.get(session, 0) > options.session_bytes:
            if not self._sacrifice(stream, session):
                break
        while self._size > options.total_bytes and self._sacrifice(stream):
            pass

    def release(self, stream: ReplyStream, size: int) -> None:
        """Count bytes that a stream no longer keeps."""
        self._size -= size
        left = self._sizes.pop(stream.session, 0) - size
        if left > 0:
            self._sizes[stream.session] = left

    def retire(self, stream: ReplyStream) -> None:
        """Know that a stream is over: forget it after a while."""
        if (stream.session, stream.name) in self._streams:
            loop = asyncio.get_running_loop()
            self._retired[stream] = loop.call_later(self.options.keep, self.forget, stream)

    def forget(self, stream: ReplyStream) -> None:
        """Keep nothing of a stream any more."""
        timer = self._retired.pop(stream, None)
        if timer is not None:
            timer.cancel()
        if self._streams.pop((stream.session, stream.name), None) is not None:
            self.release(stream, stream.size)

    def end(self, session: str) -> None:
        """Keep nothing of a session any more."""
        for stream in [each for key, each in self._streams.items() if key[0] == session]:
            self.forget(stream)
            stream.hang_up()

    def _sacrifice(self, stream: ReplyStream, session: str | None = None) -> bool:
        """Forget the oldest stream that is over, of a session if one is named; else an event."""
        for retired in self._retired:
            if session is None or retired.session == session:
                self.forget(retired)
                return True
        freed = stream.shrink()
        self.release(stream, freed)
        return freed > 0
