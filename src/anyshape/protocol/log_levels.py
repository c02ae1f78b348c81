"""How severe a log message is: the levels of RFC 5424.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-levels
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

LogLevel: TypeAlias = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
LOG_LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)
"""Every level, the least severe first."""

SEVERITY: Final[Mapping[str, int]] = MappingProxyType(
    {level: severity for severity, level in enumerate(LOG_LEVELS)}
)
"""A number for every level; the more severe one has the greater."""


def check_level(level: str) -> LogLevel:
    """Return a level; `ValueError` if there is none of that name."""
    for known in LOG_LEVELS:
        if level == known:
            return known
    raise ValueError(f"log level {level!r}: expected one of {', '.join(LOG_LEVELS)}")
