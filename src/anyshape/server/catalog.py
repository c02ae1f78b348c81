"""The tools of a server and every message about them that can be encoded beforehand.

Listings, handshake and discovery results depend on the tools, the revision and what the client is
known to need. Each is encoded when it is first asked for and kept until the tools change; a result
encoder is made once per tool and revision.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from anyshape.errors import ToolDefinitionError
from anyshape.protocol.clients import Needs
from anyshape.protocol.identity import Identity
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import SUPPORTED, Revision
from anyshape.protocol.shapes import shape
from anyshape.protocol.shapes.nulls import NullDropper
from anyshape.server.failures import invalid_params
from anyshape.server.options import ServerOptions
from anyshape.tools.tool import Tool

__all__ = ["Catalog", "Entry", "ResultEncoder"]

_encode = msgspec.json.Encoder().encode

ResultEncoder = Callable[[EncodedResult], bytes]

_CURSOR: Final = "after:"


class Entry:
    """One tool, with what has been made for it per revision."""

    __slots__ = (
        "_nulls",
        "encoders",
        "is_guarded",
        "listings",
        "requires",
        "takes_context",
        "timeout",
        "tool",
    )

    def __init__(
        self, tool: Tool, requires: Mapping[str, Any] | None, timeout: float | None
    ) -> None:
        self.tool = tool
        self.timeout = timeout if tool.timeout is None else None
        """Seconds until the server ends a call; a tool with a time-out of its own does that."""
        self.requires = requires
        self.is_guarded = bool(requires) or bool(tool.headers)
        """Whether a modern call is checked for more than its arguments."""
        self.takes_context = tool.takes_context
        """Whether the function asks for a `Context`; most calls can do without one."""
        self.encoders: dict[Revision, ResultEncoder] = {}
        self.listings: dict[tuple[Revision, Needs], bytes] = {}
        self._nulls: NullDropper | None = None

    def without_nulls(self, arguments: bytes) -> bytes:
        """Return arguments without the nulls that the tool admits nowhere they stand."""
        if self._nulls is None:
            self._nulls = NullDropper(self.tool.listing.input_schema)
        return self._nulls.drop(arguments)


class _Roll:
    """The tools as they were at one moment, in order, and the pages that list them.

    Tools come and go on other threads, too. Whoever makes a page reads one roll and leaves the page
    there; a change in the meantime makes another roll, so no page outlives what it lists.
    """

    __slots__ = ("entries", "pages", "places")

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = list(entries.values())
        self.places = {name: place for place, name in enumerate(entries)}
        self.pages: dict[tuple[Revision, Needs, int], bytes] = {}


class Catalog:
    """Every tool by name, in the order they were added, and the messages that describe them."""

    def __init__(self, identity: Identity, options: ServerOptions) -> None:
        self.identity = identity
        self.entries: dict[str, Entry] = {}
        self._options = options
        self._changing = threading.Lock()
        self._roll: _Roll | None = None
        self._greetings: dict[tuple[Revision, bool], bytes] = {}
        self._discoveries: dict[Revision, bytes] = {}
        self._infos: dict[Revision, bytes] = {}

    def add(self, tool: Tool, requires: Mapping[str, Any] | None = None) -> None:
        """Add a tool under a name that is free."""
        entry = Entry(tool, requires, self._options.call_timeout)
        with self._changing:
            if tool.name in self.entries:
                raise ToolDefinitionError(
                    f"a tool named {tool.name!r} is already there; "
                    "give this one another name, or remove that one first"
                )
            self.entries[tool.name] = entry
            self._roll = None

    def remove(self, name: str) -> Tool:
        """Take a tool away and return it; `KeyError` if there is none of that name."""
        with self._changing:
            entry = self.entries.pop(name)
            self._roll = None
        return entry.tool

    def server_info(self, revision: Revision) -> bytes:
        """Return the `Implementation` of the server as JSON text."""
        info = self._infos.get(revision)
        if info is None:
            info = self._infos[revision] = _encode(self.identity.implementation(revision))
        return info

    def encoder(self, entry: Entry, revision: Revision) -> ResultEncoder:
        """Return what turns a natural result of the tool into the revision's `result`."""
        encoder = entry.encoders.get(revision)
        if encoder is None:
            encoder = entry.encoders[revision] = shape(revision).result_encoder(
                entry.tool.listing.output_schema, self._options.shape, self.server_info(revision)
            )
        return encoder

    def page(self, revision: Revision, needs: Needs, cursor: str | None) -> bytes:
        """Return the `result` of `tools/list`: the page a cursor stands for, or the first.

        A page is kept for each form there is: few revisions, and the few needs that each can meet.
        """
        if needs:
            needs &= shape(revision).family.listing_needs
        roll = self._roll or self._call_roll()
        start = 0 if cursor is None else _position(cursor, roll)
        known = roll.pages.get((revision, needs, start))
        if known is not None:
            return known
        size = self._options.page_size
        stop = start + size
        listed = [self._listing(entry, revision, needs) for entry in roll.entries[start:stop]]
        last = roll.entries[stop - 1].tool.name if stop < len(roll.entries) else None
        caching = self._options.caching
        page = shape(revision).list_result(
            listed,
            None if last is None else _cursor(last),
            ttl_ms=caching.ttl_ms,
            cache_scope=caching.scope,
            server_info=self.server_info(revision),
        )
        # A cursor from before a change may start anywhere; keeping all of those could take room
        # for as many listings as there are tools.
        if start % size == 0:
            roll.pages[revision, needs, start] = page
        return page

    def greeting(self, revision: Revision, *, tells_changes: bool) -> bytes:
        """Return the `result` of `initialize`."""
        key = (revision, tells_changes)
        known = self._greetings.get(key)
        if known is None:
            wire: dict[str, Any] = {
                "protocolVersion": revision.value,
                "capabilities": {"tools": {"listChanged": tells_changes}},
                "serverInfo": msgspec.Raw(self.server_info(revision)),
            }
            if self.identity.instructions is not None:
                wire["instructions"] = self.identity.instructions
            known = self._greetings[key] = _encode(wire)
        return known

    def discovery(self, revision: Revision) -> bytes:
        """Return the `result` of `server/discover`."""
        known = self._discoveries.get(revision)
        if known is None:
            wire: dict[str, Any] = {
                "resultType": "complete",
                "supportedVersions": list(SUPPORTED),
                "capabilities": {"tools": {"listChanged": True}},
                "ttlMs": self._options.caching.ttl_ms,
                "cacheScope": self._options.caching.scope,
                "_meta": {
                    "io.modelcontextprotocol/serverInfo": msgspec.Raw(self.server_info(revision))
                },
            }
            if self.identity.instructions is not None:
                wire["instructions"] = self.identity.instructions
            known = self._discoveries[revision] = _encode(wire)
        return known

    def _listing(self, entry: Entry, revision: Revision, needs: Needs) -> bytes:
        listing = entry.listings.get((revision, needs))
        if listing is None:
            wire = shape(revision).entry(entry.tool.listing, self._options.shape, needs)
            listing = entry.listings[revision, needs] = _encode(wire)
        return listing

    def _call_roll(self) -> _Roll:
        with self._changing:
            roll = self._roll = _Roll(self.entries)
        return roll


def _position(cursor: str, roll: _Roll) -> int:
    """Return where the page begins that a cursor stands for."""
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii")).decode()
    except (ValueError, binascii.Error):
        raise invalid_params("the cursor is not one of ours") from None
    place = roll.places.get(text.removeprefix(_CURSOR))
    if not text.startswith(_CURSOR) or place is None:
        raise invalid_params("the cursor is not valid any more; list again from the start")
    return place + 1


def _cursor(name: str) -> str:
    """Return the cursor for what follows a tool: it stays good while that tool is there."""
    return base64.urlsafe_b64encode((_CURSOR + name).encode()).decode("ascii")
