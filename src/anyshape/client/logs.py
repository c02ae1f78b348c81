"""Log messages of a server on their way to the caller.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from anyshape.client.answers import as_string, decode_object
from anyshape.errors import AnyshapeError
from anyshape.protocol.log_levels import LogLevel, check_level


@dataclass(frozen=True, slots=True)
class LogMessage:
    """One message: how severe it is, any JSON value, and the part of the server that wrote it."""

    level: LogLevel
    data: Any
    logger: str | None = None


OnLog: TypeAlias = Callable[[LogMessage], Awaitable[None] | None]
"""Called with each message, in order; may be async, and then holds nothing else up."""


def read_log(params: msgspec.Raw | None, max_depth: int) -> LogMessage | None:
    """Return the message of a notification, or `None` if it is malformed."""
    try:
        found = decode_object(params, max_depth)
        level = check_level(str(found.get("level")))
    except (AnyshapeError, ValueError):
        return None
    if "data" not in found:
        return None
    return LogMessage(level, found["data"], as_string(found.get("logger")))
