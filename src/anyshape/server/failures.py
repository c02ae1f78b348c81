"""Exceptions become wire errors here, and nowhere else.

The codes are those of JSON-RPC 2.0 and of "Error Codes" in the base page of revision 2026-07-28;
the HTTP statuses those of its Streamable HTTP page.
"""

from __future__ import annotations

import logging
from typing import Any, Final, NamedTuple

import msgspec

from anyshape.errors import ProtocolError, RateLimited
from anyshape.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from anyshape.protocol.revision import SUPPORTED, Revision
from anyshape.tools.routine import RoutineError
from anyshape.tools.workers import CrowdedError

SERVER_BUSY: Final = 503
TOO_MANY_REQUESTS: Final = 429
NOT_ACCEPTABLE: Final = 406
UNKNOWN_SESSION: Final = 404
BATCH_FULL: Final = 413
"""Not codes of the protocol, which asks for such codes to lie outside JSON-RPC's own range."""

_SHOWN: Final = 80
_NAME: Final = 128
_LONGEST: Final = 2_000

_log = logging.getLogger("anyshape.server")


class UnservedError(ProtocolError):
    """Says why a request is not served at all; over HTTP its code is the status, too.

    The same code in an error of somebody else's, such as an author's middleware, is no status: 404
    would tell a client that its session is over.
    """


class StoreAwayError(UnservedError):
    """What needs the store that replicas share cannot be done while that is away."""

    def __init__(self) -> None:
        super().__init__(
            "Server busy: what its replicas share cannot be reached; try again", code=SERVER_BUSY
        )


class Failure(NamedTuple):
    """The parts of a JSON-RPC error, and what HTTP says of it beside them.

    `status` is there if it is not that of the code; `retry_after` is in how many seconds the same
    request may have an answer.
    """

    code: int
    message: str
    data: object = None
    status: int | None = None
    retry_after: int | None = None


_INTERNAL: Final = Failure(INTERNAL_ERROR, "Internal error")
"""What is told of an exception that the peer must not know."""


def translate(error: Exception, method: str) -> Failure:
    """Return what the peer is told of an exception; what it must not know goes to the log."""
    failure = told_of(error)
    if failure is _INTERNAL:
        _log.error("%s failed", method[:_SHOWN], exc_info=error)
    return failure


def told_of(error: Exception) -> Failure:
    """Return what the peer is told of an exception, and log nothing.

    Only errors that are made to be told count: of any other kind, such as those of a schema or a
    decoder, an author's middleware or validator may have one that is about something of its own.
    """
    if isinstance(error, RateLimited):
        return Failure(error.code, error.message, error.data, error.code, error.retry_after)
    if isinstance(error, ProtocolError):
        status = error.code if isinstance(error, UnservedError) else None
        return Failure(error.code, error.message, error.data, status)
    if isinstance(error, RoutineError):
        return Failure(INTERNAL_ERROR, str(error))
    if isinstance(error, CrowdedError):
        return Failure(SERVER_BUSY, f"Server busy: {error}; try again", None, SERVER_BUSY)
    return _INTERNAL


_STATUS: Final = {PARSE_ERROR: 400, INVALID_REQUEST: 400}
_MODERN_STATUS: Final = {
    **_STATUS,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_REQUIRED_CLIENT_CAPABILITY: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
    METHOD_NOT_FOUND: 404,
    INTERNAL_ERROR: 500,
}

OF_THE_CONNECTION: Final = frozenset(
    {*_STATUS, SERVER_BUSY, TOO_MANY_REQUESTS, NOT_ACCEPTABLE, UNKNOWN_SESSION}
)
"""Codes that tell a client something of its connection to us; an error from elsewhere has none."""


def http_status(failure: Failure, revision: Revision) -> int:
    """Return the HTTP status an error travels under.

    The handshake revisions leave it at 200 for everything that was understood as a request.
    """
    if failure.status is not None:
        return failure.status
    return (_MODERN_STATUS if revision.has_error_statuses else _STATUS).get(failure.code, 200)


