"""What an event is known by, so that a client can come back for what follows it.

See "Resumability and Redelivery" under "Transports" of revision 2025-11-25. Ids come back from
clients, so nothing is believed of them: one of the news says only where in them its reader was,
and what is told from there on are the reader's own topics.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple

from anyshape.server.features.announcements import Position

__all__ = ["NewsId", "new_stream", "read_event_id"]

_LONGEST: Final = 96
_NEWS: Final = "n"


class NewsId(NamedTuple):
    """An event of a standing stream: where it is in the news; the stream makes it unique."""

    position: Position
    stream: str

    def __bytes__(self) -> bytes:
        time, number = self.position
        return f"{_NEWS}.{time}.{number}.{self.stream}".encode()


def new_stream() -> str:
    """Return what a stream is called, as nobody can guess."""
    return secrets.token_urlsafe(9)


def read_event_id(text: bytes) -> NewsId | None:
    """Return what a `Last-Event-ID` says, `None` if it is none of ours."""
    if len(text) > _LONGEST or not text.isascii():
        return None
    kind, *parts = text.decode().split(".")
    if kind == _NEWS and len(parts) == 3 and parts[0].isdigit() and parts[1].isdigit():
        return NewsId((int(parts[0]), int(parts[1])), parts[2])
    return None
