"""Python's `logging` for clients: what is logged during a request goes to whoever asked it."""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from anyshape.protocol.log_levels import LogLevel
from anyshape.protocol.meta import LOG_LEVEL
from anyshape.server.features.log_messages import LogMessages

if TYPE_CHECKING:
    from anyshape.server.middleware import Middleware, MiddlewareAnswer, MiddlewareRequest, Proceed
    from anyshape.server.request_log import RequestLog
    from anyshape.server.service import Service

_current: ContextVar[RequestLog | None] = ContextVar("anyshape_request_log", default=None)
"""Where the messages of the request go that is being answered."""

_ROUTED: Final = "_anyshape_routed"
_OURS: Final = "anyshape"
_FOR_CLIENTS: Final = "anyshape.tools.context"
"""What tools say by `context.info` and the like; the rest of ours is for the operator alone."""

_LEVELS: Final[tuple[tuple[int, LogLevel], ...]] = (
    (logging.CRITICAL, "critical"),
    (logging.ERROR, "error"),
    (logging.WARNING, "warning"),
    (25, "notice"),
    (logging.INFO, "info"),
)


class LogHandler(logging.Handler):
    """Sends records to the client whose request is being answered, if it wants them.

    `Server.route_logging` puts one where it is needed. Without a formatter the message alone is
    sent: no traceback, and nothing of `extra`. Records of a server's own, and those that come
    outside of a request of a server that routes, are passed over.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record."""
        log = _current.get()
        if log is None or hasattr(record, _ROUTED) or _is_internal(record.name):
            return
        # Whatever is logged on the way is not sent, or it would never end.
        token = _current.set(None)
        try:
            setattr(record, _ROUTED, True)  # Another handler, further up, may get it too.
            text = record.getMessage() if self.formatter is None else self.format(record)
            log.write(_level(record.levelno), text, record.name)
        except Exception:
            self.handleError(record)
        finally:
            _current.reset(token)


def carrier(service: Service) -> Middleware:
    """Return the layer that has records of a request find their way to it."""
    messages = service.feature(LogMessages)

    async def carry(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        log = messages.log_of(request.opened, request.meta.get(LOG_LEVEL))
        token = _current.set(log)
        try:
            return await proceed(request)
        finally:
            _current.reset(token)
            if log is not None:
                log.finish()

    return carry


def _is_internal(name: str) -> bool:
    return name.partition(".")[0] == _OURS and name != _FOR_CLIENTS


def _level(number: int) -> LogLevel:
    for least, level in _LEVELS:
        if number >= least:
            return level
    return "debug"
