"""Origins of URLs: what a server says never leads our messages and credentials to another one.

https://www.rfc-editor.org/rfc/rfc6454#section-4
"""

from __future__ import annotations

import contextlib
from typing import Final
from urllib.parse import urljoin, urlsplit, urlunsplit

_PORTS: Final = {"http": 80, "https": 443}


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL in canonical form."""
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme)


def follow(url: str, reference: str) -> str | None:
    """Return where a reference leads from a URL, `None` if that is no URL of the same origin.

    User and password stay those of the URL: no reference brings others.
    """
    with contextlib.suppress(ValueError):  # of a reference that is none
        target = urljoin(url, reference)
        if origin_of(target) == origin_of(url):
            here, there = urlsplit(url), urlsplit(target)
            return urlunsplit((here.scheme, here.netloc, there.path, there.query, ""))
    return None
