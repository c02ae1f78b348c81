"""What a server lists: its pages, how long they hold, and each entry by itself.

A `ListedFeature` says what is listed: tools, for one. Its entries are admitted one by one, so that
a bad entry costs that entry; pages, bytes and entries are bounded; an entry with the same text as
last time is not judged again.
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, Protocol, TypeVar, cast

import msgspec

from anyshape.client.answers import as_list, as_object, as_string, decode_value
from anyshape.client.channel import Channel
from anyshape.client.listening import Listening
from anyshape.client.options import Bounds
from anyshape.client.quoting import shorten
from anyshape.client.request import ClientRequest
from anyshape.client.transports.frames import LONE_SURROGATE
from anyshape.errors import AnyshapeError, LimitExceeded, ProtocolError, SchemaError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.icons import received_icons
from anyshape.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from anyshape.protocol.nesting import count_parts
from anyshape.schema import WouldWait, aside, leave_loop

logger = logging.getLogger(__name__)

_SLICE: Final = 0.01
_LONG_ENTRY: Final = 64_000
"""Bytes of an entry that is not read on the event loop."""
_HEAVY: Final = 64_000_000
"""Bytes that the entries of one listing may keep of what was compiled; further ones keep none."""
_STAND_IN: Final = "\ufdd0"
_NOTHING: Final = msgspec.Raw()
_LONGEST_NUMBER: Final = 100
_decode_cursor: Final = msgspec.json.Decoder(str | None).decode
_decode_number: Final = msgspec.json.Decoder(int | float).decode
_decode_string: Final = msgspec.json.Decoder(str).decode


class Weighed(Protocol):
    """An entry that is usable."""

    @property
    def weight(self) -> int:
        """About how many bytes it holds beside its text."""
        ...


EntryT = TypeVar("EntryT", bound=Weighed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFeature(Generic[EntryT]):
    """One kind of thing that servers list."""

    noun: str
    """What messages call one entry."""
    capability: str
    """The member of the server's capabilities that offers the feature; a key of `LISTS`."""
    member: str
    """The member of a page that holds the entries; `method` lists them."""
    method: str
    bound: str
    """The name of the member of `Bounds` that says how many entries there may be."""
    admit: Callable[[str, Mapping[str, Any], bool], EntryT]
    """From the key and the members of an entry to what a caller gets, or why it is unusable.

    The third argument says that so much is held already that nothing compiled is to be kept.
    """
    key: str = "name"
    """The member that tells one entry from another."""
    longest: int = 1024
    """How many characters that may have."""
    is_optional: bool = False
    """Whether a server that knows no such method has none: many have resources and no templates."""


