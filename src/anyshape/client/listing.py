"""The tools of a server: its pages, how long they hold, and each tool by itself.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from anyshape.client.admission import ListedTool, name_of, read_entry
from anyshape.client.exchange import Exchange
from anyshape.client.options import Bounds
from anyshape.client.question import Question
from anyshape.client.quoting import shorten
from anyshape.errors import AnyshapeError, LimitExceeded, ProtocolError, SchemaError
from anyshape.schema import WouldWait, aside, leave_loop

__all__ = ["Listing"]

logger = logging.getLogger(__name__)

_encode: Final = msgspec.json.Encoder().encode
_SLICE: Final = 0.01
_LONG_ENTRY: Final = 64_000
"""Bytes of a tool that is not read on the event loop."""
_HEAVY: Final = 64_000_000
"""Bytes of compiled schemas of one listing that are kept; those of further tools are not."""
_FIRST_PAGE: Final = Question("tools/list", repeatable=True)


class _Page(msgspec.Struct):
    tools: list[msgspec.Raw]
    resultType: Literal["complete"] = "complete"  # noqa: N815 - as it stands on the wire
    nextCursor: Any = None  # noqa: N815
    ttlMs: Any = None  # noqa: N815


_decode_page: Final = msgspec.json.Decoder(_Page).decode


Admit: TypeAlias = Callable[[str, Mapping[str, Any], bool], ListedTool]
"""From the name and entry of a tool to the tool, or the exception that says why it is unusable.

