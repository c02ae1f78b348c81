"""What reading a resource gives: text, or bytes, of one or several URIs.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-contents
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from anyshape.protocol.completed import Caching, encode_result
from anyshape.protocol.content import RefusesMovedKeywords
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.revision import Revision


@dataclass(frozen=True, slots=True)
class Contents(RefusesMovedKeywords):
    """Say more than a return value can: a media type, another URI, metadata; a list for several.

    `data` is text, bytes, or any other value, which is sent as JSON. Without a `mime_type` that of
    the resource counts, and without one there the kind of data decides.
    """

    data: Any
    mime_type: str | None = None
    uri: str | None = None
    meta: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what no client could read."""
        for name in ("mime_type", "uri"):
            value: object = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"Contents.{name} has to be a string, got {type(value).__name__}")


class EncodedContents(msgspec.Struct, frozen=True, gc=False):
    """Contents with all that was left out filled in; `meta` is the JSON text of an object."""

    uri: str
    mime_type: str
    data: str | bytes
    meta: bytes | None = None

    def wire(self, revision: Revision) -> bytes:
        """Return the JSON text that a revision knows; raises `UnicodeEncodeError` for no text."""
        wire: dict[str, Any] = {"uri": self.uri, "mimeType": self.mime_type}
        if isinstance(self.data, str):
            wire["text"] = self.data
        else:
            wire["blob"] = base64.b64encode(self.data).decode("ascii")
        if self.meta is not None and revision.has_item_meta:
            wire["_meta"] = msgspec.Raw(self.meta)
        return encode_data(wire)


def encode_contents(
    revision: Revision,
    contents: Iterable[EncodedContents],
    caching: Caching,
    server_info: bytes | None = None,
) -> bytes:
    """Return the `result` of `resources/read`."""
    members = b'"contents":[%b]' % b",".join(each.wire(revision) for each in contents)
    return encode_result(revision, members, server_info, caching)
