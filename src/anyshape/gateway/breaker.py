"""A circuit breaker: an upstream that keeps failing is left alone for a while.

closed      calls pass; enough failures among the last ones open it
open        calls are refused at once, until the pause is over
half-open   a few calls pass as probes: one success closes it, one failure opens it for longer

What fails is the upstream, and not what it was asked for: a tool that answers with an error works.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from anyshape.errors import TransportError
from anyshape.gateway.refusal import UpstreamRefusal

BreakerState: TypeAlias = Literal["closed", "open", "half-open"]

_FAILURES: Final = (TransportError, TimeoutError, OSError)
"""What says that an upstream failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOptions:
    """When an upstream is left alone, and for how long."""

    failures: int = 5
    """It opens at so many failures among the last `of` calls."""
    of: int = 10
    pause: float = 5.0
    """Seconds; each pause without a success between is twice as long, up to `longest_pause`."""
    longest_pause: float = 120.0
    probes: int = 1
    """Calls that pass at once after a pause."""

    def __post_init__(self) -> None:
        for name in ("failures", "of", "pause", "longest_pause", "probes"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected a number above 0")
        if self.failures > self.of:
            raise ValueError(f"failures={self.failures}: expected at most of={self.of}")
        if self.pause > self.longest_pause:
            raise ValueError(f"pause={self.pause}: expected at most {self.longest_pause}")


class Breaker:
    """The breaker of one upstream; it belongs to one event loop."""

    def __init__(
        self,
        upstream: str,
        options: BreakerOptions | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._upstream = upstream
        self._options = options or BreakerOptions()
        self._clock = clock
        self.state: BreakerState = "closed"
        """What it is now; a pause that is over is half-open as soon as somebody calls."""
        self._last: deque[bool] = deque(maxlen=self._options.of)
        self._failed = 0
        self._pause = self._options.pause
        self._until = 0.0
        self._probes = 0
        self.age = 0
        """How often the state changed; outcomes of calls that began in another one do not count."""

    def admit(self) -> Permit:
        """Let a call pass; `UpstreamRefusal` if the upstream is left alone.

        Use what is returned in a `with` statement around the call.
        """
        if self.state != "closed":
            left = self._until - self._clock()
            if self.state == "open" and left <= 0:
                self._become("half-open")
            if self.state == "open" or self._probes >= self._options.probes:
                raise self._refusal(max(left, 0.0))
            self._probes += 1
        return Permit(self, self.age)

    def succeed(self, age: int) -> None:
        """Count a call that the upstream answered."""
        if age != self.age:
            return
        if self.state == "half-open":
            self._pause = self._options.pause
            self._become("closed")
        else:
            self._count(failed=False)

    def fail(self, age: int) -> None:
        """Count a call that the upstream did not answer."""
        if age != self.age:
            return
        if self.state == "half-open":
            self._pause = min(self._pause * 2, self._options.longest_pause)
            self._open()
        else:
            self._count(failed=True)
            if self._failed >= self._options.failures:
                self._open()

    def hear(self) -> None:
        """Know that the upstream works, since it said something in the middle of a call."""
        if self.state == "half-open":
            self.succeed(self.age)

    def abandon(self, age: int) -> None:
        """Count nothing: the caller did not wait for the outcome. Another may be the probe."""
        if age == self.age and self.state == "half-open":
            self._probes -= 1

    def _count(self, *, failed: bool) -> None:
        if len(self._last) == self._options.of:
            self._failed -= self._last[0]
        self._last.append(failed)
        self._failed += failed

    def _open(self) -> None:
        self._until = self._clock() + self._pause
        self._become("open")

    def _become(self, state: BreakerState) -> None:
        self.state = state
        self.age += 1
        self._probes = self._failed = 0
        self._last.clear()

    def _refusal(self, left: float) -> UpstreamRefusal:
        options = self._options
        when = f"in {left:.0f} seconds" if left >= 1 else "in a moment"
        return UpstreamRefusal(
            f"upstream {self._upstream!r} is left alone after {options.failures} failures among "
            f"its last {options.of} calls (breaker); try again {when}",
            upstream=self._upstream,
            limit="breaker",
            retry_after=left,
        )


class Permit:
    """One call that a breaker let pass: how it ends is counted."""

    __slots__ = ("_age", "_breaker")

    def __init__(self, breaker: Breaker, age: int) -> None:
        self._breaker = breaker
        self._age = age

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Count how the call ended."""
        self.end(error)

    def end(self, error: BaseException | None) -> None:
        """Count a call that was answered, failed, or was not waited for."""
        if error is None:
            self._breaker.succeed(self._age)
        elif isinstance(error, _FAILURES):
            self._breaker.fail(self._age)
        elif isinstance(error, asyncio.CancelledError) or not isinstance(error, Exception):
            self._breaker.abandon(self._age)
        else:
            self._breaker.succeed(self._age)
