"""Tools: `tools/list`, and `tools/call` from the parameters of a call to the text of its result.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import UNSET

from anyshape.errors import ToolDefinitionError
from anyshape.protocol.capabilities import are_capabilities, lacking
from anyshape.protocol.clients import Needs
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.protocol.methods import TOOLS_CALL, TOOLS_CHANGED, TOOLS_LIST
from anyshape.protocol.result import ABSENT, EncodedResult, ToolResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import Encode, shape
from anyshape.protocol.shapes.client_additions import ClientAdditions
from anyshape.schema import text_size
from anyshape.server.failures import invalid_params, missing_capability, unknown_tool
from anyshape.server.features.announcements import Topic
from anyshape.server.features.calls import (
    check_room,
    end_reports,
    expect_context,
    make_context,
)
from anyshape.server.features.feature import Feature, Method
from anyshape.server.features.roster import Listed, Roster
from anyshape.server.parameters import CallParameters, ListParameters
from anyshape.server.request import OpenRequest
from anyshape.server.telemetry import Traced, active_tracer, traced
from anyshape.tools.failures import timed_out
from anyshape.tools.outputs import OutputKind
from anyshape.tools.results import finisher
from anyshape.tools.serialization import encode_json
from anyshape.tools.tool import Tool

if TYPE_CHECKING:
    from anyshape.server.features.tasks import TaskRule
    from anyshape.server.service import Service

_BRACE: Final = ord("{")
_LARGE: Final = 100_000
"""Bytes of schemas that may take some hundredths of a second to be put into another form."""
_NONE: Final = (None, b"{}", b"null")
"""How clients say that there are no arguments."""

_finish_any: Final = finisher("", OutputKind.BY_VALUE, encode_json, promises=False)


class OfferedTool(Listed):
    """A tool that a server offers, with what has been made for it per revision."""

    def __init__(
        self,
        tool: Tool,
        requires: Mapping[str, Any] | None,
        service: Service,
        task: TaskRule | None = None,
    ) -> None:
        super().__init__(tool.name)
        self.tool = tool
        self.timeout = service.options.call_timeout if tool.timeout is None else None
        """Seconds until the server ends a call; a tool with a time-out of its own does that."""
        self.requires = requires
        self.task = task
        """How its calls become tasks, if they may."""
        self.is_guarded = bool(requires) or bool(tool.headers) or task is not None
        """Whether a call is looked at for more than its arguments."""
        self.takes_context = tool.takes_context
        """Whether the function asks for a `Context`; most calls can do without one."""
        self._service = service
        self.encoders: dict[Revision, Encode] = {}
        self._additions: ClientAdditions | None = None

    def describe(self, revision: Revision, needs: Needs) -> Mapping[str, Any]:
        """Return the `tools/list` entry."""
        return shape(revision).entry(self.tool.listing, self._service.options.shape, needs)

    @property
    def is_large(self) -> bool:
        """Whether its schemas are long."""
        listing = self.tool.listing
        return text_size(listing.input_schema) + text_size(listing.output_schema) > _LARGE

    def make_encoder(self, revision: Revision) -> Encode:
        """Make what turns natural results into the `result` of a revision, and keep it."""
        encode = self.encoders[revision] = shape(revision).result_encoder(
            self.tool.listing.output_schema,
            self._service.options.shape,
            self._service.server_info(revision),
        )
        return encode

    def late_result(self, revision: Revision) -> bytes:
        """Return the `result` of a call that has taken too long."""
        encode = self.encoders.get(revision) or self.make_encoder(revision)
        return encode(timed_out(self.name, self.timeout or 0))

    def meant(self, arguments: bytes, needs: Needs) -> bytes:
        """Return what a client with such needs means by the arguments it sends."""
        if self._additions is None:
            self._additions = ClientAdditions(self.tool.listing.input_schema)
        return self._additions.removed_from(arguments, needs)


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

    def add(
        self,
        tool: Tool,
        requires: Mapping[str, Any] | None = None,
        task: TaskRule | None = None,
    ) -> None:
        """Offer a tool under a name that is free."""
        if requires is not None and not are_capabilities(requires):
            raise ToolDefinitionError(
                f"{tool.name}: requires has to be capabilities as clients declare them, "
                f'such as {{"sampling": {{}}}}, got {requires!r:.60}'
            )
        offered = OfferedTool(tool, requires, self._service, task)
        if not self.roster.add(offered):
            raise ToolDefinitionError(
                f"a tool named {tool.name!r} is already there; "
                "give this one another name, or remove that one first"
            )
        expect_context(self._service, tool)

    async def call(self, parameters: CallParameters, request: OpenRequest) -> bytes:
        """Answer a call."""
        service = self._service
        peer = request.peer
        revision = request.revision
        offered = self._find(parameters.name)
        if offered is None:
            raise unknown_tool(parameters.name, service.absence)
        raw = parameters.arguments
        arguments = None if raw is UNSET else bytes(raw)
        if arguments in _NONE:
            arguments = None
        elif arguments[0] != _BRACE:
            raise invalid_params("arguments have to be an object")
        becomes_task = offered.is_guarded and _guard(offered, arguments, request)
        if arguments is not None:
            # Who asks is looked up at once; arguments may be long, and are searched for few.
            needs = peer.needs_in(parameters.meta)
            if needs:
                arguments = offered.meant(arguments, needs)
        if becomes_task and offered.task is not None:
            return await offered.task.tasks.begin(offered, arguments, parameters, request)
        check_room(service)
        context = (
            make_context(parameters.meta, request, parameters) if offered.takes_context else None
        )
        request.limit = offered
        tracer = active_tracer()
        call = offered.tool.call(arguments, context)
        if tracer is not None:
            about = Traced.tool(parameters.name)
            call = traced(tracer, about, parameters.meta, request, call)
        result = await call
        if context is not None:
            end_reports(request)
        encode = offered.encoders.get(revision) or offered.make_encoder(revision)
        return encode(result)

    async def write(self, name: str, revision: Revision, result: ToolResult[Any]) -> bytes:
        """Return the `result` of a call that somebody else has answered for the tool."""
        offered = self._find(name)
        if offered is None:
            finished = _finish_any(result)
        else:
            finished = await offered.tool.finish(result)
        return self.encode(name, revision, finished)

    def encode(self, name: str, revision: Revision, result: EncodedResult) -> bytes:
        """Return a result as the tool of that name would give it, whether it is there or not."""
        offered = self._find(name)
        if offered is not None:
            return (offered.encoders.get(revision) or offered.make_encoder(revision))(result)
        info = self._service.server_info(revision)
        return shape(revision).result_encoder(ABSENT, self._service.options.shape, info)(result)


def _guard(offered: OfferedTool, arguments: bytes | None, request: OpenRequest) -> bool:
    """Raise unless a call declares what its tool needs; tell whether it becomes a task."""
    if request.revision.has_declared_calls:
        _check_declarations(offered, arguments, request)
    return offered.task is not None and offered.task.takes(request)


def _check_declarations(
    offered: OfferedTool, arguments: bytes | None, request: OpenRequest
) -> None:
    """Raise unless headers and capabilities are declared as the tool needs them."""
    headers = request.peer.headers
    if headers is not None and offered.tool.headers:
        headers.check_arguments(offered.tool.headers, arguments)
    if offered.requires:
        missing = lacking(offered.requires, request.meta[CLIENT_CAPABILITIES])
        if missing:
            raise missing_capability(missing)
