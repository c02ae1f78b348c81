"""What a server says of itself: its `Implementation`, and instructions for the model.

https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation
"""

from __future__ import annotations

from typing import Any

import msgspec

from anyshape.protocol.icons import published_icons
from anyshape.protocol.revision import Revision


class ServerIdentity(msgspec.Struct, frozen=True):
    """A server's name and all that goes with it."""

    name: str
    version: str
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: tuple[dict[str, Any], ...] = ()
    instructions: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no client could read, such as a version that is a number."""
        for name in ("name", "version", "title", "description", "website_url", "instructions"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("name", "version")):
                raise TypeError(f"{name} has to be a string, got {type(value).__name__}")

    def implementation(self, revision: Revision) -> dict[str, Any]:
        """Return the `Implementation` as the revision knows it."""
        wire: dict[str, Any] = {"name": self.name}
        if self.title is not None and revision.has_titles:
            wire["title"] = self.title
        wire["version"] = self.version
        if revision.has_icons:
            if self.description is not None:
                wire["description"] = self.description
            if self.website_url is not None:
                wire["websiteUrl"] = self.website_url
            if self.icons:
                wire["icons"] = published_icons(self.icons)
        return wire
