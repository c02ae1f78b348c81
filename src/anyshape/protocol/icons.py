"""Icons: small images that a user interface may show beside a tool, a resource or a server.

https://modelcontextprotocol.io/specification/2026-07-28/basic#icons
An address that is not `https:`, `http:` or `data:` may make whoever shows it run a script or open a
file, so none such is ever sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

__all__ = ["Icon", "icon_flaw", "sendable_icons", "wire_icon"]

_SENDABLE: Final = re.compile(r"https?://|data:", re.IGNORECASE)
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Icon:
    """An image for a user interface: `src` is an `https:`, `http:` or `data:` address."""

    src: str
    mime_type: str | None = None
    sizes: tuple[str, ...] | list[str] | None = None
    theme: Literal["light", "dark"] | None = None

    def __post_init__(self) -> None:
        """Refuse an address that no client should open."""
        flaw = icon_flaw(self.wire())
        if flaw is not None:
            raise ValueError(f"Icon.{flaw}")

    def wire(self) -> dict[str, Any]:
        """Return the JSON form."""
        wire: dict[str, Any] = {"src": self.src}
        if self.mime_type is not None:
            wire["mimeType"] = self.mime_type
        if self.sizes is not None:
            wire["sizes"] = list(self.sizes)
        if self.theme is not None:
            wire["theme"] = self.theme
        return wire


def icon_flaw(wire: object) -> str | None:
    """Return what is wrong with the JSON form of an icon, or `None`."""
    source = cast("Any", wire).get("src") if isinstance(wire, Mapping) else None
    if not isinstance(source, str):
        return "src has to be a string"
    if _SENDABLE.match(source) is None:
        return f"src has to be an https:, http: or data: address, got {source[:_SHOWN]!r}"
    return None


def wire_icon(icon: Icon | Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON form of an icon, which an author may have written already."""
    return icon.wire() if isinstance(icon, Icon) else dict(icon)


def sendable_icons(icons: Iterable[Icon | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the JSON form of those icons that may be sent; the others are dropped."""
    return [wire for wire in map(wire_icon, icons) if icon_flaw(wire) is None]
