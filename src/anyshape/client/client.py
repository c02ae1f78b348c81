"""The client: connect, list, call.

    async with Client("https://example.com/mcp") as client:
        users = await client.call("list_users", returns=list[User])

A server that misbehaves costs at most the call at hand: everything it sends is bounded in size,
depth, time and work before it is used, and every failure is an `AnyshapeError` that says what
happened.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from anyshape.client.admission import ListedTool, Terms, admit
from anyshape.client.answers import as_object
from anyshape.client.calling import Check, read_answer, settle_call, write_call
from anyshape.client.exchange import Exchange, not_open
from anyshape.client.listing import Listing
from anyshape.client.negotiation import Agreement, ServerInfo, agree, handshake
from anyshape.client.options import Auth, Bounds, Http, Identity, Process
from anyshape.client.progress import OnProgress
from anyshape.client.question import Question
from anyshape.client.quoting import shorten
from anyshape.client.result import CallResult
from anyshape.client.target import Target, choose_revision, make_transport
from anyshape.client.transports.transport import ConnectionLost
from anyshape.client.typed import converter_to
from anyshape.errors import AnyshapeError, ProtocolError, RemoteToolError, TransportError
from anyshape.protocol.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.ordinary import OrdinaryResult
from anyshape.schema import Limits, WouldWait, aside

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from typing_extensions import TypeForm

    from anyshape.agents import FormatName, Toolbox
    from anyshape.providers import Profile

__all__ = ["Client", "Target"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

_UNTYPED: Final = object()
_LISTEN: Final = Question(
    "subscriptions/listen", b'"notifications":{"toolsListChanged":true}', repeatable=True
)


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
        self._identity = identity or Identity()
        self._exchange = Exchange(
            make_transport(target, self._bounds, http or Http(), process or Process(), auth),
            self._bounds,
        )
        self._listing = Listing(self._exchange, self._admit, offered=False)
        self._agreement: Agreement | None = None
        self._terms: Terms | None = None
        self._listener: asyncio.Task[None] | None = None
        self._open = False

    async def __aenter__(self) -> Client:
        """Connect, and agree on a revision."""
        if self._open:
            raise TransportError("the client is open already")
        self._open = True
        exchange = self._exchange
        try:
            await exchange.open()
            agreement = await agree(
                exchange, self._wanted, self._identity, self._timeout, or_older=self._or_older
            )
        except BaseException:
            self._open = False
            await exchange.close()
            raise
        self._agreement = agreement
        revision = agreement.lifecycle.revision
        self._terms = Terms(
            revision=revision,
            limits=self._limits,
            unwrap=self._unwrap,
            has_headers=exchange.transport.has_headers and revision.has_declared_calls,
            trust_annotations=self._trust_annotations,
            has_tasks=agreement.has_tasks,
        )
        self._listing = Listing(exchange, self._admit, offered=agreement.offers_tools)
        exchange.lifecycle = agreement.lifecycle
        exchange.on_tools_changed = self._listing.invalidate
        exchange.reopen = self._reopen
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop listening, end what is in flight, and close."""
        self._open = False
        listener, self._listener = self._listener, None
        if listener is not None:
            listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await listener
        self._exchange.lifecycle = None
        await self._exchange.close()

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
        return self._listing.rejected

    @property
    def listed(self) -> Mapping[str, ListedTool] | None:
        """The tools of the last listing, by name; `None` if there is none that still holds.

        It holds until the server announces a change, or until the lifetime is over that it gave.
        """
        return self._listing.tools if self._listing.is_usable else None

    async def list_tools(self, *, timeout: float | None = None) -> list[ListedTool]:
        """Return every usable tool; `rejected` has the others.

        The server is asked unless it said that its last answer still holds.
        """
        self._exchange.agreed()
        if not self._listing.is_fresh:
            await self._start_listening()
            await self._listing.fetch(self._limit(timeout))
        return list(self._listing.tools.values())

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
        listing, exchange = self._listing, self._exchange
        tool = listing.get(name) or await self._find(name, limit)
        try:
            question = write_call(tool, arguments, meta, on_progress, check=check)
        except WouldWait:
            question = await aside(write_call, tool, arguments, meta, on_progress, check=check)
        fetches = listing.fetches
        try:
            result = exchange.begin(question, limit)
            if not isinstance(result, OrdinaryResult):
                result = await settle_call(exchange, tool, question, limit, result)
        except ProtocolError as error:
            if error.code != HEADER_MISMATCH:
                raise
            # The headers follow the tool's schema: it may have changed since it was listed.
            await listing.fetch(limit, newer_than=fetches)
            tool = await self._find(name, limit)
            question = await aside(write_call, tool, arguments, meta, on_progress, check=check)
            result = exchange.begin(question, limit)
            result = await settle_call(exchange, tool, question, limit, result)
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

    def _admit(self, name: str, entry: Mapping[str, Any], light: bool) -> ListedTool:
        if self._terms is None:
            raise not_open()
        return admit(name, entry, self._terms, light=light)

    def _agreed(self) -> Agreement:
        if self._agreement is None:
            raise not_open()
        return self._agreement

    def _limit(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout

    async def _find(self, name: str, timeout: float | None) -> ListedTool:
        """Return a tool, listing first if it was not or if the list may have changed."""
        self._exchange.agreed()
        listing = self._listing
        if listing.get(name) is None and (name not in listing.rejected or not listing.is_usable):
            await self._start_listening()
            try:
                await listing.fetch(timeout)
            except AnyshapeError:
                # A list that could not be renewed still says what the tools were.
                if name not in listing.tools:
                    raise
        tool = listing.tools.get(name)
        if tool is not None:
            return tool
        place = self._exchange.transport.place
        shown = shorten(name, 60)
        reason = listing.rejected.get(name)
        if reason is not None:
            raise ProtocolError(
                f"tool {shown!r} of {place} cannot be used: {reason}", code=INVALID_PARAMS
            ) from reason
        known = shorten(", ".join(list(listing.tools)[:20]), 200) or "none"
        raise ProtocolError(
            f"{place} has no tool {shown!r}; it lists: {known}", code=INVALID_PARAMS
        )

    async def _start_listening(self) -> None:
        """Ask to be told of changes, before the list is asked for whose changes are meant."""
        if not self._listen or self._listener is not None:
            return
        tools = as_object(self.server.capabilities.get("tools"))
        if tools.get("listChanged") is True:
            self._listener = asyncio.get_running_loop().create_task(self._hear_changes())
            await asyncio.sleep(0)

    async def _hear_changes(self) -> None:
        """Hear of changes to the list for as long as the server tells; lifetimes cover the rest."""
        lifecycle = self._exchange.agreed()
        try:
            if lifecycle.stateful:
                ended = await self._exchange.transport.overhear(lifecycle.headers(""))
            else:
                await self._exchange.ask(lifecycle, _LISTEN, endless=True)
                ended = True
            if ended:
                self._listener = None
        except ConnectionLost:
            # The next listing asks again; a server that refused is not asked twice.
            self._listener = None
        except AnyshapeError:
            pass
        except Exception:
            logger.exception("could not listen for changes")

    async def _reopen(self) -> None:
        lifecycle = self._exchange.agreed()
        self._listing.invalidate()
        if lifecycle.stateful:
            revision = lifecycle.revision
            agreement = await handshake(
                self._exchange, revision, (revision,), self._identity, self._timeout
            )
            self._exchange.lifecycle = agreement.lifecycle
