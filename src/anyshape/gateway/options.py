"""What an operator says of one upstream, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from anyshape.client.options import Auth
from anyshape.client.target import Target, check_target, choose_revision
from anyshape.gateway.breaker import BreakerOptions
from anyshape.gateway.foreign import as_target
from anyshape.gateway.room import RoomOptions
from anyshape.protocol.log_levels import LogLevel, check_level

Checking: TypeAlias = Literal["enforce", "warn", "off"]
"""What becomes of arguments and values that break a tool's schema: refused, logged, or nothing."""
_MOST_REPEATED: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOptions:
    """How often a call is made again that an upstream did not answer, and after which pauses.

    Giving them says that the upstream is believed: a tool with `readOnlyHint` or `idempotentHint`
    does no harm if it is called twice. Other tools are never called again.
    """

    most: int = 2
    """How often, beside the first time."""
    pause: float = 0.2
    """Seconds; each is twice as long as the last, up to `longest_pause`, less a random part."""
    longest_pause: float = 5.0

    def __post_init__(self) -> None:
        for name in ("most", "pause", "longest_pause"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected a number above 0")
        if self.most > _MOST_REPEATED:
            raise ValueError(f"most={self.most}: expected at most {_MOST_REPEATED}")
        if self.pause > self.longest_pause:
            raise ValueError(f"pause={self.pause}: expected at most {self.longest_pause}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A server behind the gateway: where it is, what it is trusted with, what it is called here."""

    target: Target
    """A URL, a command, or a server in this process."""
    type: Literal["auto", "sse"] = "auto"
    """How a URL is spoken to: as is found out, or by HTTP+SSE of 2024-11-05 at once."""
    prefix: str | None = None
    """What names begin with; by default nothing for one upstream, `name_` for several."""
    rename: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of its own to names here, which get no prefix."""
    allow: tuple[str, ...] = ("*",)
    """Patterns of what is offered, by its own names: of tools and prompts, URIs of resources."""
    deny: tuple[str, ...] = ()
    """Patterns of what is not, whatever `allow` says; it cannot be read by a template either."""
    check: Checking = "enforce"
    when_down: Literal["keep", "hide"] = "keep"
    """Whether what it offers stays listed, as last known, while it cannot be reached."""
    timeout: float = 60.0
    """Seconds for one request."""
    refresh: float = 300.0
    """Seconds after which its lists are read again, if it has not announced a change before."""
    log_level: LogLevel = "info"
    """What it is asked to log, or worse; callers are told what they want of it."""
    revision: str = "auto"
    auth: Auth | None = None
    """Its own credentials; those of callers never go there."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables for a command, beside the few that are harmless."""
    cwd: str | None = None
    room: RoomOptions = field(default_factory=RoomOptions)
    """How many calls may be in flight there, and wait."""
    caller_room: RoomOptions | None = None
    """The same for each caller."""
    breaker: BreakerOptions = field(default_factory=BreakerOptions)
    """When it is left alone for a while."""
    retry: RetryOptions | None = None
    """How often calls are made again that do no harm; `None` for never."""

    def __post_init__(self) -> None:
        check_target(as_target(self.target), "Upstream")
        choose_revision(self.revision)
        if self.type not in ("auto", "sse"):
            raise ValueError(f"type={self.type!r}: expected 'auto' or 'sse'")
        if self.type == "sse" and not isinstance(self.target, str):
            raise ValueError("type='sse': expected a URL to go with it")
        if self.check not in ("enforce", "warn", "off"):
            raise ValueError(f"check={self.check!r}: expected 'enforce', 'warn' or 'off'")
        if self.when_down not in ("keep", "hide"):
            raise ValueError(f"when_down={self.when_down!r}: expected 'keep' or 'hide'")
        try:
            check_level(self.log_level)
        except ValueError as error:
            raise ValueError(f"log_level={self.log_level!r}: {error}") from None
        for name in ("timeout", "refresh"):
            value: Any = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 < value < float("inf"):
                raise ValueError(f"{name}={value!r}: expected a number of seconds above 0")
        for name in ("allow", "deny"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ValueError(
                    f"{name}={value!r}: expected a list of patterns, such as ['get_*']"
                )
