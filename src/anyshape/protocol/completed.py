"""What every result has in common, whatever method it answers.

A modern result says that it is complete, for how long it may be kept if it may, and which server
gave it. Handshake revisions know none of that, and it is left out there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from anyshape.protocol.encoding import encode_data
from anyshape.protocol.meta import SERVER_INFO
from anyshape.protocol.revision import Revision

SERVER_INFO_KEY: Final = encode_data(SERVER_INFO)


@dataclass(frozen=True, slots=True)
class Caching:
    """How long, and by whom, a listing may be kept (`ttlMs` and `cacheScope` at 2026-07-28).

    `public` lets shared caches serve the listing to anyone, authenticated or not.
    """

    ttl_ms: int = 60_000
    scope: Literal["public", "private"] = "private"

    def __post_init__(self) -> None:
        if type(self.ttl_ms) is not int or self.ttl_ms < 0:
            raise ValueError(f"ttl_ms has to be an integer of 0 or more, got {self.ttl_ms!r:.40}")
        if self.scope not in ("public", "private"):
            raise ValueError(f'scope has to be "public" or "private", got {self.scope!r}')


def opening(revision: Revision) -> bytes:
    """Return how a result begins, up to its first member."""
    return b'{"resultType":"complete",' if revision.is_modern else b"{"


def server_meta(server_info: bytes) -> bytes:
    """Return the `_meta` of a result that says nothing but which server gave it."""
    return b"{%b:%b}" % (SERVER_INFO_KEY, server_info)


def encode_result(
    revision: Revision,
    members: bytes,
    server_info: bytes | None = None,
    caching: Caching | None = None,
) -> bytes:
    """Return a result as JSON text; `members` are its own ones, without braces."""
    if not revision.is_modern:
        return b"{%b}" % members
    parts = [opening(revision), members]
    if caching is not None:
        parts.append(b',"ttlMs":%d,"cacheScope":%b' % (caching.ttl_ms, encode_data(caching.scope)))
    if server_info is not None:
        parts += (b',"_meta":', server_meta(server_info))
    parts.append(b"}")
    return b"".join(parts)


def encode_input_required(requests: Mapping[str, bytes], state: str, server_info: bytes) -> bytes:
    """Return the result that asks a client for input; a request is the JSON text of its object."""
    asked = b",".join(b"%b:%b" % (encode_data(key), text) for key, text in requests.items())
    return b'{"resultType":"input_required","inputRequests":{%b},"requestState":%b,"_meta":%b}' % (
        asked,
        encode_data(state),
        server_meta(server_info),
    )


def encode_page(
    revision: Revision,
    member: str,
    entries: Iterable[bytes],
    next_cursor: str | None = None,
    *,
    caching: Caching | None = None,
    server_info: bytes | None = None,
) -> bytes:
    """Return one page of a listing; `member` holds its entries, which are JSON text already."""
    members = b"%b:[%b]" % (encode_data(member), b",".join(entries))
    if next_cursor is not None:
        members += b',"nextCursor":%b' % encode_data(next_cursor)
    return encode_result(revision, members, server_info, caching)
