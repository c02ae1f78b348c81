"""The client: connect, list, call.

    async with Client("https://example.com/mcp") as client:
        users = await client.call("list_users", returns=list[User])

A server that misbehaves costs at most the call at hand: everything it sends is bounded in size,
depth, time and work before it is used, and every failure is an `AnyshapeError` that says what
happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from anyshape.client.answers import as_object
from anyshape.client.calling import Check, finish_call, read_answer, write_call
from anyshape.client.channel import Channel, not_open
from anyshape.client.conversion import converter_to
from anyshape.client.lifecycle import Introduction
from anyshape.client.listening import Listening
from anyshape.client.listing import EntryT, Feature, Listing
from anyshape.client.negotiation import Agreement, Negotiator, ServerInfo
from anyshape.client.options import Auth, Bounds, Http, Identity, Process
from anyshape.client.progress import OnProgress
from anyshape.client.quoting import shorten
from anyshape.client.result import CallResult
from anyshape.client.target import Target, choose_revision, make_transport
from anyshape.client.tools import ListedTool, Terms, tool_feature
from anyshape.errors import AnyshapeError, ProtocolError, RemoteToolError, TransportError
from anyshape.protocol.jsonrpc import HEADER_MISMATCH
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.ordinary import OrdinaryResult
from anyshape.schema import Limits, WouldWait, aside

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from typing_extensions import TypeForm

    from anyshape.agents import FormatName, Toolbox
    from anyshape.providers import Profile

__all__ = ["Client", "Target"]

T = TypeVar("T")

_UNTYPED: Final = object()


class Client:
    """A connection to one server, opened and closed by `async with`.

    `target` is a URL, a command as a list of strings, or a `Server` (in memory). `revision` is
    `"auto"`, or the one revision to speak; with `or_older` it is offered, and an older one that the
    server answers with is spoken. `timeout` bounds every request, in seconds; `None` waits for
    ever. `auth` is a bearer token, or a sync or async callable that gives one or the headers to
    send, asked again when the server answers 401. `check_arguments` is whether arguments are
    checked before they are sent; `"lenient"` lets calls through that leave out what has a default,
    although the schema requires it. `trust_annotations` believes a server which says that calling
    a tool twice does no harm: such calls are sent again when the connection is lost. `limits` bound
    what the server's schemas may cost, `bounds` what its answers may; `http`, `process` and
    `identity` say how to reach it and how to introduce ourselves.
    """

    def __init__(
        self,
        target: Target,
        *,
        revision: str | Revision = "auto",
        or_older: bool = False,
        timeout: float | None = 60.0,
        auth: Auth | None = None,
        check_arguments: Check = True,
        trust_annotations: bool = False,
        unwrap: bool = True,
        listen: bool = True,
        limits: Limits | None = None,
        bounds: Bounds | None = None,
        http: Http | None = None,
        process: Process | None = None,
        identity: Identity | None = None,
    ) -> None:
        self._wanted = choose_revision(revision)
        self._or_older = or_older
        self._timeout = timeout
        self._check_arguments: Check = check_arguments
        self._trust_annotations = trust_annotations
        self._unwrap = unwrap
        self._listen = listen
        self._limits = limits or Limits()
        self._bounds = bounds or Bounds()
        self._channel = Channel(
            make_transport(target, self._bounds, http or Http(), process or Process(), auth),
            self._bounds,
        )
        introduction = Introduction(identity or Identity())
        self._negotiator = Negotiator(self._channel, introduction, timeout)
        self._listening = Listening(self._channel)
        self._tools = Listing(self._channel, tool_feature(Terms(limits=self._limits)))
        self._agreement: Agreement | None = None
        self._open = False

    async def __aenter__(self) -> Client:
        """Connect, and agree on a revision."""
        if self._open:
            raise TransportError("the client is open already")
        self._open = True
        channel = self._channel
        try:
            await channel.open()
            agreement = await self._negotiator.agree(self._wanted, or_older=self._or_older)
        except BaseException:
            self._open = False
            await channel.close()
            raise
        self._agreement = agreement
        revision = agreement.lifecycle.revision
        terms = Terms(
            revision=revision,
            limits=self._limits,
            unwrap=self._unwrap,
            has_headers=channel.transport.has_headers and revision.has_declared_calls,
            trust_annotations=self._trust_annotations,
            has_tasks=agreement.has_tasks,
        )
        self._tools = self._make_listing(tool_feature(terms), agreement)
        channel.lifecycle = agreement.lifecycle
        channel.reopen = self._reopen
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop listening, end what is in flight, and close."""
        self._open = False
        await self._listening.stop()
        self._channel.lifecycle = None
        await self._channel.close()

    @property
    def revision(self) -> Revision:
        """The revision that was agreed on."""
        return self._agreed().lifecycle.revision

    @property
    def server(self) -> ServerInfo:
        """What the server says of itself."""
        return self._agreed().server

    @property
    def rejected(self) -> Mapping[str, AnyshapeError]:
        """The tools of the last listing that cannot be used, and why."""
        return self._tools.rejected

    @property
    def listed(self) -> Mapping[str, ListedTool] | None:
        """The tools of the last listing, by name; `None` if there is none that still holds.

        It holds until the server announces a change, or until the lifetime is over that it gave.
        """
        return self._tools.entries if self._tools.is_usable else None

    async def list_tools(self, *, timeout: float | None = None) -> list[ListedTool]:
        """Return every usable tool; `rejected` has the others.

        The server is asked unless it said that its last answer still holds.
        """
        return await self._tools.current(self._limit(timeout))

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        check_arguments: Check | None = None,
    ) -> CallResult:
        """Call a tool and return what it came to.

        `ValidationError` if the arguments break the tool's schema (nothing is sent then),
        `OutputMismatch` if the answer does, `ProtocolError` or `TransportError` if there is none.
        `meta` is sent as the `_meta` of the request, beside what the protocol keeps there itself.
        """
        limit = self._timeout if timeout is None else timeout
        check = self._check_arguments if check_arguments is None else check_arguments
        listing, channel = self._tools, self._channel
        tool = listing.get(name) or await listing.find(name, limit)
        try:
            question = write_call(tool, arguments, meta, on_progress, check=check)
        except WouldWait:
            question = await aside(write_call, tool, arguments, meta, on_progress, check=check)
        fetches = listing.fetches
        try:
            result = channel.begin(question, limit)
            if not isinstance(result, OrdinaryResult):
                result = await finish_call(channel, tool, question, limit, result)
        except ProtocolError as error:
            if error.code != HEADER_MISMATCH:
                raise
            # The headers follow the tool's schema: it may have changed since it was listed.
            await listing.fetch(limit, newer_than=fetches)
            tool = await listing.find(name, limit)
            question = await aside(write_call, tool, arguments, meta, on_progress, check=check)
            result = channel.begin(question, limit)
            result = await finish_call(channel, tool, question, limit, result)
        try:
            return read_answer(tool, result)
        except WouldWait:
            return await aside(read_answer, tool, result)

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        check_arguments: Check | None = None,
    ) -> Any: ...

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: TypeAdapter[T],
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        check_arguments: Check | None = None,
    ) -> T: ...

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: TypeForm[T],
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        check_arguments: Check | None = None,
    ) -> T: ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Any = _UNTYPED,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        check_arguments: Check | None = None,
    ) -> Any:
        """Call a tool and return its value, as a `returns` if that is given.

        `ToolError` if the tool failed; `OutputMismatch` if its value does not satisfy its schema or
        `returns`. A tool that answers in words only gives its text, read as `returns`. `TypeError`,
        before anything is sent, if `returns` is no type that values can be read as.
        """
        converter = None if returns is _UNTYPED else converter_to(returns)
        result = await self.call_tool(
            name,
            arguments,
            timeout=timeout,
            on_progress=on_progress,
            meta=meta,
            check_arguments=check_arguments,
        )
        if result.is_error:
            reason = result.text or f"tool {shorten(name, 60)!r} failed and gave no reason"
            raise RemoteToolError(reason)
        if converter is not None:
            return converter.convert(result, name)
        return result.value if result.has_value else result.text

    async def toolbox(
        self,
        profile: Profile | str,
        *,
        format: FormatName | None = None,
        tokens: int | None = None,
        search: bool = False,
        images: bool = True,
        timeout: float | None = None,
    ) -> Toolbox:
        """Return the tools as a model's provider wants them: definitions, and a way to call them.

        See `anyshape.agents.toolbox`, which also takes several clients.
        """
        from anyshape.agents import toolbox

        return await toolbox(
            self,
            profile,
            format=format,
            tokens=tokens,
            search=search,
            images=images,
            timeout=timeout,
        )

    # Inside.

    def _agreed(self) -> Agreement:
        if self._agreement is None:
            raise not_open()
        return self._agreement

    def _limit(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout

    def _make_listing(self, feature: Feature[EntryT], agreement: Agreement) -> Listing[EntryT]:
        """Return what a server lists, to be listed anew whenever it announces a change."""
        offered = as_object(agreement.server.capabilities.get(feature.capability))
        hears = self._listen and offered.get("listChanged") is True
        listing = Listing(
            self._channel,
            feature,
            offered=agreement.offers(feature.capability),
            listening=self._listening if hears else None,
        )
        changed = f"notifications/{feature.capability}/list_changed"
        self._channel.heard[changed] = listing.invalidate
        return listing

    async def _reopen(self) -> None:
        lifecycle = self._channel.agreed()
        self._tools.invalidate()
        if lifecycle.stateful:
            revision = lifecycle.revision
            agreement = await self._negotiator.handshake(revision, (revision,))
            self._channel.lifecycle = agreement.lifecycle
