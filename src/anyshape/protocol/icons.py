"""Icons: small images that a user interface may show beside a tool, a resource or a server.

https://modelcontextprotocol.io/specification/2026-07-28/basic#icons

An icon is an address that a user interface opens, so `javascript:`, `file:` and whatever else an
application answers to is dropped, by those who publish icons and by those who are sent them. The
rule is a list of the kinds of addresses that are allowed, since one of those that are not would
never be complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

# Without spaces and control characters, which some readers of addresses drop and others do not.
_REST: Final = r"[^\s\x00-\x1f\x7f\\]+"
_RECEIVED: Final = re.compile(rf"(?:https://|data:image/){_REST}", re.IGNORECASE)
_PUBLISHED: Final = re.compile(rf"(?:https?://|data:image/){_REST}", re.IGNORECASE)
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Icon:
    """An image for a user interface: `src` is an `https:`, `http:` or `data:image/` address."""

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
    """Return what is wrong with the JSON form of an icon to be published, or `None`."""
    source = cast("Any", wire).get("src") if isinstance(wire, Mapping) else None
    if not isinstance(source, str):
        return "src has to be a string"
    if _PUBLISHED.fullmatch(source) is None:
        return f"src has to be an https:, http: or data:image/ address, got {source[:_SHOWN]!r}"
    return None


def wire_icon(icon: Icon | Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON form of an icon, which an author may have written already."""
    return icon.wire() if isinstance(icon, Icon) else dict(icon)


def published_icons(icons: Iterable[Icon | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the icons that a server sends out; http is for clients to decide on."""
    return _matching((wire_icon(icon) for icon in icons), _PUBLISHED)


def received_icons(icons: Iterable[object]) -> list[dict[str, Any]]:
    """Return the icons of a stranger that a client may show: over https, or inline images."""
    return _matching(icons, _RECEIVED)


def _matching(icons: Iterable[object], allowed: re.Pattern[str]) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for icon in icons:
        if isinstance(icon, Mapping):
            members = dict(cast("Mapping[str, Any]", icon))
            source = members.get("src")
            if isinstance(source, str) and allowed.fullmatch(source):
                kept.append(members)
    return kept
