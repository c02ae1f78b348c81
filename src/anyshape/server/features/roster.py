"""The named things that a feature has: listed in pages, at every revision, and told of on change.

A listing depends on the things, the revision, what the client is known to need and, where single
things need scopes, which of those the caller has: what a caller may not use is not listed to it. A
page is encoded when it is first asked for and kept until the things change; an entry is kept as
long as the thing is there.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from anyshape.protocol.clients import NOTHING, Needs
from anyshape.protocol.completed import Caching, encode_page
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.revision import Revision
from anyshape.schema import aside
from anyshape.server.failures import invalid_params
from anyshape.server.features.announcements import Topic
from anyshape.server.parameters import ListParameters

if TYPE_CHECKING:
    from anyshape.server.request import OpenRequest
    from anyshape.server.service import Service

_CURSOR: Final = "after:"
_HELD: Final = 0.05
"""Seconds for which the event loop is held while a page is made."""
_MOST_PARTS: Final = 64
"""Sets of scopes whose listings are kept."""


class Listed(ABC):
    """One thing that can be listed, with what has been encoded of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.entries: dict[tuple[Revision, Needs], bytes] = {}

    @abstractmethod
    def describe(self, revision: Revision, needs: Needs) -> Mapping[str, Any]:
        """Return the entry that lists it at a revision, to clients of such needs."""

    @property
    def is_large(self) -> bool:
        """Whether describing it may take longer than an event loop should be held."""
        return False


Thing = TypeVar("Thing", bound=Listed)
Held: TypeAlias = frozenset[str]
"""The scopes of a caller, as far as a thing in the listing asks for them."""


class _Roll(Generic[Thing]):
    """The things as they were at one moment, in order, and the pages that list them.

    Things come and go on other threads, too. Whoever makes a page reads one roll and leaves the
    page there; a change in the meantime makes another roll, so no page outlives what it lists.
    """

    def __init__(self, things: Iterable[Thing]) -> None:
        self.things = list(things)
        self.places = {thing.name: place for place, thing in enumerate(self.things)}
        self.pages: dict[tuple[Revision, Needs, int], bytes] = {}
        self._parts: dict[Held, _Roll[Thing]] = {}

    def part(self, held: Held, may_list: Callable[[str], bool]) -> _Roll[Thing]:
        """Return what is on the roll for callers with these scopes."""
        part = self._parts.get(held)
        if part is None:
            part = _Roll(thing for thing in self.things if may_list(thing.name))
            # Tokens choose among scopes as they like; the usual few sets of them come first.
            if len(self._parts) < _MOST_PARTS:
                self._parts[held] = part
        return part


def _no_needs(_revision: Revision) -> Needs:
    return NOTHING


