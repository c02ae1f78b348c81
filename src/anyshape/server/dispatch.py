"""From a request and its exchange to an encoded answer; knows no transport.

A route says how the parameters of a method are read and who answers it in each era. Which era a
request belongs to is decided here, per message, as "Backward Compatibility" in the versioning page
of revision 2026-07-28 says: by the revision named in `_meta`, else by what its transport knows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    encode_error,
    encode_notification,
    encode_response,
)
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import HANDSHAKE, LATEST_HANDSHAKE, MODERN, Revision
from anyshape.server.exchange import Abandoned, Exchange, Interruption
from anyshape.server.failures import (
    busy,
    invalid_params,
    method_not_found,
    missing_capability,
    missing_meta,
    not_acceptable,
    stopping,
    translate,
    unsupported_version,
)
from anyshape.server.lazy import RawObject
from anyshape.server.parameters import (
    CLIENT_CAPABILITIES,
    BareParameters,
    CallParameters,
    InitializeParameters,
    ListenParameters,
    ListParameters,
    Parameters,
)
from anyshape.server.suspension import watched
from anyshape.server.telemetry import active_tracer, traced
from anyshape.tools.context import Context
from anyshape.tools.failures import timed_out

__all__ = ["dispatch"]

_EMPTY: Final = msgspec.Raw(b"{}")
_BRACE: Final = ord("{")
_SPOKEN: Final = {revision.value: revision for revision in Revision}
_SHOWN: Final = 128
_SHORT: Final = 20

Answer = Callable[[Any, Exchange, Revision], bytes | Awaitable[bytes]]
"""Who answers a method: from its parameters to the JSON text of its result."""


class _Route(NamedTuple):
    """How a method is read, and who answers it in each era."""

    decode: Callable[[msgspec.Raw], Parameters]
    modern: Answer | None
    handshake: Answer | None


async def dispatch(
    method: str, parameters: CallParameters | msgspec.Raw | None, exchange: Exchange
) -> bytes | None:
    """Return the answer to a request, or `None` when nobody wants it any more.

    `parameters` are raw, or read already where a transport has read a call in one go.
    """
    try:
        route = _ROUTES.get(method, _UNKNOWN)
        if isinstance(parameters, CallParameters):
            read: Parameters = parameters
        else:
            read = _read(route, method, parameters or _EMPTY, exchange)
        revision, answer = _settle(route, method, read, exchange)
        result = answer(read, exchange, revision)
        if not isinstance(result, bytes):
            result = await result
        return encode_response(exchange.id, result)
    except Abandoned:
        return None
    except Exception as error:
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
    meta = parameters.meta
    version = meta.protocol_version
    if version is UNSET:
        revision = exchange.assumed(method)
    else:
        if headers is not None:
            headers.check_version(version)
        revision = _SPOKEN.get(version)
        if revision is None:
            raise unsupported_version(version)
    exchange.revision = revision
    if revision in MODERN:
        if meta.client_capabilities is UNSET:
            raise missing_meta(CLIENT_CAPABILITIES)
        if headers is not None:
            name = parameters.name if type(parameters) is CallParameters else None
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
    asked = Revision.parse(parameters.protocol_version)
    revision = asked if asked in HANDSHAKE else LATEST_HANDSHAKE
    exchange.revision = revision
    exchange.greet(revision, parameters)
    return exchange.service.catalog.greeting(revision, tells_changes=exchange.tells_changes)


def _ping(_parameters: Parameters, _exchange: Exchange, _revision: Revision) -> bytes:
    return b"{}"


def _discover(_parameters: Parameters, exchange: Exchange, revision: Revision) -> bytes:
    return exchange.service.catalog.discovery(revision)


def _list_tools(parameters: ListParameters, exchange: Exchange, revision: Revision) -> bytes:
    return exchange.service.catalog.page(revision, parameters.cursor)


async def _call_tool(parameters: CallParameters, exchange: Exchange, revision: Revision) -> bytes:
    service = exchange.service
    entry = service.catalog.entries.get(parameters.name)
    if entry is None:
        raise ProtocolError(f"Unknown tool: {parameters.name[:_SHOWN]}", code=INVALID_PARAMS)
    tool = entry.tool
    arguments = _arguments(parameters)
    if entry.is_guarded and revision.is_modern:
        if exchange.headers is not None and tool.headers:
            exchange.headers.check_arguments(tool.headers, arguments)
        if entry.requires:
            _check_capabilities(entry.requires, exchange.meta)
    if service.waiting >= service.most_waiting:
        raise busy(service.most_waiting)
    exchange.timeout = entry.timeout
    context = _context(parameters, exchange) if entry.takes_context else None
    call = tool.call(arguments, context)
    tracer = active_tracer()
    if tracer is not None:
        call = traced(tracer, parameters, exchange, call)
    result: EncodedResult | None = None
    try:
        result = await watched(call, exchange.suspended, exchange.variables())
    except asyncio.CancelledError:
        if context is not None:
            context.cancel()
        if exchange.interruption is None:
            raise
    finally:
        if exchange.waits:
            exchange.settled()
    if exchange.interruption is not None or result is None:
        result = _interrupted(tool.name, exchange)
    encode = entry.encoders.get(revision)
    if encode is None:
        encode = service.catalog.encoder(entry, revision)
    return encode(result)


async def _listen(parameters: ListenParameters, exchange: Exchange, revision: Revision) -> bytes:
    """Answer `subscriptions/listen`: acknowledge, tell of changes, and end when the server does."""
    service = exchange.service
    if not exchange.takes_stream:
        raise not_acceptable()
    allowed = service.options.max_subscriptions
    if len(service.subscriptions) >= allowed:
        raise busy(allowed, "subscriptions")
    tag = b'{"io.modelcontextprotocol/subscriptionId":%b}' % exchange.id
    wanted = parameters.notifications.tools_list_changed
    honoured = b'{"toolsListChanged":true}' if wanted else b"{}"
    exchange.send(
        encode_notification(
            "notifications/subscriptions/acknowledged",
            b'{"_meta":%b,"notifications":%b}' % (tag, honoured),
        )
    )
    changed = encode_notification("notifications/tools/list_changed", b'{"_meta":%b}' % tag)
    listener = service.listeners.add(partial(exchange.send, changed)) if wanted else None
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    service.subscriptions.add(ended)
    exchange.subscription = ended
    exchange.suspended()
    try:
        await ended
    except asyncio.CancelledError:
        if exchange.interruption is None:
            raise
        raise Abandoned from None
    finally:
        exchange.settled()
        service.subscriptions.discard(ended)
        if listener is not None:
            service.listeners.remove(listener)
    if exchange.announces_closing:
        exchange.send(
            encode_notification(
                "notifications/cancelled", b'{"_meta":%b,"requestId":%b}' % (tag, exchange.id)
            )
        )
    info = service.catalog.server_info(revision)
    return b'{"resultType":"complete","_meta":{%b,"io.modelcontextprotocol/serverInfo":%b}}' % (
        tag[1:-1],
        info,
    )


def _context(parameters: CallParameters, exchange: Exchange) -> Context:
    meta = parameters.meta
    token = meta.progress_token
    return Context(
        request_id=_read_id(exchange.id),
        meta=exchange.meta,
        client=exchange.client if meta.client_info is UNSET else RawObject(meta.client_info),
        access=exchange.access,
        report=None if token is UNSET else partial(exchange.report, token),
    )


def _arguments(parameters: CallParameters) -> bytes | None:
    """Return the arguments as JSON text; null is how some clients say that there are none."""
    raw = parameters.arguments
    if raw is UNSET:
        return None
    arguments = bytes(raw)
    if arguments[0] == _BRACE:
        return arguments
    if arguments == b"null":
        return None
    raise invalid_params("arguments have to be an object")


def _check_capabilities(required: Mapping[str, Any], meta: Mapping[str, Any]) -> None:
    missing = _lacking(required, meta[CLIENT_CAPABILITIES])
    if missing:
        raise missing_capability(missing)


def _lacking(required: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the required capabilities that was not declared."""
    missing: dict[str, Any] = {}
    for name, needed in required.items():
        found = declared.get(name)
        if not isinstance(found, Mapping):
            missing[name] = needed
        elif isinstance(needed, Mapping):
            inner = _lacking(cast("Mapping[str, Any]", needed), cast("Mapping[str, Any]", found))
            if inner:
                missing[name] = inner
    return missing


