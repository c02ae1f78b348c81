"""Room for calls: how many run at once, how many wait for a place, and for how long.

One for each upstream keeps a slow one from holding all that the gateway has; one for each caller
keeps one caller from holding all that an upstream has. Who waits is served in turn.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from anyshape.gateway.refusal import UpstreamRefusal


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomOptions:
    """How much room there is."""

    max_calls: int = 100
    """Calls in flight at once."""
    max_waiting: int = 400
    """Calls that wait for one of these to end; 0 for none."""
    max_wait: float = 10.0
    """Seconds that a call waits at most."""

    def __post_init__(self) -> None:
        if self.max_calls < 1:
            raise ValueError(f"max_calls={self.max_calls}: expected a number above 0")
        if self.max_waiting < 0:
            raise ValueError(f"max_waiting={self.max_waiting}: expected 0 or more")
        if not 0 < self.max_wait < float("inf"):
            raise ValueError(f"max_wait={self.max_wait}: expected a number of seconds above 0")


class Room:
    """Room for the calls to one upstream, or for those of one caller to it.

    `async with room:` around a call holds a place; it raises `UpstreamRefusal` if there is none in
    time. A room belongs to one event loop. `on_empty` is called when its last call has ended.
    """

    def __init__(
        self,
        upstream: str,
        options: RoomOptions | None = None,
        *,
        caller: str | None = None,
        on_empty: Callable[[], object] | None = None,
    ) -> None:
        self._upstream = upstream
        self._on_empty = on_empty
        self._caller = caller
        self._options = options or RoomOptions()
        self.in_flight = 0
        """How many calls have a place."""
        self._waiting: OrderedDict[asyncio.Future[None], None] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many calls wait for one."""
        return len(self._waiting)

    async def __aenter__(self) -> None:
        """Take a place, or wait for one."""
        if not self.enter_now():
            await self.wait()

    async def __aexit__(self, *_: object) -> None:
        """Give the place back."""
        self.leave()

    def enter_now(self) -> bool:
        """Take a place if one is free and nobody waits for it; `leave` gives it back."""
        if self.in_flight >= self._options.max_calls or self._waiting:
            return False
        self.in_flight += 1
        return True

    def enter_again(self) -> None:
        """Take back a place that was left for a while, whether one is free or not."""
        self.in_flight += 1

    def leave(self) -> None:
        """Give a place to whoever has waited longest, or back."""
        while self._waiting:
            place, _ = self._waiting.popitem(last=False)
            if not place.done():
                place.set_result(None)
                return
        self.in_flight -= 1
        if not self.in_flight and self._on_empty is not None:
            self._on_empty()

    async def wait(self) -> None:
        """Wait for a place, for as long as the options say."""
        options = self._options
        if len(self._waiting) >= options.max_waiting:
            raise self._refusal("max_waiting")
        place = asyncio.get_running_loop().create_future()
        self._waiting[place] = None
        try:
            async with asyncio.timeout(options.max_wait):
                await place
        except BaseException as error:
            self._waiting.pop(place, None)
            was_given = place.done() and not place.cancelled()
            if isinstance(error, TimeoutError):
                if was_given:
                    return  # at the last moment, and in time
                raise self._refusal("max_wait") from None
            if was_given:
                self.leave()
            raise

    def _refusal(self, limit: Literal["max_waiting", "max_wait"]) -> UpstreamRefusal:
        options = self._options
        whose = "" if self._caller is None else f" of caller {self._caller!r:.80}"
        calls = f"upstream {self._upstream!r} has {options.max_calls} calls{whose} in flight"
        if limit == "max_wait":
            said = f"and none ended within {options.max_wait:g} seconds (max_wait)"
        elif options.max_waiting:
            said = f"and {options.max_waiting} waiting, which is all it takes (max_waiting)"
        else:
            said = "which is all it takes (max_calls)"
        name = "max_calls" if limit == "max_waiting" and not options.max_waiting else limit
        return UpstreamRefusal(
            f"{calls}, {said}; try again later, or with fewer calls at once",
            upstream=self._upstream,
            limit=name,
        )


class CallerRooms:
    """A room for each caller of one upstream, for as long as the caller has calls there."""

    def __init__(self, upstream: str, options: RoomOptions | None = None) -> None:
        self._upstream = upstream
        self._options = options or RoomOptions()
        self._rooms: dict[str, Room] = {}

    def __len__(self) -> int:
        """How many callers have calls."""
        return len(self._rooms)

    def of(self, caller: str) -> Room:
        """Return the room of a caller, to be entered at once: `async with rooms.of("ann"):`."""
        room = self._rooms.get(caller)
        if room is None:
            room = self._rooms[caller] = Room(
                self._upstream,
                self._options,
                caller=caller,
                on_empty=lambda: self._rooms.pop(caller, None),
            )
        return room
