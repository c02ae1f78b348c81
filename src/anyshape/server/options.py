"""What an operator can decide about a server, as a frozen value with working defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anyshape.protocol.completed import Caching
from anyshape.protocol.shapes import ShapeOptions
from anyshape.server.keys import check_keys

if TYPE_CHECKING:
    from anyshape.server.stores.redis_store import RedisStore
    from anyshape.server.tasks.options import TaskOptions

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
    `max_batch_bytes`, all batches together in four times that; `grace` seconds remain for calls in
    flight when the server stops; `tasks` bounds the calls that become tasks; `store` is what the
    replicas of a server share, if there are several.

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
        for name in ("call_timeout", "answer_timeout"):
            seconds: float | None = getattr(self, name)
            if seconds is not None and seconds <= 0:
                raise ValueError(f"{name} has to be above 0 or None, got {seconds}")
        check_keys(self.state_keys, "state")
        if self.state_lifetime <= 0:
            raise ValueError(f"state_lifetime has to be above 0, got {self.state_lifetime}")
        if self.grace < 0:
            raise ValueError(f"grace has to be 0 or more, got {self.grace}")
