"""Tools: `tools/list`, and `tools/call` from the parameters of a call to the text of its result.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError, ToolDefinitionError
from anyshape.protocol.clients import Needs
from anyshape.protocol.jsonrpc import INVALID_PARAMS
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.protocol.methods import TOOLS_CALL, TOOLS_CHANGED, TOOLS_LIST
from anyshape.protocol.result import EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import Encode, ShapeOptions, shape
from anyshape.protocol.shapes.meaning import Meaning, may_mean_less
from anyshape.resumption import start
from anyshape.server.exchange import Abandoned, Exchange, Interruption
from anyshape.server.failures import busy, invalid_params, missing_capability, stopping
from anyshape.server.features.announcements import Topic
from anyshape.server.features.feature import Feature, Method
from anyshape.server.features.roster import Listed, Roster
from anyshape.server.parameters import CallParameters, ListParameters
from anyshape.server.raw_object import RawObject
from anyshape.server.telemetry import active_tracer, traced
from anyshape.tools.context import Context
from anyshape.tools.failures import timed_out
from anyshape.tools.tool import Tool

if TYPE_CHECKING:
    from anyshape.server.service import Service

__all__ = ["OfferedTool", "Tools"]

_BRACE: Final = ord("{")
_SHOWN: Final = 128
_SHORT: Final = 20

_decode_id: Final = msgspec.json.Decoder(str | int | float).decode


class OfferedTool(Listed):
    """A tool that a server offers, with what has been made for it per revision."""

    __slots__ = (
        "_meaning",
        "_shape_options",
        "encoders",
        "is_guarded",
        "requires",
        "takes_context",
        "timeout",
        "tool",
    )

    def __init__(
        self,
        tool: Tool,
        requires: Mapping[str, Any] | None,
        timeout: float | None,
        shape_options: ShapeOptions,
    ) -> None:
        super().__init__(tool.name)
        self.tool = tool
        self.timeout = timeout if tool.timeout is None else None
        """Seconds until the server ends a call; a tool with a time-out of its own does that."""
        self.requires = requires
        self.is_guarded = bool(requires) or bool(tool.headers)
        """Whether a modern call is checked for more than its arguments."""
        self.takes_context = tool.takes_context
        """Whether the function asks for a `Context`; most calls can do without one."""
        self.encoders: dict[Revision, Encode] = {}
        self._meaning: Meaning | None = None
        self._shape_options = shape_options

    def describe(self, revision: Revision, needs: Needs) -> Mapping[str, Any]:
        """Return the `tools/list` entry."""
        return shape(revision).entry(self.tool.listing, self._shape_options, needs)

    def make_encoder(self, revision: Revision, server_info: bytes) -> Encode:
        """Return what turns a natural result into the revision's `result`, and keep it."""
        encode = self.encoders[revision] = shape(revision).result_encoder(
            self.tool.listing.output_schema, self._shape_options, server_info
        )
        return encode

    def meant(self, arguments: bytes, needs: Needs) -> bytes:
        """Return what a client with such needs means by the arguments it sends."""
        if self._meaning is None:
            self._meaning = Meaning(self.tool.listing.input_schema)
        return self._meaning.of(arguments, needs)


class Tools(Feature):
    """The tools of a server."""

    changes: ClassVar[Mapping[str, Topic]] = {"toolsListChanged": Topic(TOOLS_CHANGED)}

    def __init__(self, service: Service) -> None:
        self._service = service
        self.roster: Roster[OfferedTool] = Roster(
            service,
            "tools",
            self.changes["toolsListChanged"],
            lambda revision: shape(revision).family.listing_needs,
        )
        self._find = self.roster.things.get
        self.methods = {
            TOOLS_LIST: Method(ListParameters, self.roster.list),
            TOOLS_CALL: Method(CallParameters, self.call, named="name"),
        }

    def capabilities(self, revision: Revision, *, tells_changes: bool) -> Mapping[str, Any]:
        """Return the `tools` capability, which every revision has."""
        return {"tools": {"listChanged": tells_changes}}

    def add(self, tool: Tool, requires: Mapping[str, Any] | None = None) -> None:
        """Offer a tool under a name that is free."""
        options = self._service.options
        if not self.roster.add(OfferedTool(tool, requires, options.call_timeout, options.shape)):
            raise ToolDefinitionError(
                f"a tool named {tool.name!r} is already there; "
                "give this one another name, or remove that one first"
            )

    def call(self, parameters: CallParameters, exchange: Exchange) -> bytes | Awaitable[bytes]:
        """Answer a call: at once if it need not wait, else by what is returned to be awaited."""
        service = self._service
        revision = exchange.revision
        offered = self._find(parameters.name)
        if offered is None:
            raise ProtocolError(f"Unknown tool: {parameters.name[:_SHOWN]}", code=INVALID_PARAMS)
        raw = parameters.arguments
        arguments = None if raw is UNSET else bytes(raw)
        if arguments is not None and arguments[0] != _BRACE:
            if arguments != b"null":
                raise invalid_params("arguments have to be an object")
            arguments = None  # How some clients say that there are none.
        if offered.is_guarded and revision.has_declared_calls:
            _check_declarations(offered, arguments, exchange)
        if arguments is not None and may_mean_less(arguments):
            arguments = offered.meant(arguments, exchange.needs_in(parameters.meta))
        if service.waiting >= service.most_waiting:
            raise busy(service.most_waiting)
        context = _context(parameters, exchange) if offered.takes_context else None
        variables = copy_context() if exchange.shares_task else None
        tracer = active_tracer()
        if tracer is not None:
            call = offered.tool.call(arguments, context)
            result = start(traced(tracer, parameters, exchange, call), variables)
        elif variables is None:
            result = offered.tool.begin(arguments, context)
        else:
            result = variables.run(offered.tool.begin, arguments, context)
            if not isinstance(result, EncodedResult):
                result = start(result, variables)
        encode = offered.encoders.get(revision)
        if encode is None:
            encode = offered.make_encoder(revision, service.introduction.server_info(revision))
        if isinstance(result, EncodedResult):
            if context is not None:
                exchange.report_last()
            return encode(result)
        return _wait(offered, exchange, context, result, encode)


async def _wait(
    offered: OfferedTool,
    exchange: Exchange,
    context: Context | None,
    rest: Awaitable[EncodedResult],
    encode: Encode,
) -> bytes:
    """Await what remains of a call, for as long as somebody wants its answer."""
    result: EncodedResult | None = None
    exchange.timeout = offered.timeout
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
        result = _interrupted(offered.tool.name, exchange)
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


def _check_declarations(offered: OfferedTool, arguments: bytes | None, exchange: Exchange) -> None:
    """Raise unless headers and capabilities are declared as the tool needs them."""
    if exchange.headers is not None and offered.tool.headers:
        exchange.headers.check_arguments(offered.tool.headers, arguments)
    if offered.requires:
        _check_capabilities(offered.requires, exchange.meta)


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
