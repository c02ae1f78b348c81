"""`tools/call`: from the parameters of a call to the JSON text of its result.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.resumption import start
from anyshape.server.catalog import Entry, ResultEncoder
from anyshape.server.exchange import Abandoned, Exchange, Interruption
from anyshape.server.failures import busy, invalid_params, missing_capability, stopping
from anyshape.server.parameters import CLIENT_CAPABILITIES, CallParameters
from anyshape.server.raw_object import RawObject
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
) -> bytes | Awaitable[bytes]:
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
) -> bytes | Awaitable[bytes]:
    """Answer a call of a client whose handshake has said what there is to say."""
    return _run(_find(parameters, exchange), parameters, exchange, revision)


def _find(parameters: CallParameters, exchange: Exchange) -> Entry:
    entry = exchange.service.catalog.entries.get(parameters.name)
    if entry is None:
        raise ProtocolError(f"Unknown tool: {parameters.name[:_SHOWN]}", code=INVALID_PARAMS)
    return entry


def _run(
    entry: Entry, parameters: CallParameters, exchange: Exchange, revision: Revision
) -> bytes | Awaitable[bytes]:
    """Run a call: its answer if it need not wait, else what remains of it."""
    service = exchange.service
    arguments = _arguments(parameters)
    if service.waiting >= service.most_waiting:
        raise busy(service.most_waiting)
    context = _context(parameters, exchange) if entry.takes_context else None
    variables = copy_context() if exchange.shares_task else None
    tracer = active_tracer()
    if tracer is not None:
        call = entry.tool.call(arguments, context)
        result = start(traced(tracer, parameters, exchange, call), variables)
    elif variables is None:
        result = entry.tool.begin(arguments, context)
    else:
        result = variables.run(entry.tool.begin, arguments, context)
        if not isinstance(result, EncodedResult):
            result = start(result, variables)
    encode = entry.encoders.get(revision)
    if encode is None:
        encode = service.catalog.encoder(entry, revision)
    if isinstance(result, EncodedResult):
        return encode(result)
    return _wait(entry, exchange, context, result, encode)


async def _wait(
    entry: Entry,
    exchange: Exchange,
    context: Context | None,
    rest: Awaitable[EncodedResult],
    encode: ResultEncoder,
) -> bytes:
    """Await what remains of a call, for as long as somebody wants its answer."""
    result: EncodedResult | None = None
    exchange.timeout = entry.timeout
    exchange.suspended()
    try:
        result = await rest
    except asyncio.CancelledError:
        if context is not None:
            context.cancel()
        if exchange.interruption is None:
            raise
    finally:
        exchange.settled()
    if exchange.interruption is not None or result is None:
        result = _interrupted(entry.tool.name, exchange)
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
