"""Resources that clients watch, watched upstream for as long as somebody does.

However many clients watch a resource, its upstream is asked once. A while after the last one has
gone it is told so: a stream that was lost is opened again by then, and hears what it missed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from anyshape.client.client import Client
from anyshape.client.quoting import shorten
from anyshape.errors import AnyshapeError

_log = logging.getLogger("anyshape.gateway")
_LINGER: Final = 15.0
"""Seconds for which a resource is watched on after the last client has gone."""
_MOST: Final = 10_000
"""Resources of one upstream that are watched at once."""


class UpstreamSubscriptions:
    """The resources of one upstream that are wanted, and those that it tells of."""

    def __init__(self, name: str, on_change: Callable[[str], None]) -> None:
        self._name = name
        self._on_change = on_change
        self._wanted: dict[str, asyncio.Future[bool] | None] = {}
        """Whether the upstream tells of them, as soon as that is known."""
        self._owners: dict[str, set[object]] = {}
        """Who wants each of them: the endpoints of a gateway share its upstreams."""
        self._changed = asyncio.Event()
        self._is_kept = False

    def add(self, uri: str, owner: object) -> None:
        """Have a resource watched, as soon as there is a connection."""
        if uri not in self._wanted and len(self._wanted) < _MOST:
            self._wanted[uri] = None
            self._changed.set()
        if uri in self._wanted:
            self._owners.setdefault(uri, set()).add(owner)

    def count_owners(self, uri: str) -> int:
        """Return how many endpoints want a resource watched."""
        return len(self._owners.get(uri, ()))

    async def is_told(self, uri: str) -> bool:
        """Tell whether changes to a resource are heard of, or will be when the upstream is back."""
        if uri not in self._wanted or not self._is_kept:
            return uri in self._wanted
        answer = self._wanted[uri]
        if answer is None:
            answer = self._wanted[uri] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(answer)

    def drop(self, uri: str, owner: object) -> None:
        """Have a resource watched no more, unless somebody else wants that."""
        owners = self._owners.get(uri, set())
        owners.discard(owner)
        if owners:
            return
        self._owners.pop(uri, None)
        answer = self._wanted.pop(uri, None)
        if answer is not None and not answer.done():
            answer.set_result(False)
        self._changed.set()

    async def keep(self, client: Client) -> None:
        """Watch what is wanted over one connection, until cancelled."""
        told: dict[str, bool] = {}
        self._is_kept = True
        again = set(self._wanted)
        try:
            while True:
                self._changed.clear()
                for uri in told.keys() - self._wanted.keys():
                    del told[uri]
                    await self._unsubscribe(client, uri)
                for uri in list(self._wanted):
                    if uri not in told:
                        told[uri] = await self._subscribe(client, uri)
                        if uri in again:
                            self._on_change(uri)  # it may have, while there was no connection
                    self._answer(uri, told[uri])  # again, if it was dropped and added meanwhile
                again.clear()
                await self._changed.wait()
        finally:
            self._is_kept = False
            for uri in list(self._wanted):
                self._answer(uri, True)
                self._wanted[uri] = None

    def _answer(self, uri: str, is_told: bool) -> None:
        if uri not in self._wanted:
            return
        answer = self._wanted[uri]
        if answer is None:
            answer = self._wanted[uri] = asyncio.get_running_loop().create_future()
        if not answer.done():
            answer.set_result(is_told)

    async def _subscribe(self, client: Client, uri: str) -> bool:
        try:
            # What is part of a resource is told of as that resource: it is what clients asked for.
            await client.subscribe(uri, lambda _part: self._on_change(uri))
        except AnyshapeError as error:
            self._tell_failure("upstream %s does not tell of changes to %s: %s", uri, error)
            return False
        return True

    async def _unsubscribe(self, client: Client, uri: str) -> None:
        try:
            await client.unsubscribe(uri)
        except AnyshapeError as error:
            self._tell_failure("upstream %s: %s is still watched: %s", uri, error)

    def _tell_failure(self, message: str, uri: str, error: AnyshapeError) -> None:
        _log.info(message, self._name, shorten(uri, 100), shorten(str(error), 300))


class WatchedResources:
    """The resources that clients watch, each at the upstream that has it.

    `find` returns the subscriptions of the upstream that has a resource now, `is_heard` whether
    somebody listens for its changes.
    """

    def __init__(
        self,
        find: Callable[[str], UpstreamSubscriptions | None],
        is_heard: Callable[[str], bool],
    ) -> None:
        self._find = find
        self._is_heard = is_heard
        self._places: dict[str, UpstreamSubscriptions] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}

    async def watch(self, uri: str) -> bool:
        """Watch a resource that somebody is about to listen for; tell whether changes are heard."""
        place = self._place(uri)
        if place is None:
            return False
        place.add(uri, self)
        self.look_at(uri)
        return await place.is_told(uri)

    def look_at(self, uri: str) -> None:
        """Go on watching a resource if somebody listens for it; if not, only for a while."""
        if self._is_heard(uri):
            leaving = self._leaving.pop(uri, None)
            if leaving is not None:
                leaving.cancel()
            place = self._place(uri)
            if place is not None:
                place.add(uri, self)
        elif uri in self._places and uri not in self._leaving:
            later = asyncio.get_running_loop().call_later
            self._leaving[uri] = later(_LINGER, partial(self._leave, uri))

    def move(self) -> None:
        """Watch resources where they are now."""
        for uri, before in list(self._places.items()):
            now = self._find(uri)
            if now is not None and now is not before:
                before.drop(uri, self)
                self._places[uri] = now
                now.add(uri, self)

    def stop(self) -> None:
        """Watch nothing any more."""
        for leaving in self._leaving.values():
            leaving.cancel()
        self._leaving.clear()
        for uri, place in self._places.items():
            place.drop(uri, self)
        self._places.clear()

    def _place(self, uri: str) -> UpstreamSubscriptions | None:
        place = self._places.get(uri)
        if place is None:
            place = self._find(uri)
            if place is not None:
                self._places[uri] = place
        return place

    def _leave(self, uri: str) -> None:
        del self._leaving[uri]
        if not self._is_heard(uri):
            self._places.pop(uri).drop(uri, self)
