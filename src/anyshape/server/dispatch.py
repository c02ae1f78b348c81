"""From a request and its exchange to an encoded answer; knows no transport.

The service knows every method. Which era a request belongs to is decided here, per message, as
"Backward Compatibility" in the versioning page of revision 2026-07-28 says: by the revision named
in `_meta`, else by what its transport knows.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_error, encode_response
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.protocol.revision import BY_NAME, MODERN
from anyshape.server.exchange import Abandoned, Exchange
from anyshape.server.failures import (
    method_not_found,
    missing_meta,
    translate,
    unsupported_version,
)
from anyshape.server.features.feature import Handler, Method
from anyshape.server.parameters import BareParameters, CallParameters, Parameters

__all__ = ["dispatch"]

_EMPTY: Final = msgspec.Raw(b"{}")

_UNKNOWN: Final = Method(BareParameters)


def dispatch(
    method: str, parameters: CallParameters | msgspec.Raw | None, exchange: Exchange
) -> bytes | Awaitable[bytes | None]:
    """Return the answer to a request, or what has to be awaited for it.

    What is awaited gives `None` when nobody wants the answer any more. `parameters` are raw, or
    read already where a transport has read a call in one go.
    """
    try:
        route = exchange.service.methods.get(method, _UNKNOWN)
        if isinstance(parameters, CallParameters):
            read: Parameters = parameters
        else:
            read = _read(route, method, parameters or _EMPTY, exchange)
        result = _settle(route, method, read, exchange)(read, exchange)
        if isinstance(result, bytes):
            return encode_response(exchange.id, result)
    except Exception as error:
        return _refuse(error, method, exchange)
    return _finish(result, method, exchange)


async def _finish(result: Awaitable[bytes], method: str, exchange: Exchange) -> bytes | None:
    try:
        return encode_response(exchange.id, await result)
    except Abandoned:
        return None
    except Exception as error:
        return _refuse(error, method, exchange)


def _refuse(error: Exception, method: str, exchange: Exchange) -> bytes:
    failure = translate(error, method)
    exchange.failure = failure.code
    return encode_error(exchange.id, failure.code, failure.message, failure.data)


def _read(route: Method, method: str, raw: msgspec.Raw, exchange: Exchange) -> Any:
    try:
        return route.decode(raw)
    except msgspec.ValidationError:
        # Whether the method is there at all comes before whether its parameters are right.
        _settle(route, method, _UNKNOWN.decode(raw), exchange)
        raise


def _settle(route: Method, method: str, parameters: Parameters, exchange: Exchange) -> Handler:
    """Settle the revision of a request, and return who answers its method there."""
    headers = exchange.headers
    name = None if route.named is None else getattr(parameters, route.named, None)
    meta = parameters.meta
    version = meta.protocol_version
    if version is UNSET:
        revision = exchange.assumed(method)
    else:
        if headers is not None:
            if headers.repeat(version, method, name):
                headers = None  # There is nothing left to check.
            else:
                headers.check_version(version)
        revision = BY_NAME.get(version)
        if revision is None:
            raise unsupported_version(version)
    exchange.revision = revision
    if revision in MODERN:
        if meta.client_capabilities is UNSET:
            raise missing_meta(CLIENT_CAPABILITIES)
        if headers is not None:
            headers.check(method, name)
        answer = route.modern
    else:
        answer = route.handshake
    if answer is None:
        raise method_not_found(method)
    if exchange.batched and not revision.has_batches:
        raise ProtocolError(
            f"Invalid Request: revision {revision} has no batches", code=INVALID_REQUEST
        )
    return answer
