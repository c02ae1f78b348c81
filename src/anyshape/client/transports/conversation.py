"""What is asked and answered on one stream, in any order: a child's output, a stream of events.

A message that cannot be read is skipped and remembered, so that an error can show it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Final

from anyshape.client.options import Bounds
from anyshape.client.quoting import shorten
from anyshape.client.request import Outgoing
from anyshape.client.transports.frames import read_frame
from anyshape.client.transports.transport import OnMessage, too_long
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.jsonrpc import Malformed, Notification, Request, Response
from anyshape.protocol.lines import KEPT, LongLine

logger = logging.getLogger(__name__)

_ID_FIRST: Final = re.compile(
    rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,'
)
_ID_LAST: Final = re.compile(rb'"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class Conversation:
    """The requests that wait for an answer, and all that the server says."""

    def __init__(
        self, place: str, bounds: Bounds, listener: OnMessage, reply: Callable[[bytes], object]
    ) -> None:
        """Begin a conversation; `listener` hears what is no answer, `reply` sends what it says."""
        self._place = place
        self._longest = bounds.max_answer_bytes
        self.most_unanswered = 2 * self._longest
        """Bytes: enough for any answer and all that may come before it."""
        self._listener = listener
        self._reply = reply
        self._waiting: dict[bytes, asyncio.Future[Response]] = {}
        self._endless = 0
        """How many of those stay open, and are answered by what comes before their answer."""
        self._unanswered = 0
        self._skipped = 0
        self._last_skipped = b""
        self._stray: bytes | None = None

    def begin(self, outgoing: Outgoing) -> asyncio.Future[Response]:
        """Return what will have the answer to a request."""
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._waiting[b"%d" % outgoing.id] = answer
        self._endless += outgoing.endless
        return answer

    def end(self, outgoing: Outgoing) -> None:
        """Wait for that answer no longer."""
        self._waiting.pop(b"%d" % outgoing.id, None)
        self._endless -= outgoing.endless

    def count(self, size: int) -> None:
        """Count the bytes that came while an answer was waited for."""
        if len(self._waiting) > self._endless:
            self._unanswered += size

    @property
    def is_endless(self) -> bool:
        """Whether so much came without an answer that none is to be expected."""
        return self._unanswered > self.most_unanswered

    def take(self, frame: bytes) -> None:
        """Take what the server sent as one message."""
        for message in read_frame(frame):
            if isinstance(message, Response):
                self._take_answer(message)
            elif isinstance(message, Request | Notification):
                reply = self._listener(message)
                if reply is not None:
                    self._reply(reply)
            else:
                self._skip(frame, message)

    def refuse(self, line: LongLine) -> None:
        """Fail the call that a message too long to read would have answered, where that shows."""
        id = _guess_id(line.head, line.tail)
        if id is not None:
            answer = self._waiting.get(id)
        elif line.tail is not None and len(self._waiting) == 1:
            answer = next(iter(self._waiting.values()))
        else:
            answer = None
        if answer is not None and not answer.done():
            answer.set_exception(too_long(self._place, self._longest))

    def fail(self, make: Callable[[], TransportError]) -> None:
        """Fail whatever waits, each with an exception of its own."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(make())

    def explain_silence(self, what: str) -> str:
        """Return what came instead of an answer; `what` is what the server's messages are."""
        said = ""
        if self._skipped:
            said += (
                f"; {what} that are no JSON-RPC message: {self._skipped}, "
                f"the last one: {shorten(self._last_skipped)!r}"
            )
        if self._stray is not None:
            said += f"; it answered what was not asked, id {shorten(self._stray, 40)}"
        return said

    def _take_answer(self, message: Response) -> None:
        if message.id is not None:
            answer = self._waiting.get(message.id)
        else:
            # An error about an id that the server could not read: whose, if not the only one's?
            answer = next(iter(self._waiting.values())) if len(self._waiting) == 1 else None
        if answer is None:
            self._stray = message.id
            logger.debug("%s answered what was not asked (id %s)", self._place, message.id)
        elif not answer.done():
            self._unanswered = 0
            self._stray = None
            answer.set_result(message)

    def _skip(self, frame: bytes, flaw: Malformed) -> None:
        self._skipped += 1
        self._last_skipped = frame[:KEPT]
        id = flaw.id or _guess_id(frame, frame)
        answer = None if id is None else self._waiting.get(id)
        if answer is not None and not answer.done():
            what = f"{self._place} sent an answer that is no JSON-RPC response"
            error = ProtocolError(f"{what} ({flaw.message}): {shorten(frame)!r}", code=flaw.code)
            answer.set_exception(error)
        logger.debug("%s sent what is no message: %s", self._place, shorten(frame))


def _guess_id(head: bytes, tail: bytes | None) -> bytes | None:
    """Return the id of an answer that cannot be read, if it is the first or the last member."""
    found = _ID_FIRST.search(head[:KEPT])
    if found is None and tail is not None:
        found = _ID_LAST.search(tail[-KEPT:])
    return found[1] if found else None
