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
from anyshape.protocol.clients import Need
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

__all__ = ["call_tool"]

_BRACE: Final = ord("{")
_SHOWN: Final = 128
_SHORT: Final = 20

_decode_id: Final = msgspec.json.Decoder(str | int | float).decode


def call_tool(
    parameters: CallParameters, exchange: Exchange, revision: Revision
) -> bytes | Awaitable[bytes]:
    """Answer a call: at once if it need not wait, else by what is returned to be awaited."""
    service = exchange.service
    entry = service.catalog.entries.get(parameters.name)
    if entry is None:
        raise ProtocolError(f"Unknown tool: {parameters.name[:_SHOWN]}", code=INVALID_PARAMS)
    raw = parameters.arguments
    arguments = None if raw is UNSET else bytes(raw)
    if arguments is not None and arguments[0] != _BRACE:
        if arguments != b"null":
            raise invalid_params("arguments have to be an object")
        arguments = None  # How some clients say that there are none.
    if entry.is_guarded and revision.has_declared_calls:
        _check_declarations(entry, arguments, exchange)
    if (
        arguments is not None
        and b"null" in arguments
        and Need.NULL_FOR_ABSENT in exchange.needs_in(parameters.meta)
    ):
        arguments = entry.without_nulls(arguments)
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
        if context is not None:
            exchange.report_last()
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
        exchange.report_last()
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
        state=exchange.service.lifespan.state,
        report=None if token is UNSET else partial(exchange.report, token),
    )


def _check_declarations(entry: Entry, arguments: bytes | None, exchange: Exchange) -> None:
    """Raise unless headers and capabilities are declared as the tool needs them."""
    if exchange.headers is not None and entry.tool.headers:
        exchange.headers.check_arguments(entry.tool.headers, arguments)
    if entry.requires:
        _check_capabilities(entry.requires, exchange.meta)


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