def _interrupted(tool: str, exchange: Exchange) -> EncodedResult:
    if exchange.interruption is Interruption.TIMED_OUT and exchange.timeout is not None:
        return timed_out(tool, exchange.timeout)
    if exchange.interruption is Interruption.STOPPED:
        raise stopping()
    raise Abandoned


def _read_id(id: bytes) -> str | int | float:
    if len(id) < _SHORT and id.isdigit():
        return int(id)
    try:
        return _decode_id(id)
    except msgspec.DecodeError:
        return id.decode()  # A number that Python cannot hold.


def _reader(kind: type[Any]) -> Callable[[msgspec.Raw], Any]:
    return msgspec.json.Decoder(kind).decode


_decode_id: Final = msgspec.json.Decoder(str | int | float).decode
_decode_bare: Final = _reader(BareParameters)

_UNKNOWN: Final = _Route(_decode_bare, None, None)
_ROUTES: Final = {
    "initialize": _Route(_reader(InitializeParameters), None, _initialize),
    "ping": _Route(_decode_bare, None, _ping),
    "server/discover": _Route(_decode_bare, _discover, None),
    "subscriptions/listen": _Route(_reader(ListenParameters), _listen, None),
    "tools/call": _Route(_reader(CallParameters), _call_tool, _call_tool),
    "tools/list": _Route(_reader(ListParameters), _list_tools, _list_tools),
}