def unreadable(error: Exception) -> ProtocolError:
    """Return the error for parameters of which a decoder says that."""
    if isinstance(error, msgspec.ValidationError):
        return invalid_params(str(error))
    return ProtocolError("Parse error: the parameters cannot be read", code=PARSE_ERROR)


def invalid_params(reason: str) -> ProtocolError:
    """Return the error for parameters that cannot be used."""
    return ProtocolError(f"Invalid params: {reason}", code=INVALID_PARAMS)


def unknown_tool(name: str, absence: str = "") -> ProtocolError:
    """Return the error for a call of a tool that is not there; `absence` is why it may be so."""
    because = f"; {absence}" if absence else ""
    return ProtocolError(f"Unknown tool: {name[:_NAME]}{because}", code=INVALID_PARAMS)


def unknown_prompt(name: str, absence: str = "") -> ProtocolError:
    """Return the error for a prompt that is not there; `absence` is why it may be so."""
    because = f"; {absence}" if absence else ""
    return invalid_params(f"there is no prompt {name[:_NAME]!r}{because}")


def missing_meta(key: str) -> ProtocolError:
    """Return the error for a request that does not say in `_meta` what every request has to."""
    return invalid_params(f"_meta has to have {key}, unless initialize came first")


def duplicate_id() -> ProtocolError:
    """Return the error for a request under an id whose answer is still to come."""
    return ProtocolError(
        "Invalid Request: a request with this id is still in flight", code=INVALID_REQUEST
    )


def method_not_found(method: str) -> ProtocolError:
    """Return the error for a method that this revision, or this server, does not have."""
    return ProtocolError(f"Method not found: {method[:_SHOWN]}", code=METHOD_NOT_FOUND)


def header_mismatch(reason: str) -> ProtocolError:
    """Return the error for headers that are missing, malformed or contradict the body."""
    return ProtocolError(f"Header mismatch: {reason}", code=HEADER_MISMATCH)


def unsupported_version(requested: str) -> ProtocolError:
    """Return the error for a revision we do not speak, which lists those we do."""
    return ProtocolError(
        "Unsupported protocol version",
        code=UNSUPPORTED_PROTOCOL_VERSION,
        data={"supported": list(SUPPORTED), "requested": requested},
    )


def resource_not_found(revision: Revision, uri: str, reason: str = "") -> ProtocolError:
    """Return the error for a URI that stands for nothing here; `reason` is the author's."""
    return ProtocolError(
        f"Resource not found: {reason}" if reason else "Resource not found",
        code=RESOURCE_NOT_FOUND if revision.has_not_found else INVALID_PARAMS,
        data={"uri": uri if len(uri) <= _LONGEST else uri[:_SHOWN] + "…"},
    )


def missing_capability(missing: dict[str, Any]) -> ProtocolError:
    """Return the error for a call that needs what its client cannot do."""
    return ProtocolError(
        f"Missing required client capability: {', '.join(missing)}",
        code=MISSING_REQUIRED_CLIENT_CAPABILITY,
        data={"requiredCapabilities": missing},
    )


def not_acceptable() -> UnservedError:
    """Return the error for a subscription of a client that takes no stream."""
    return UnservedError(
        "Not acceptable: a subscription is a stream; Accept has to allow text/event-stream",
        code=NOT_ACCEPTABLE,
    )


def unknown_session() -> UnservedError:
    """Return the error for a session id that is over, or none of ours."""
    return UnservedError(
        "Session not found: it is over, or was never opened here; initialize again without its id",
        code=UNKNOWN_SESSION,
    )


def untold() -> ProtocolError:
    """Return the error for a subscription without a session to tell of changes."""
    return ProtocolError(
        "Invalid Request: changes are told to a session; initialize, and send its Mcp-Session-Id",
        code=INVALID_REQUEST,
    )


def busy(allowed: int, what: str = "calls") -> UnservedError:
    """Return the error for a call, or a subscription, that would be one too many at a time."""
    return UnservedError(
        f"Server busy: {allowed} {what} are in flight, which is all it takes; try again",
        code=SERVER_BUSY,
    )


def stopping() -> UnservedError:
    """Return the error for a call that was not done when the server had to end."""
    return UnservedError(
        "Server stopping: the call was given up before it was done; try again", code=SERVER_BUSY
    )