def common_members(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what entries of every kind may have, and the entry itself."""
    return {
        "title": as_string(entry.get("title")),
        "description": as_string(entry.get("description")),
        "icons": received_icons(as_list(entry.get("icons"))),
        "meta": as_object(entry.get("_meta")),
        "entry": entry,
    }


class Listing(Generic[EntryT]):
    """The entries of one feature of one server, and how long they may be taken for current.

    A server that does not offer the feature is not asked for them; one that announces changes is
    listened to, if there is a `listening`.
    """

    def __init__(
        self,
        channel: Channel,
        feature: ListedFeature[EntryT],
        *,
        offered: bool = False,
        listening: Listening | None = None,
    ) -> None:
        self._channel = channel
        self.feature = feature
        self._offered = offered
        self._listening = listening
        self._first_page = ClientRequest(feature.method, repeatable=True)
        self._decode_page = msgspec.json.Decoder(_page_of(feature.member)).decode
        self._entries: dict[str, EntryT] = {}
        self._rejected: dict[str, AnyshapeError] = {}
        self._admitted: dict[bytes, EntryT | AnyshapeError] = {}
        self._lock = asyncio.Lock()
        self._listed = False
        self._changed = False
        self._changes = 0
        self._expires: float | None = None
        self.fetches = 0
        """How many times the list was fetched; see `fetch`."""

    @property
    def entries(self) -> Mapping[str, EntryT]:
        """The usable entries by their key, in the server's order."""
        return MappingProxyType(self._entries)

    @property
    def rejected(self) -> Mapping[str, AnyshapeError]:
        """Why each unusable entry is; one without a usable key is called `#` and its position."""
        return MappingProxyType(self._rejected)

    @property
    def is_fresh(self) -> bool:
        """Whether the server said that the list may be used without asking again."""
        return self._expires is not None and self.is_usable

    @property
    def is_usable(self) -> bool:
        """Whether requests may go by the list: it did not expire and no change was announced.

        A server that gives no lifetime is not asked again before every request.
        """
        if not self._listed or self._changed:
            return False
        return self._expires is None or time.monotonic() < self._expires

    def get(self, key: str) -> EntryT | None:
        """Return an entry that requests may go by."""
        if self._expires is not None and time.monotonic() >= self._expires:
            return None
        return None if self._changed else self._entries.get(key)

    def invalidate(self) -> None:
        """Take the list for outdated; the server said so."""
        self._changed = True
        self._changes += 1

    async def current(self, timeout: float | None) -> list[EntryT]:
        """Return the usable entries, asking unless the server said that its last answer holds."""
        self._channel.agreed()
        if not self.is_fresh:
            await self.fetch(timeout)
        return [*self._entries.values()]

    async def find(self, key: str, timeout: float | None) -> EntryT:
        """Return an entry, listing first if it was not or if the list may have changed."""
        self._channel.agreed()
        if self.get(key) is None and (key not in self._rejected or not self.is_usable):
            try:
                await self.fetch(timeout)
            except AnyshapeError:
                # A list that could not be renewed still says what there was.
                if key not in self._entries:
                    raise
        entry = self._entries.get(key)
        if entry is not None:
            return entry
        noun, place, shown = self.feature.noun, self._channel.transport.place, shorten(key, 60)
        reason = self._rejected.get(key)
        if reason is not None:
            raise ProtocolError(
                f"{noun} {shown!r} of {place} cannot be used: {reason}", code=INVALID_PARAMS
            ) from reason
        known = shorten(", ".join(islice(self._entries, 20)), 200) or "none"
        raise ProtocolError(
            f"{place} has no {noun} {shown!r}; it lists: {known}", code=INVALID_PARAMS
        )

    async def fetch(self, timeout: float | None, *, newer_than: int | None = None) -> None:
        """Ask the server for its list; callers that come meanwhile share the answer.

        `timeout` bounds all pages together: each could be quick, and their number large.
        """
        if self._listening is not None:
            await self._listening.start(f"{self.feature.capability}ListChanged")
        wanted = self.fetches if newer_than is None else newer_than
        try:
            with self._channel.deadlines.limit(timeout):
                async with self._lock:
                    if self.fetches <= wanted:
                        await self._fetch_pages()
        except TimeoutError as error:
            raise self._channel.silence(self._first_page, timeout) from error

    async def _fetch_pages(self) -> None:
        collector = _Collector(self.feature, self._admitted, self._channel.bounds)
        changes = self._changes
        try:
            if self._offered:
                await self._collect(collector)
        except (AnyshapeError, asyncio.CancelledError):
            # Before the first list, what was admitted so far is better than nothing; after it,
            # the last whole list is better than part of a new one.
            if not self._listed and collector.admitted:
                self._adopt(collector, None)
            raise
        self.fetches += 1
        self._changed = self._changes != changes
        self._adopt(collector, collector.expires)

    async def _collect(self, collector: _Collector[EntryT]) -> None:
        method = self.feature.method
        request = self._first_page
        restarted = False
        most = self._channel.bounds.max_pages
        for _ in range(most):
            try:
                raw = cast("msgspec.Raw", await self._channel.request(request, None))
            except ProtocolError as error:
                if self.feature.is_optional and error.code == METHOD_NOT_FOUND:
                    return
                # A cursor may expire; what came before it belongs to a list that is no more.
                if restarted or request is self._first_page:
                    raise
                restarted = True
                request = self._first_page
                collector.start_over()
                continue
            collector.count(raw)
            page = self._read_page(raw)
            await collector.take(page)
            try:
                cursor = _decode_cursor(page.nextCursor)
            except msgspec.DecodeError:
                raise ProtocolError(f"{method} gave a nextCursor that is no string") from None
            if cursor is None:
                return
            # Cursors are opaque: the same one twice need not lead to the same page.
            request = ClientRequest(method, b'"cursor":%b' % encode_data(cursor), repeatable=True)
        raise LimitExceeded(f"{method} goes on after {most} pages", limit="max_pages", allowed=most)

    def _adopt(self, collector: _Collector[EntryT], expires: float | None) -> None:
        self._entries, self._rejected = collector.entries, collector.rejected
        self._admitted = collector.admitted
        self._expires = expires
        self._listed = True

    def _read_page(self, raw: msgspec.Raw) -> _Page:
        try:
            return self._decode_page(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            place, method = self._channel.transport.place, self.feature.method
            raise ProtocolError(f"{place} answered {method} with something else: {error}") from None


class _Page(msgspec.Struct):
    """A page; what may be anything in it stays text, as it may take long to read."""

    entries: list[msgspec.Raw]
    resultType: Literal["complete"] = "complete"  # noqa: N815 - as it stands on the wire
    nextCursor: msgspec.Raw = msgspec.Raw(b"null")  # noqa: N815
    ttlMs: msgspec.Raw = _NOTHING  # noqa: N815


def _page_of(member: str) -> type[_Page]:
    """Return the page whose entries are in that member."""
    fields = [("entries", list[msgspec.Raw])]
    page = msgspec.defstruct("_Page", fields, bases=(_Page,), rename={"entries": member})
    return cast("type[_Page]", page)


def _lifetime(said: msgspec.Raw) -> float | None:
    """Return when a page expires; `None` if it gives no lifetime."""
    try:
        ttl = _decode_number(said) if memoryview(said).nbytes <= _LONGEST_NUMBER else 0
    except msgspec.DecodeError:
        return None
    return time.monotonic() + min(ttl, 1e12) / 1000 if ttl > 0 else None


class _Collector(Generic[EntryT]):
    """Gathers the entries of one listing, reusing what an identical entry came to before."""

    def __init__(
        self,
        feature: ListedFeature[EntryT],
        known: Mapping[bytes, EntryT | AnyshapeError],
        bounds: Bounds,
    ) -> None:
        self.entries: dict[str, EntryT] = {}
        self.rejected: dict[str, AnyshapeError] = {}
        self.admitted: dict[bytes, EntryT | AnyshapeError] = {}
        self._feature = feature
        self._known = known
        self._bounds = bounds
        self._size = 0
        self._parts = 0
        self._weight = 0
        self._count = 0
        self._pages: dict[str, int] = {}
        self._lifetimes: list[float | None] = []

    @property
    def expires(self) -> float | None:
        """When the first page expires; `None` if one of them has no lifetime."""
        known = [lifetime for lifetime in self._lifetimes if lifetime is not None]
        return min(known) if known and len(known) == len(self._lifetimes) else None

    def start_over(self) -> None:
        """Drop what was listed, and none of what was found out about it, or counted."""
        self._known = {**self._known, **self.admitted}
        self.entries, self.rejected, self.admitted = {}, {}, {}
        self._pages, self._lifetimes = {}, []

    def count(self, page: msgspec.Raw) -> None:
        """Count what a page holds, before it is read."""
        self._size += memoryview(page).nbytes
        self._check(self._size, "max_listing_bytes", "bytes on all its pages")
        self._parts += count_parts(bytes(page))
        self._check(self._parts, "max_parts", "arrays, objects and members on all its pages")

    async def take(self, page: _Page) -> None:
        """Admit the entries of one page, letting others run in between."""
        started = time.monotonic()
        self._lifetimes.append(_lifetime(page.ttlMs))
        for raw in page.entries:
            self._count += 1
            self._check(self._count, self._feature.bound, f"{self._feature.noun}s")
            text = bytes(raw)
            try:
                if len(text) > _LONG_ENTRY:
                    leave_loop()
                self._take_one(text)
            except WouldWait:
                await aside(self._take_one, text)
            if time.monotonic() - started > _SLICE:
                await asyncio.sleep(0)
                started = time.monotonic()

    def _check(self, count: int, limit: str, what: str) -> None:
        allowed: int = getattr(self._bounds, limit)
        if count > allowed:
            raise LimitExceeded(
                f"{self._feature.method} holds more than {allowed} {what}; "
                f"Client(bounds=Bounds({limit}=…)) allows more",
                limit=limit,
                allowed=allowed,
            )

    def _take_one(self, text: bytes) -> None:
        noun = self._feature.noun
        key = f"#{self._count}"
        try:
            key = _key_of(text, self._feature)
            entry = cast("dict[str, Any]", decode_value(text, self._bounds.max_depth))
            outcome = self._known.get(text)
            if outcome is None:
                outcome = self._feature.admit(key, entry, self._weight > _HEAVY)
                self._weight += outcome.weight
        except AnyshapeError as error:
            # It is kept as long as the list, and its frames hold all that was made of the entry.
            error.__traceback__ = error.__cause__ = error.__context__ = None
            outcome = error
        except WouldWait:
            raise
        except Exception:
            # A mistake of ours, found by a stranger's entry, must not cost the other entries.
            logger.exception("%s %s could not be judged", noun, shorten(key, 60))
            outcome = SchemaError(f"the {noun} could not be judged; the log has the reason")
        self.admitted[text] = outcome
        this_page = len(self._lifetimes)
        if self._pages.get(key) == this_page:
            outcome = ProtocolError(f"two {noun}s are called {shorten(key, 60)!r}")
        # On another page it is the same entry: the list moved between the two, the later holds.
        self._pages[key] = this_page
        if isinstance(outcome, AnyshapeError):
            self.entries.pop(key, None)
            self.rejected[key] = outcome
            if text not in self._known:
                shown = noun, shorten(key, 60), shorten(str(outcome), 300)
                logger.warning("%s %s cannot be used: %s", *shown)
        else:
            self.rejected.pop(key, None)
            self.entries[key] = outcome


class _Keys(msgspec.Struct):
    name: msgspec.Raw = _NOTHING
    uri: msgspec.Raw = _NOTHING
    uriTemplate: msgspec.Raw = _NOTHING  # noqa: N815 - as it stands on the wire


_decode_keys: Final = msgspec.json.Decoder(_Keys).decode


def _key_of(text: bytes, feature: ListedFeature[Any]) -> str:
    """Return what tells an entry from others, however unusable the rest of it is."""
    noun, member = feature.noun, feature.key
    try:
        said: msgspec.Raw = getattr(_decode_keys(text), member)
    except msgspec.DecodeError:
        raise ProtocolError(f"expected a {noun}, got {shorten(text, 60)}") from None
    try:
        key = _decode_string(said)
    except msgspec.DecodeError:
        key = ""
    if not key:
        got = shorten(bytes(said), 60) or "none"
        raise ProtocolError(f"a {noun} needs a {member}, got {got}")
    if LONE_SURROGATE in text and _STAND_IN in key:
        raise ProtocolError(f"a {member} holds half of a surrogate pair")
    if len(key) > feature.longest:
        raise ProtocolError(f"a {member} is longer than {feature.longest} characters")
    return key
