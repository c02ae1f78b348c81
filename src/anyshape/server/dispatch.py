"""From a request and its exchange to an encoded answer; knows no transport.

A route says how the parameters of a method are read and who answers it in each era. Which era a
request belongs to is decided here, per message, as "Backward Compatibility" in the versioning page
of revision 2026-07-28 says: by the revision named in `_meta`, else by what its transport knows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_error, encode_response
from anyshape.protocol.revision import BY_NAME, MODERN, Revision, negotiate
from anyshape.server.calls import call_tool
from anyshape.server.exchange import Abandoned, Exchange
from anyshape.server.failures import (
    method_not_found,
    missing_meta,
    translate,
    unsupported_version,
)
from anyshape.server.parameters import (
    CLIENT_CAPABILITIES,
    BareParameters,
    CallParameters,
    InitializeParameters,
    ListenParameters,
    ListParameters,
    Parameters,
)
from anyshape.server.subscriptions import listen

__all__ = ["dispatch"]

_EMPTY: Final = msgspec.Raw(b"{}")

Answer = Callable[[Any, Exchange, Revision], bytes | Awaitable[bytes]]
"""Who answers a method: from its parameters to the JSON text of its result."""


class _Route(NamedTuple):
    """How a method is read, and who answers it in each era."""

    decode: Callable[[msgspec.Raw], Parameters]
    modern: Answer | None
    handshake: Answer | None


def dispatch(
    method: str, parameters: CallParameters | msgspec.Raw | None, exchange: Exchange
) -> bytes | Awaitable[bytes | None]:
    """Return the answer to a request, or what has to be awaited for it.

    What is awaited gives `None` when nobody wants the answer any more. `parameters` are raw, or
    read already where a transport has read a call in one go.
    """
    try:
        route = _ROUTES.get(method, _UNKNOWN)
        if isinstance(parameters, CallParameters):
            read: Parameters = parameters
        else:
            read = _read(route, method, parameters or _EMPTY, exchange)
        revision, answer = _settle(route, method, read, exchange)
        result = answer(read, exchange, revision)
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


def _read(route: _Route, method: str, raw: msgspec.Raw, exchange: Exchange) -> Any:
    try:
        return route.decode(raw)
    except msgspec.ValidationError:
        # Whether the method is there at all comes before whether its parameters are right.
        _settle(route, method, _decode_bare(raw), exchange)
        raise


def _settle(
    route: _Route, method: str, parameters: Parameters, exchange: Exchange
) -> tuple[Revision, Answer]:
    """Settle the revision of a request, and who answers its method there."""
    headers = exchange.headers
    name = parameters.name if type(parameters) is CallParameters else None
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
    return revision, answer


def _initialize(parameters: InitializeParameters, exchange: Exchange, _revision: Revision) -> bytes:
    if exchange.batched:
        raise ProtocolError("Invalid Request: initialize inside a batch", code=INVALID_REQUEST)
    revision = exchange.revision = negotiate(parameters.protocol_version)
    exchange.greet(revision, parameters)
    return exchange.service.catalog.greeting(revision, tells_changes=exchange.tells_changes)


def _ping(_parameters: Parameters, _exchange: Exchange, _revision: Revision) -> bytes:
    return b"{}"


def _discover(_parameters: Parameters, exchange: Exchange, revision: Revision) -> bytes:
    return exchange.service.catalog.discovery(revision)


def _list_tools(parameters: ListParameters, exchange: Exchange, revision: Revision) -> bytes:
    needs = exchange.needs_in(parameters.meta)
    return exchange.service.catalog.page(revision, needs, parameters.cursor)


def _reader(kind: type[Any]) -> Callable[[msgspec.Raw], Any]:
    return msgspec.json.Decoder(kind).decode


_decode_bare: Final = _reader(BareParameters)

_UNKNOWN: Final = _Route(_decode_bare, None, None)
_ROUTES: Final = {
    "initialize": _Route(_reader(InitializeParameters), None, _initialize),
    "ping": _Route(_decode_bare, None, _ping),
    "server/discover": _Route(_decode_bare, _discover, None),
    "subscriptions/listen": _Route(_reader(ListenParameters), listen, None),
    "tools/call": _Route(_reader(CallParameters), call_tool, call_tool),
    "tools/list": _Route(_reader(ListParameters), _list_tools, _list_tools),
}
