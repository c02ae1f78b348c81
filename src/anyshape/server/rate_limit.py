"""How often tools may be called: a middleware that counts calls, per caller and tool.

The specification has servers limit the rate of calls
(https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations).
A bucket of tokens is kept as one number, the time at which it is full again (the "generic cell rate
algorithm"), so that a caller takes as little room as a float in a dict.
"""

from __future__ import annotations

import ipaddress
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from anyshape.errors import RateLimited
from anyshape.protocol.methods import TOOLS_CALL

if TYPE_CHECKING:
    from anyshape.server.middleware import MiddlewareAnswer, MiddlewareRequest, Proceed

_SECONDS: Final = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0}

CallerKey: TypeAlias = "Callable[[MiddlewareRequest], Hashable]"
"""Tells callers apart."""


class RateLimit:
    """Lets each caller call each tool `calls` times in `per`, which may be a number of seconds.

    Of that, `burst` may come at once (as many as `calls` unless you say less); the rest have to be
    spread. With `tools` only those count, and others are not limited.

    `by="caller"` tells callers apart by the subject of their access token, else by their connection
    on stdio and in memory; over HTTP those without a token are one caller together, since whatever
    else could tell them apart they can change at will. `by="address"` tells those apart by
    address (an IPv6 one by its first 64 bits); a function of the request may do otherwise. At most
    `max_buckets` are remembered, the ones used last.
    """

    def __init__(
        self,
        calls: int,
        *,
        per: Literal["second", "minute", "hour", "day"] | float = "minute",
        burst: int | None = None,
        tools: Collection[str] | None = None,
        by: Literal["caller", "address"] | CallerKey = "caller",
        max_buckets: int = 100_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        seconds = _SECONDS.get(per) if isinstance(per, str) else per
        if seconds is None or not seconds > 0:
            raise ValueError(f"per has to be {', '.join(_SECONDS)} or seconds above 0, got {per!r}")
        most = calls if burst is None else burst
        for name, number in (("calls", calls), ("burst", most), ("max_buckets", max_buckets)):
            if number < 1:
                raise ValueError(f"{name} has to be 1 or more, got {number}")
        if isinstance(tools, str):
            raise TypeError(f"tools has to be a collection of names; write tools=[{tools!r}]")
        self._interval = seconds / calls
        self._room = self._interval * (most - 1)
        self._words = f"{calls} per {per if isinstance(per, str) else f'{per:g} seconds'}"
        self._tools = None if tools is None else frozenset(tools)
        self._caller = _caller_key(by)
        self._max_buckets = max_buckets
        self._clock = clock
        self._full_again: OrderedDict[Hashable, float] = OrderedDict()

    async def __call__(self, request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        """Pass a request on, or refuse a call that comes too soon."""
        if request.method == TOOLS_CALL:
            tool = request.name or ""
            if self._counts(tool, request):
                wait = self.wait((self._caller(request), tool))
                if wait > 0:
                    raise RateLimited(
                        f"Too many calls of {tool}, at most {self._words} are allowed", wait
                    )
        return await proceed(request)

    def wait(self, key: Hashable) -> float:
        """Take a token out of a bucket, and return 0; or the seconds until there is one."""
        now = self._clock()
        buckets = self._full_again
        full = max(buckets.get(key, now), now)
        if full - now > self._room:
            buckets.move_to_end(key)
            return full - now - self._room
        buckets[key] = full + self._interval
        buckets.move_to_end(key)
        if len(buckets) > self._max_buckets:
            buckets.popitem(last=False)
        return 0.0

    def _counts(self, tool: str, request: MiddlewareRequest) -> bool:
        # A tool that is not there costs nothing, and its name would only take up room.
        offered = request.opened.peer.service.tools.roster.things
        return tool in offered and (self._tools is None or tool in self._tools)


def _caller_key(by: str | CallerKey) -> CallerKey:
    if by == "caller":
        return _identity
    if by == "address":
        return _identity_or_address
    if not callable(by):
        raise ValueError(f'by has to be "caller", "address" or a function, got {by!r}')
    return by


def _identity(request: MiddlewareRequest) -> Hashable:
    if request.access is not None:
        return ("subject", request.access.subject)
    # Not its `id`, which a later one may have; a reference that is dead equals no other.
    return None if request.connection is None else ("connection", weakref.ref(request.connection))


def _identity_or_address(request: MiddlewareRequest) -> Hashable:
    address = request.address
    if request.access is not None or address is None:
        return _identity(request)
    if ":" in address:
        try:
            network = int(ipaddress.IPv6Address(address.partition("%")[0])) >> 64
        except ValueError:
            pass
        else:
            return ("network", network)
    return ("address", address)
