"""Which era each server was found to be of, for as long as this process lives.

The era is a property of the server, so it is found out once and remembered: asking again may take
seconds (an older process that is silent), or harm (an older service that breaks over questions it
does not know). https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Final, Literal, TypeAlias

Era: TypeAlias = Literal["modern", "older"]

_MOST: Final = 1_000
_LIFETIME: Final = 3_600.0
_found: dict[Hashable, tuple[Era, float]] = {}


def recall(server: Hashable | None) -> Era | None:
    """Return what a server was found to be; a server that was older may have been replaced."""
    era, since = _found.get(server, (None, 0.0))
    if era == "older" and time.monotonic() - since > _LIFETIME:
        return None
    return era


def remember(server: Hashable | None, era: Era) -> None:
    """Keep what a server was found to be; `None` is a server that is not remembered."""
    if server is None:
        return
    _found.pop(server, None)
    while len(_found) >= _MOST:
        del _found[next(iter(_found))]
    _found[server] = (era, time.monotonic())


def forget() -> None:
    """Drop what is known of every server."""
    _found.clear()
