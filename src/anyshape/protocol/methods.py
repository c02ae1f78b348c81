"""The names of requests and notifications, as they stand in `method`: each is written here once."""

from __future__ import annotations

from typing import Final

__all__ = [
    "CANCELLED",
    "DISCOVER",
    "INITIALIZE",
    "INITIALIZED",
    "LISTEN",
    "LISTENING",
    "PING",
    "PROGRESS",
    "TOOLS_CALL",
    "TOOLS_CHANGED",
    "TOOLS_LIST",
]

INITIALIZE: Final = "initialize"
PING: Final = "ping"
DISCOVER: Final = "server/discover"
LISTEN: Final = "subscriptions/listen"
TOOLS_LIST: Final = "tools/list"
TOOLS_CALL: Final = "tools/call"

INITIALIZED: Final = "notifications/initialized"
CANCELLED: Final = "notifications/cancelled"
PROGRESS: Final = "notifications/progress"
LISTENING: Final = "notifications/subscriptions/acknowledged"
TOOLS_CHANGED: Final = "notifications/tools/list_changed"
