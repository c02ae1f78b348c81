"""The directories and files that a client tells servers about.

https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Root:
    """A directory or file by its `file://` URI."""

    uri: str
    name: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is no absolute `file://` URI, or steps out of itself."""
        parts = urlsplit(self.uri)
        steps = parts.path.lower().replace("%2e", ".").replace("%2f", "/").split("/")
        if parts.scheme != "file" or not parts.path.startswith("/") or ".." in steps:
            raise ValueError(f"Root({self.uri!r}): expected an absolute file:// URI without ..")

    def wire(self) -> dict[str, str]:
        """Return the JSON form."""
        return {"uri": self.uri} if self.name is None else {"uri": self.uri, "name": self.name}
