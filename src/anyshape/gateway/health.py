"""Whether a gateway lives, and whether it is ready: what its probes are answered with.

Alive is a process that answers. Ready is one that should be sent calls: it is not about to stop,
and the upstreams that the operator cannot do without are there. What is told to anybody says no
more than that; why an upstream is down may name what is inside a network, so it is told apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

LinkState: TypeAlias = Literal["up", "down", "connecting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamHealth:
    """How one upstream is."""

    name: str
    state: LinkState
    seconds: float = 0.0
    """For how long it has been so."""
    reason: str | None = None
    """Why it is down."""
    tools: int = 0
    in_flight: int = 0
    waiting: int = 0
    breaker: str = "closed"
    repeated: int = 0
    """Calls that were made again."""
    path: str | None = None
    """Where it is over HTTP, if it has a path of its own."""

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        data: dict[str, Any] = {
            "name": self.name,
            "state": self.state,
            "seconds": round(self.seconds, 1),
            "tools": self.tools,
            "inFlight": self.in_flight,
            "waiting": self.waiting,
            "breaker": self.breaker,
            "repeated": self.repeated,
        }
        told = {"path": self.path, "reason": self.reason}
        return {**data, **{name: each for name, each in told.items() if each is not None}}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayHealth:
    """How a gateway is, at one moment."""

    upstreams: Sequence[UpstreamHealth] = ()
    required: Collection[str] = field(default_factory=frozenset[str])
    """The upstreams without which it is not ready."""
    is_stopping: bool = False

    @property
    def hindrances(self) -> tuple[str, ...]:
        """Why it is not ready, a line each; nothing if it is."""
        found = ["it is stopping"] if self.is_stopping else []
        states = {each.name: each.state for each in self.upstreams}
        found += [
            f"upstream {name!r} is {states.get(name, 'not there')}"
            for name in sorted(self.required)
            if states.get(name) != "up"
        ]
        if states and all(state != "up" for state in states.values()) and not found:
            found.append("no upstream is up")
        return tuple(found)

    @property
    def is_ready(self) -> bool:
        """Whether it should be sent calls."""
        return not self.hindrances

    @property
    def status(self) -> int:
        """The status with which a readiness probe is answered."""
        return 200 if self.is_ready else 503

    def public(self) -> dict[str, Any]:
        """Return what anybody may be told."""
        return {"ready": self.is_ready}

    def as_data(self) -> dict[str, Any]:
        """Return everything, for operators."""
        return {
            "ready": self.is_ready,
            "hindrances": list(self.hindrances),
            "upstreams": [each.as_data() for each in self.upstreams],
        }
