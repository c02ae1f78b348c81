"""What an operator can decide about a server, as frozen values with working defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypeAlias

from anyshape.protocol.completed import Caching
from anyshape.protocol.shapes import ShapeOptions
from anyshape.server.authorization import Authorization
from anyshape.server.keys import check_keys
from anyshape.server.sessions import Sessions

if TYPE_CHECKING:
    from anyshape.server.asking.exchange import AnswerExchange
    from anyshape.server.stores.redis_store import RedisStore
    from anyshape.server.tasks.options import TaskOptions

__all__ = ["HttpOptions", "ServePage", "ServerOptions", "Streams"]

MEBIBYTE = 1024 * 1024


_COUNTS = (
    "page_size",
    "max_concurrent_calls",
    "max_subscriptions",
    "max_resource_subscriptions",
    "max_message_bytes",
    "max_message_depth",
    "max_batch",
    "max_batch_bytes",
    "max_state_bytes",
)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Bounds and habits of a server, whatever carries its messages.

    `page_size` things are listed per page; `call_timeout` seconds end a call of a tool that sets no
    time-out itself (`None`: never), but for the time in which its client is asked something, which
    `answer_timeout` ends; `max_concurrent_calls` may wait at once, further ones are told that the
    server is busy, and so are subscriptions beyond `max_subscriptions`; a peer, or one
    such subscription, is told of changes to at most `max_resource_subscriptions` resources;
    `max_message_bytes` bounds one message and `max_message_depth` how deeply arrays and objects
    nest in it, itself included (a value in the arguments of a call is on level 4); a batch, which
    one revision has, holds at most `max_batch` messages and is answered in at most
    `max_batch_bytes`; `grace` seconds remain for calls in flight when the server stops;
    `tasks` bounds the calls that become tasks; `store` is what the replicas of a server share, if
    there are several.

    A call that asks its client something at 2026-07-28 is remembered by that client, sealed.
    `state_keys` are secrets of 16 bytes or more that the replicas of a server share: the first
    seals and all of them open, so that a new one can be put in front of the old. Without any, this
    process and the workers it starts have one of their own. What was sealed is good for
    `state_lifetime` seconds, and takes no more than `max_state_bytes`.
    """

    page_size: int = 2000
    call_timeout: float | None = 300.0
    answer_timeout: float | None = 300.0
    max_concurrent_calls: int = 1000
    max_subscriptions: int = 1000
    max_resource_subscriptions: int = 250
    max_message_bytes: int = 4 * MEBIBYTE
    max_message_depth: int = 256
    max_batch: int = 100
    max_batch_bytes: int = 16 * MEBIBYTE
    grace: float = 5.0
    state_keys: tuple[bytes, ...] = ()
    state_lifetime: float = 1800.0
    max_state_bytes: int = 256 * 1024
    caching: Caching = field(default_factory=Caching)
    shape: ShapeOptions = field(default_factory=ShapeOptions)
    tasks: TaskOptions | None = None
    store: RedisStore | None = None

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} has to be 1 or more, got {getattr(self, name)}")
        if self.call_timeout is not None and self.call_timeout <= 0:
            raise ValueError(f"call_timeout has to be above 0 or None, got {self.call_timeout}")
        if self.answer_timeout is not None and self.answer_timeout <= 0:
            raise ValueError(f"answer_timeout has to be above 0 or None, got {self.answer_timeout}")
        check_keys(self.state_keys, "state")
        if self.state_lifetime <= 0:
            raise ValueError(f"state_lifetime has to be above 0, got {self.state_lifetime}")
        if self.grace < 0:
            raise ValueError(f"grace has to be 0 or more, got {self.grace}")


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
    more, the connections that have been read too slowly for longest are closed.
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
