"""Those who are told when the list of tools changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Listener", "Listeners"]


class Listener:
    """Somebody on an event loop who wants to know; changes in one turn are told once."""

    __slots__ = ("_deliver", "_loop", "_pending")

    def __init__(self, deliver: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._deliver = deliver
        self._pending = False

    def notify(self) -> None:
        """Tell, from any thread."""
        if self._pending or self._loop.is_closed():
            return
        self._pending = True
        self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self._pending:
            self._pending = False
            self._deliver()

    def silence(self) -> None:
        """Never tell again."""
        self._pending = True
        self._deliver = _nothing


def _nothing() -> None:
    return


class Listeners:
    """Everyone who listens, whatever the transport."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    def add(self, deliver: Callable[[], None]) -> Listener:
        """Have `deliver` called on the current loop after every change."""
        listener = Listener(deliver)
        self._listeners.add(listener)
        return listener

    def remove(self, listener: Listener) -> None:
        """Forget a listener."""
        listener.silence()
        self._listeners.discard(listener)

    def notify(self) -> None:
        """Tell everyone."""
        for listener in tuple(self._listeners):
            listener.notify()
