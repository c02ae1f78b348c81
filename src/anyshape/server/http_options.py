"""What an operator can decide about serving over HTTP, as frozen values with working defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypeAlias

from anyshape.server.options import MEBIBYTE
from anyshape.server.sessions import Sessions

if TYPE_CHECKING:
    from anyshape.server.asking.exchange import AnswerExchange
    from anyshape.server.authorization import Authorization


@dataclass(frozen=True, slots=True)
class Streams:
    """What is remembered of a session over HTTP, so that a client of a handshake can be told.

    The subscriptions of at most `max_sessions` sessions are remembered, each for `idle` seconds
    after it last had a stream. Of the stream of a request that a client may come back for, the last
    `max_events` are kept, until `keep` seconds after its answer: of one session no more than
    `session_bytes`, and of all no more than `total_bytes`. What was answered first goes first.

    After `hold` seconds (`None`: never) a stream is closed, for clients that can come back for the
    rest; they do after `retry` seconds.
    """

    max_sessions: int = 10_000
    idle: float = 3600.0
    max_events: int = 256
    session_bytes: int = 8 * MEBIBYTE
    total_bytes: int = 64 * MEBIBYTE
    keep: float = 300.0
    hold: float | None = None
    retry: float = 1.0

    def __post_init__(self) -> None:
        for bound in fields(self):
            value = getattr(self, bound.name)
            if value is not None and not value > 0:
                raise ValueError(f"{bound.name} has to be above 0, got {value}")


ServePage: TypeAlias = Callable[[], tuple[int, str, bytes]]
"""Gives what is served at a path: a status, a media type, a body."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How the HTTP service presents itself.

    `path` is the MCP endpoint. `allowed_hosts` and `allowed_origins` widen or narrow the checks
    against DNS rebinding (see `anyshape.server.guard`); `authorization` asks for access tokens;
    `keep_alive` is the longest silence, in seconds, on a stream; `sessions` says how handshakes
    are remembered, `None` that they are not; `streams` bounds what is kept so that clients of a
    session can be told of changes, `None` leaves them untold; `answers` is where the answer of a
    client that has shaken hands finds the process that asked it, if there are several.

    A connection is waited for no longer than `request_timeout` seconds: for a head to be whole, for
    its body to be whole, for an answer to be read any further. Bodies that are not whole yet hold
    no more than `max_unfinished_bytes` together, and a head is no longer than `max_head_bytes`.
    Answers that wait to be read hold no more than `max_unread_bytes` and the newest of them: of
    more, the connections that have been read too slowly for longest are closed. What waits on
    streams, where the oldest is dropped if there is too much, holds no more than a quarter of that.
    What concerns heads and reading is up to whoever owns the connections: `Server.run` and
    `anyshape serve` see to it, another ASGI host has settings of its own. `pages` are what is
    served to GET at other paths, such as a probe.
    """

    path: str = "/mcp"
    allowed_hosts: tuple[str, ...] | None = None
    allowed_origins: tuple[str, ...] | None = None
    authorization: Authorization | None = None
    keep_alive: float = 15.0
    sessions: Sessions | None = field(default_factory=Sessions)
    streams: Streams | None = field(default_factory=Streams)
    answers: AnswerExchange | None = None
    request_timeout: float = 30.0
    max_head_bytes: int = 64 * 1024
    max_unfinished_bytes: int = 64 * MEBIBYTE
    max_unread_bytes: int = 256 * MEBIBYTE
    pages: Mapping[str, ServePage] = field(default_factory=dict[str, ServePage])

    def __post_init__(self) -> None:
        if not self.path.startswith("/"):
            raise ValueError(f"path has to start with '/', got {self.path!r}")
        for name in (
            *("keep_alive", "request_timeout", "max_head_bytes"),
            *("max_unfinished_bytes", "max_unread_bytes"),
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} has to be above 0, got {getattr(self, name)}")