The third argument says whether the tool is not to keep what is compiled of its schemas.
"""


class Listing:
    """The tools of one server, and how long they may be taken for current.

    A server that does not offer tools is not asked for them.
    """

    def __init__(self, exchange: Exchange, admit: Admit, *, offered: bool) -> None:
        self._exchange = exchange
        self._admit = admit
        self._offered = offered
        self._tools: dict[str, ListedTool] = {}
        self._rejected: dict[str, AnyshapeError] = {}
        self._admitted: dict[bytes, ListedTool | AnyshapeError] = {}
        self._lock = asyncio.Lock()
        self._listed = False
        self._changed = False
        self._changes = 0
        self._expires: float | None = None
        self._fetches = 0

    @property
    def tools(self) -> Mapping[str, ListedTool]:
        """The usable tools by name, in the server's order."""
        return MappingProxyType(self._tools)

    @property
    def rejected(self) -> Mapping[str, AnyshapeError]:
        """Why each unusable tool is; one without a usable name is called `#` and its position."""
        return MappingProxyType(self._rejected)

    @property
    def is_fresh(self) -> bool:
        """Whether the server said that the list may be used without asking again."""
        if not self._listed or self._changed:
            return False
        return self._expires is not None and time.monotonic() < self._expires

    @property
    def is_usable(self) -> bool:
        """Whether calls may go by the list: it did not expire and no change was announced.

        A server that gives no lifetime is not asked again before every call.
        """
        if not self._listed or self._changed:
            return False
        return self._expires is None or time.monotonic() < self._expires

    def get(self, name: str) -> ListedTool | None:
        """Return a tool that calls may go by."""
        if self._expires is not None and time.monotonic() >= self._expires:
            return None
        return None if self._changed else self._tools.get(name)

    def invalidate(self) -> None:
        """Take the list for outdated; the server said so."""
        self._changed = True
        self._changes += 1

    async def fetch(self, timeout: float | None, *, newer_than: int | None = None) -> None:
        """Ask the server for its tools; callers that come meanwhile share the answer.

        `timeout` bounds all pages together: each could be quick, and their number large.
        """
        wanted = self._fetches if newer_than is None else newer_than
        try:
            async with asyncio.timeout(timeout), self._lock:
                if self._fetches <= wanted:
                    await self._fetch_pages()
        except TimeoutError as error:
            raise self._exchange.silence(_FIRST_PAGE, timeout) from error

    @property
    def fetches(self) -> int:
        """How many times the list was fetched; see `fetch`."""
        return self._fetches

    async def _fetch_pages(self) -> None:
        collector = _Collector(self._admitted, self._exchange.bounds, self._admit)
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
        self._fetches += 1
        self._changed = self._changes != changes
        self._adopt(collector, collector.expires)

    async def _collect(self, collector: _Collector) -> None:
        question = _FIRST_PAGE
        restarted = False
        most = self._exchange.bounds.max_pages
        for _ in range(most):
            try:
                raw = cast("msgspec.Raw", await self._exchange.request(question, None))
            except ProtocolError:
                # A cursor may expire; what came before it belongs to a list that is no more.
                if restarted or question is _FIRST_PAGE:
                    raise
                restarted = True
                question = _FIRST_PAGE
                collector.start_over()
                continue
            page = self._read_page(raw)
            await collector.take(page, memoryview(raw).nbytes)
            cursor = page.nextCursor
            if cursor is None:
                return
            if not isinstance(cursor, str):
                raise ProtocolError("tools/list gave a nextCursor that is no string")
            # Cursors are opaque: the same one twice need not lead to the same page.
            question = Question("tools/list", b'"cursor":%b' % _encode(cursor), repeatable=True)
        raise LimitExceeded(
            f"tools/list goes on after {most} pages", limit="max_pages", allowed=most
        )

    def _adopt(self, collector: _Collector, expires: float | None) -> None:
        self._tools, self._rejected = collector.tools, collector.rejected
        self._admitted = collector.admitted
        self._expires = expires
        self._listed = True

    def _read_page(self, raw: msgspec.Raw) -> _Page:
        try:
            return _decode_page(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            place = self._exchange.transport.place
            raise ProtocolError(
                f"{place} answered tools/list with something else: {error}"
            ) from None


def _lifetime(ttl: object) -> float | None:
    """Return when a page expires; `None` if it gives no lifetime."""
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0:
        return None
    return time.monotonic() + min(ttl, 1e12) / 1000


class _Collector:
    """Gathers the tools of one listing, reusing what an identical entry came to before."""

    def __init__(
        self,
        known: Mapping[bytes, ListedTool | AnyshapeError],
        bounds: Bounds,
        admit: Admit,
    ) -> None:
        self.tools: dict[str, ListedTool] = {}
        self.rejected: dict[str, AnyshapeError] = {}
        self.admitted: dict[bytes, ListedTool | AnyshapeError] = {}
        self._known = known
        self._bounds = bounds
        self._admit = admit
        self._size = 0
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
        self.tools, self.rejected, self.admitted = {}, {}, {}
        self._pages, self._lifetimes = {}, []

    async def take(self, page: _Page, size: int) -> None:
        """Admit the entries of one page of so many bytes, letting others run in between."""
        self._size += size
        self._check(self._size, "max_listing_bytes", "bytes on all its pages")
        started = time.monotonic()
        self._lifetimes.append(_lifetime(page.ttlMs))
        for raw in page.tools:
            self._count += 1
            self._check(self._count, "max_tools", "tools")
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
                f"tools/list holds more than {allowed} {what}; Client(bounds=Bounds({limit}=…)) "
                "allows more",
                limit=limit,
                allowed=allowed,
            )

    def _take_one(self, text: bytes) -> None:
        name = f"#{self._count}"
        try:
            name = name_of(text)
            entry = read_entry(text, self._bounds.max_depth)
            outcome = self._known.get(text)
            if outcome is None:
                outcome = self._admit(name, entry, self._weight > _HEAVY)
                self._weight += outcome.weight
        except AnyshapeError as error:
            outcome = error
        except WouldWait:
            raise
        except Exception:
            # A mistake of ours, found by a stranger's schema, must not cost the other tools.
            logger.exception("tool %s could not be judged", shorten(name, 60))
            outcome = SchemaError("the tool could not be judged; the log has the reason")
        self.admitted[text] = outcome
        this_page = len(self._lifetimes)
        if self._pages.get(name) == this_page:
            outcome = ProtocolError(f"two tools are called {shorten(name, 60)!r}")
        # On another page it is the same tool: the list moved between the two, and the later holds.
        self._pages[name] = this_page
        if isinstance(outcome, AnyshapeError):
            self.tools.pop(name, None)
            self.rejected[name] = outcome
            if text not in self._known:
                shown = shorten(name, 60), shorten(str(outcome), 300)
                logger.warning("tool %s cannot be used: %s", *shown)
        else:
            self.rejected.pop(name, None)
            self.tools[name] = outcome
