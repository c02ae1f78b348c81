"""`tools/call`: from the parameters of a call to the JSON text of its result.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.server.catalog import Entry
from anyshape.server.exchange import Abandoned, Exchange, Interruption
from anyshape.server.failures import busy, invalid_params, missing_capability, stopping
from anyshape.server.parameters import CLIENT_CAPABILITIES, CallParameters
from anyshape.server.raw_object import RawObject
from anyshape.server.suspension import watched
from anyshape.server.telemetry import active_tracer, traced
from anyshape.tools.context import Context
from anyshape.tools.failures import timed_out

__all__ = ["call_declared", "call_tool"]

_BRACE: Final = ord("{")
_SHOWN: Final = 128
_SHORT: Final = 20

_decode_id: Final = msgspec.json.Decoder(str | int | float).decode


def call_declared(
    parameters: CallParameters, exchange: Exchange, revision: Revision
) -> Awaitable[bytes]:
    """Answer a call that declares what it needs to be understood, if the declarations hold."""
    entry = _find(parameters, exchange)
    if entry.is_guarded:
        if exchange.headers is not None and entry.tool.headers:
            exchange.headers.check_arguments(entry.tool.headers, _arguments(parameters))
        if entry.requires:
            _check_capabilities(entry.requires, exchange.meta)
    return _run(entry, parameters, exchange, revision)


def call_tool(
    parameters: CallParameters, exchange: Exchange, revision: Revision
) -> Awaitable[bytes]:
    """Answer a call of a client whose handshake has said what there is to say."""
    return _run(_find(parameters, exchange), parameters, exchange, revision)


def _find(parameters: CallParameters, exchange: Exchange) -> Entry:
    entry = exchange.service.catalog.entries.get(parameters.name)
    if entry is None:
        raise ProtocolError(f"Unknown tool: {parameters.name[:_SHOWN]}", code=INVALID_PARAMS)
    return entry


async def _run(
    entry: Entry, parameters: CallParameters, exchange: Exchange, revision: Revision
) -> bytes:
    service = exchange.service
    arguments = _arguments(parameters)
    if service.waiting >= service.most_waiting:
        raise busy(service.most_waiting)
    exchange.timeout = entry.timeout
    context = _context(parameters, exchange) if entry.takes_context else None
    call = entry.tool.call(arguments, context)
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
        result = _interrupted(entry.tool.name, exchange)
    encode = entry.encoders.get(revision)
    if encode is None:
        encode = service.catalog.encoder(entry, revision)
    return encode(result)


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
