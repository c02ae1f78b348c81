"""The id of a request that cannot be read whole, so that whoever waits for its answer gets one.

A message that is too long or nested too deeply is not decoded. Its id is a small member of the
outermost object, near its beginning or its end: `{"jsonrpc":"2.0","id":1,…` or `…,"id":1}`. What
leads up to such a member, closed, or follows from it on, opened, is an object of its own, and that
one can be decoded. A member further inside cannot be mistaken for it: the brackets would not match.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

import msgspec

WINDOW: Final = 4096
"""Bytes that are looked at on each side."""
_TRIES: Final = 8

_ID: Final = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*)(?=\s*[,}])')
_METHOD: Final = re.compile(rb'"method"\s*:\s*"')
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def salvage_id(start: bytes, end: bytes) -> bytes | None:
    """Return the id, as JSON text, of a request of which start and end are known."""
    start, end = start[:WINDOW], end[-WINDOW:].rstrip()
    if not _METHOD.search(start) and not _METHOD.search(end):
        return None  # A response, perhaps, and nobody waits for an answer to that.
    # Of an id that is there twice the last one counts.
    for found in islice(reversed(list(_ID.finditer(end))), _TRIES):
        if end[: found.start()].rstrip()[-1:] in (b",", b"{") and _is_whole(
            b"{" + end[found.start() :], found[1]
        ):
            return found[1]
    for found in islice(_ID.finditer(start), _TRIES):
        if _is_whole(start[: found.end()] + b"}", found[1]):
            return found[1]
    return None


def _is_whole(text: bytes, id: bytes) -> bool:
    """Tell whether a text is an object with that id."""
    try:
        id.decode()  # Values of members are skipped over, so nothing else looks at its UTF-8.
        return bytes(_decode_members(text).get("id", b"")) == id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
