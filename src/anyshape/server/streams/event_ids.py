"""What an event is known by, so that a client can come back for what follows it.

See "Resumability and Redelivery" under "Transports" of revision 2025-11-25. Ids come back from
clients, so nothing is believed of them. One of the news says only where in them its reader was, and
what is told from there on are the reader's own topics; one of a request names a stream, which is
looked for among those of the reader's session alone.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from anyshape.server.features.announcements import Position

if TYPE_CHECKING:
    from anyshape.server.sessions import SessionIds

_LONGEST: Final = 96
_LONGEST_NUMBER: Final = 20
_NEWS: Final = "n"
_REPLY: Final = "r"
_NONCE: Final = 12
"""Characters of a stream's name that are random."""


class NewsId(NamedTuple):
    """An event of a standing stream: where it is in the news; the stream makes it unique."""

    position: Position
    stream: str

    def __bytes__(self) -> bytes:
        time, number = self.position
        return f"{_NEWS}.{time}.{number}.{self.stream}".encode()


class ReplyId(NamedTuple):
    """An event of the stream that replies to a request: its stream, and where it is in that."""

    stream: str
    number: int

    def __bytes__(self) -> bytes:
        return f"{_REPLY}.{self.stream}.{self.number}".encode()


def new_stream() -> str:
    """Return what a stream is called, as nobody can guess."""
    return secrets.token_urlsafe(_NONCE * 3 // 4)


def sealed_stream(ids: SessionIds, session: str) -> str:
    """Return a name for a stream that only that session can use, and only we can give."""
    nonce = new_stream()
    return nonce + ids.seal(f"{session} {nonce}")


def is_of_session(ids: SessionIds, session: str, stream: str) -> bool:
    """Tell whether a stream was called so for that session."""
    return ids.is_sealed(f"{session} {stream[:_NONCE]}", stream[_NONCE:])


def read_event_id(text: bytes) -> NewsId | ReplyId | None:
    """Return what a `Last-Event-ID` says, `None` if it is none of ours."""
    if len(text) > _LONGEST or not text.isascii():
        return None
    kind, *parts = text.decode().split(".")
    if kind == _NEWS and len(parts) == 3 and _is_number(parts[0]) and _is_number(parts[1]):
        return NewsId((int(parts[0]), int(parts[1])), parts[2])
    if kind == _REPLY and len(parts) == 2 and _is_number(parts[1]):
        return ReplyId(parts[0], int(parts[1]))
    return None


def _is_number(text: str) -> bool:
    return len(text) <= _LONGEST_NUMBER and text.isdigit()