class Roster(Generic[Thing]):
    """Things by name, in the order they were added.

    `member` holds them in a listing; `topic` is what is announced when they change; `needs_met`
    tells which needs of clients their entries depend on.
    """

    def __init__(
        self,
        service: Service,
        member: str,
        topic: Topic,
        needs_met: Callable[[Revision], Needs] = _no_needs,
    ) -> None:
        self.things: dict[str, Thing] = {}
        self._service = service
        self._member = member
        self._topic = topic
        self._needs_met = needs_met
        self._changing = threading.Lock()
        self._roll: _Roll[Thing] | None = None

    def add(self, thing: Thing) -> bool:
        """Add a thing and announce it; `False` if its name is taken."""
        with self._changing:
            if thing.name in self.things:
                return False
            self.things[thing.name] = thing
            self._roll = None
        self._service.listeners.notify(self._topic)
        return True

    def remove(self, name: str) -> Thing:
        """Take a thing away and return it; `KeyError` if there is none of that name."""
        with self._changing:
            thing = self.things.pop(name)
            self._roll = None
        self._service.listeners.notify(self._topic)
        return thing

    def replace(self, old: Mapping[str, Thing], new: Mapping[str, Thing]) -> None:
        """Remove the `old` things, add the `new` ones, and announce it if the names are others.

        A name that is not among the old ones and is taken keeps what it has.
        """
        with self._changing:
            for name, thing in old.items():
                if self.things.get(name) is thing:
                    del self.things[name]
            for name, thing in new.items():
                self.things.setdefault(name, thing)
            self._roll = None
        if new.keys() != old.keys():
            self._service.listeners.notify(self._topic)

    def swap(self, things: Mapping[str, Thing]) -> None:
        """Hold these things, in their order, instead of all that were there, and announce it."""
        with self._changing:
            self.things.clear()
            self.things.update(things)
            self._roll = None
        self._service.listeners.notify(self._topic)

    async def list(self, parameters: ListParameters, request: OpenRequest) -> bytes:
        """Answer a request for a page of the listing."""
        peer, revision = request.peer, request.revision
        needs = peer.needs_in(parameters.meta)
        if needs:
            needs &= self._needs_met(revision)
        roll = self._roll or self._call_roll()
        caching = self._service.options.caching
        rules = peer.scope_rules
        if rules is not None and peer.access is not None:
            roll = roll.part(
                rules.held(peer.access), partial(rules.may_list, peer.access, self._member)
            )
            caching = replace(caching, scope="private")
        return await self._page(roll, revision, needs, parameters.cursor, caching)

    async def _page(
        self,
        roll: _Roll[Thing],
        revision: Revision,
        needs: Needs,
        cursor: str | None,
        caching: Caching,
    ) -> bytes:
        """Return the page that a cursor stands for, or the first.

        A page is kept for each form there is: few revisions, and the few needs that each can meet.
        """
        start = 0 if cursor is None else _position(cursor, roll.places)
        known = roll.pages.get((revision, needs, start))
        if known is not None:
            return known
        page_size = self._service.options.page_size
        stop = start + page_size
        listed = roll.things[start:stop]
        page = encode_page(
            revision,
            self._member,
            await _entries(listed, revision, needs),
            _cursor(listed[-1].name) if stop < len(roll.things) else None,
            caching=caching,
            server_info=self._service.server_info(revision),
        )
        # A cursor from before a change may start anywhere; keeping all of those could take room
        # for as many listings as there are things.
        if start % page_size == 0:
            roll.pages[revision, needs, start] = page
        return page

    def _call_roll(self) -> _Roll[Thing]:
        with self._changing:
            roll = self._roll = _Roll(self.things.values())
        return roll


async def _entries(things: Sequence[Listed], revision: Revision, needs: Needs) -> list[bytes]:
    """Return the entries of things; an event loop goes on while many, or large ones, are made."""
    entries: list[bytes] = []
    due = monotonic() + _HELD
    for thing in things:
        if (revision, needs) not in thing.entries and thing.is_large:
            entries.append(await aside(_entry, thing, revision, needs))
        else:
            entries.append(_entry(thing, revision, needs))
        if monotonic() > due:
            await asyncio.sleep(0)
            due = monotonic() + _HELD
    return entries


def _entry(thing: Listed, revision: Revision, needs: Needs) -> bytes:
    entry = thing.entries.get((revision, needs))
    if entry is None:
        entry = thing.entries[revision, needs] = encode_data(thing.describe(revision, needs))
    return entry


def _position(cursor: str, places: Mapping[str, int]) -> int:
    """Return where the page begins that a cursor stands for."""
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii")).decode()
    except (ValueError, binascii.Error):
        raise invalid_params("the cursor is not one of ours") from None
    place = places.get(text.removeprefix(_CURSOR))
    if not text.startswith(_CURSOR) or place is None:
        raise invalid_params("the cursor is not valid any more; list again from the start")
    return place + 1


def _cursor(name: str) -> str:
    """Return the cursor for what follows a thing: it stays good while that thing is there."""
    return base64.urlsafe_b64encode((_CURSOR + name).encode()).decode("ascii")
