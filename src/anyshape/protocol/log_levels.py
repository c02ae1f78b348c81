"""How severe a log message is: the levels of RFC 5424.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-levels
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

__all__ = ["LOG_LEVELS", "LogLevel"]

LogLevel: TypeAlias = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
LOG_LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)
"""Every level, the least severe first."""
