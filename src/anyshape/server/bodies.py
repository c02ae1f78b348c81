"""The bodies of HTTP requests: bounded one by one in bytes and in time, and in bytes all together.

A body that is there when its request is looked at costs nothing here. One that is still arriving
takes room until it is whole, and whoever sends it decides how long that is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from types import CoroutineType
from typing import Any, Final, TypeAlias, cast

from anyshape.resumption import start
from anyshape.server.http_options import HttpOptions
from anyshape.server.options import ServerOptions
from anyshape.server.response import Event
from anyshape.server.whole_messages import take_request

Receive: TypeAlias = Callable[[], Awaitable[Event]]

TIMED_OUT: Final = 408
_TOO_LONG: Final = 413
_BUSY: Final = 503


class BodyRefusedError(Exception):
    """A body is not taken: the HTTP status that says so, and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


def first_event(receive: Receive) -> Event | Awaitable[Event]:
    """Return the first event of a request; if it is not there yet, what to await for it.

    Nearly always it is there, and holds the whole body; then nothing is set up to wait for it.
    """
    whole = take_request(receive)
    if whole is not None:
        return whole
    pending = receive()
    if type(pending) is CoroutineType:
        return start(cast("Coroutine[Any, Any, Event]", pending))
    return pending


async def disconnected(receive: Receive) -> None:
    """Wait until whoever sent a request, and has been read to its end, is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


class Bodies:
    """All bodies that are still arriving."""

    def __init__(self, options: ServerOptions, http: HttpOptions) -> None:
        self.limit = options.max_message_bytes
        """The longest body, in bytes."""
        self._room = http.max_unfinished_bytes
        self._patience = http.request_timeout
        self._held = 0
        self.arriving: set[asyncio.Timeout] = set()
        """What bounds the time of each that is not whole yet."""

    def give_up(self) -> None:
        """Wait no longer for those that are still arriving."""
        now = asyncio.get_running_loop().time()
        for clock in self.arriving:
            clock.reschedule(now)

    async def gather(self, event: Event | Awaitable[Event], receive: Receive) -> bytes | None:
        """Return a body, of which `event` is the first piece; `None` if its sender is gone."""
        parts: list[bytes] = []
        size = held = 0
        clock = asyncio.timeout(self._patience)
        try:
            async with clock:
                self.arriving.add(clock)
                while True:
                    if not isinstance(event, MutableMapping):
                        event = await event
                    if event["type"] == "http.disconnect":
                        return None
                    parts.append(event.get("body", b""))
                    size += len(parts[-1])
                    if size > self.limit:
                        raise self.too_long()
                    if not event.get("more_body"):
                        return b"".join(parts)
                    self._held += size - held
                    held = size
                    if self._held > self._room:
                        raise BodyRefusedError(
                            _BUSY,
                            f"Server busy: requests that are still arriving hold {self._room} "
                            "bytes, which is all they may; try again",
                        )
                    event = receive()
        except TimeoutError:
            raise BodyRefusedError(TIMED_OUT, "The body did not arrive in time") from None
        finally:
            self._held -= held
            self.arriving.discard(clock)

    def too_long(self) -> BodyRefusedError:
        """Return the refusal of a body that is longer than any may be."""
        return BodyRefusedError(_TOO_LONG, f"The body is longer than {self.limit} bytes")
