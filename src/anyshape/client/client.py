"""The client: connect, list, call.

    async with Client("https://example.com/mcp") as client:
        users = await client.call("list_users", returns=list[User])

A server that misbehaves costs at most the call at hand: everything it sends is bounded in size,
depth, time and work before it is used, and every failure is an `AnyshapeError` that says what
happened.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack, overload

from anyshape.client.answering import Answering
from anyshape.client.calling import CallOptions, Check, complete_call, read_answer, write_call
from anyshape.client.channel import Channel, Result
from anyshape.client.connection import ServerConnection
from anyshape.client.conversion import converter_to
from anyshape.client.deadlines import Deadlines
from anyshape.client.elicitation import OnElicit
from anyshape.client.features import ReadsFeatures
from anyshape.client.lifecycle import ClientIntroduction
from anyshape.client.listening import OnListChanged
from anyshape.client.listing import Listing
from anyshape.client.logs import OnLog
from anyshape.client.options import Auth, Bounds, Http, Identity, Process
from anyshape.client.progress import OnProgress
from anyshape.client.quoting import shorten
from anyshape.client.request import ClientRequest
from anyshape.client.result import CallResult
from anyshape.client.roots import Roots
from anyshape.client.sampling import OnSample, Sampling
from anyshape.client.target import Target, choose_revision, make_transport
from anyshape.client.tools import ListedTool, Terms, tool_feature
from anyshape.client.transports.observed import ObservedTransport, OnFrame
from anyshape.errors import AnyshapeError, ProtocolError, RemoteToolError, TransportError
from anyshape.protocol.jsonrpc import HEADER_MISMATCH
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult
from anyshape.schema import Limits, WouldWait, aside

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from typing_extensions import TypeForm

    from anyshape.agents import FormatName, Toolbox
    from anyshape.client.tasks import RemoteTask
    from anyshape.providers import Profile

T = TypeVar("T")

_UNTYPED: Final = object()


class Client(ReadsFeatures):
    """A connection to one server, opened and closed by `async with`.

    `target` is a URL, a command as a list of strings, or a `Server` (in memory). `revision` is
    `"auto"`, or the one revision to speak; with `or_older` it is offered, and an older one that the
    server answers with is spoken. `timeout` bounds every request, in seconds; `None` waits for
    ever. `auth` is a bearer token, a sync or async callable that gives one or the headers to send,
    asked again when the server answers 401, or an `OAuth` (`anyshape.client.auth`).
    `check_arguments` is whether arguments are checked before they are sent; `"lenient"` lets calls
    through that leave out what has a default, although the schema requires it. `trust_annotations`
    believes a server which says that calling a tool twice does no harm: such calls are sent again
    when the connection is lost. `limits` bound what the server's schemas may cost, `bounds` what
    its answers may; `http`, `process` and `identity` say how to reach it and how to introduce
    ourselves.

    A server may ask back while it works: `on_elicit` asks the user, `on_sample` a model, and
    `roots` are the directories it may know of; what is not given is not offered to servers.
    `on_log` is told what the server logs, `on_list_changed` that it may list other tools, prompts
    or resources than it did when it was asked, and `on_lost` that it may have gone: its process
    ended, or the stream broke on which it tells of changes. Without `check_results` values are not
    judged by their tools' schemas. `on_frame` is told of every message that passes, for debugging.
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
        check_results: bool = True,
        trust_annotations: bool = False,
        unwrap: bool = True,
        listen: bool = True,
        limits: Limits | None = None,
        bounds: Bounds | None = None,
        http: Http | None = None,
        process: Process | None = None,
        identity: Identity | None = None,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | Sampling | None = None,
        roots: Roots | None = None,
        on_log: OnLog | None = None,
        on_list_changed: OnListChanged | None = None,
        on_lost: Callable[[], object] | None = None,
        on_frame: OnFrame | None = None,
    ) -> None:
        self._wanted = choose_revision(revision)
        self._or_older = or_older
        self._timeout = timeout
        self._check_arguments: Check = check_arguments
        self._check_results = check_results
        self._trust_annotations = trust_annotations
        self._unwrap = unwrap
        self._limits = limits or Limits()
        self._bounds = bounds or Bounds()
        deadlines = Deadlines(self._bounds.answer_timeout)
        transport = make_transport(
            target, self._bounds, http or Http(), process or Process(), auth, deadlines
        )
        if on_frame is not None:
            transport = ObservedTransport(transport, on_frame)
        answering = Answering(
            transport.place, self._limits, on_elicit=on_elicit, on_sample=on_sample, roots=roots
        )
        self._channel = Channel(transport, self._bounds, answering, deadlines)
        introduction = ClientIntroduction(identity or Identity(), answering.capabilities)
        self._connection = ServerConnection(
            self._channel,
            introduction,
            timeout,
            listen=listen,
            on_log=on_log,
            on_list_changed=on_list_changed,
            on_lost=on_lost,
        )
        self._tools = Listing(self._channel, tool_feature(Terms(limits=self._limits)))
        self._open = False

    async def __aenter__(self) -> Client:
        """Connect, and agree on a revision."""
        if self._open:
            raise TransportError("the client is open already")
        self._open = True
        try:
            agreement = await self._connection.open(self._wanted, or_older=self._or_older)
        except BaseException:
            self._open = False
            raise
        revision = agreement.lifecycle.revision
        terms = Terms(
            revision=revision,
            limits=self._limits,
            unwrap=self._unwrap,
            has_headers=self._channel.transport.has_headers and revision.has_declared_calls,
            trust_annotations=self._trust_annotations,
            has_old_tasks=agreement.has_old_tasks,
        )
        self._tools = self._connection.listing_of(tool_feature(terms))
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening, end what is in flight, and close."""
        self._open = False
        await self._connection.close()

    @property
    def revision(self) -> Revision:
        """The revision that was agreed on."""
        return self._connection.agreement.lifecycle.revision

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
        A server that answers with a task is asked until that ends: see `begin_call`.
        """
        begun = await self.attempt_call(
            name,
            arguments,
            timeout=timeout,
            on_progress=on_progress,
            meta=meta,
            check_arguments=check_arguments,
        )
        return begun if isinstance(begun, CallResult) else await begun

    async def attempt_call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
        check_arguments: Check | None = None,
        proved: bool = False,
    ) -> CallResult | Coroutine[Any, Any, CallResult]:
        """Call a tool as `call_tool` does, and wait for the first answer only.

        Returns what the call came to, as nearly every call does; or else what goes on with it, such
        as answering what the server asks, which is to be awaited, in this task or another. `proved`
        says that a JSON parser made the arguments, and that they fit the tool's schema.
        """
        limit = self._timeout if timeout is None else timeout
        check = self._check_arguments if check_arguments is None else check_arguments
        listing, channel = self._tools, self._channel
        tool = listing.get(name) or await listing.find(name, limit)
        try:
            request = write_call(tool, arguments, meta, on_progress, check=check, proved=proved)
        except WouldWait:
            request = await aside(write_call, tool, arguments, meta, on_progress, check=check)
        fetches = listing.fetches
        try:
            result = channel.begin(request, limit)
            if isinstance(result, CoroutineType):
                result = await result
        except ProtocolError as error:
            if error.code != HEADER_MISMATCH:
                raise
            result = None
        if isinstance(result, OrdinaryResult):
            try:
                return read_answer(tool, result, check=self._check_results)
            except WouldWait:
                return await aside(read_answer, tool, result, check=self._check_results)
        write = partial(write_call, arguments=arguments, meta=meta, on_progress=on_progress)
        anew = partial(self._call_anew, name, partial(write, check=check), limit, timeout, fetches)
        return (
            anew() if result is None else self._go_on(tool, request, limit, timeout, result, anew)
        )

    async def _go_on(
        self,
        tool: ListedTool,
        request: ClientRequest,
        limit: float | None,
        patience: float | None,
        begun: Result | Coroutine[Any, Any, Result],
        anew: Callable[[], Coroutine[Any, Any, CallResult]] | None = None,
    ) -> CallResult:
        """Return what a call comes to, whatever its server asks or makes of it."""
        try:
            result = await complete_call(self._channel, tool, request, limit, patience, begun)
        except ProtocolError as error:
            if error.code != HEADER_MISMATCH or anew is None:
                raise
            return await anew()
        try:
            return read_answer(tool, result, check=self._check_results)
        except WouldWait:
            return await aside(read_answer, tool, result, check=self._check_results)

    async def _call_anew(
        self,
        name: str,
        write: Callable[[ListedTool], ClientRequest],
        limit: float | None,
        patience: float | None,
        fetches: int,
    ) -> CallResult:
        """Call a tool again whose headers were refused: they follow its schema.

        That may have changed since it was listed.
        """
        listing = self._tools
        await listing.fetch(limit, newer_than=fetches)
        tool = await listing.find(name, limit)
        request = await aside(write, tool)
        begun = self._channel.begin(request, limit)
        return await self._go_on(tool, request, limit, patience, begun)

    async def begin_call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> RemoteTask:
        """Call a tool and return the task that the server makes of it, without waiting for its end.

        The task of a server that answers at once has ended already.
        """
        from anyshape.client.tasks import TaskTerms, begin_call

        terms = TaskTerms(self._channel, self._limit(options.get("timeout")), self._check_results)
        check = options.get("check_arguments")
        check = self._check_arguments if check is None else check
        return await begin_call(terms, self._tools, name, arguments, options.get("meta"), check)

    async def resume_task(self, id: str, name: str, *, timeout: float | None = None) -> RemoteTask:
        """Return a task by its id, begun earlier by a call of the tool of that name."""
        from anyshape.client.tasks import TaskTerms, resume_call

        terms = TaskTerms(self._channel, self._limit(timeout), self._check_results)
        return await resume_call(terms, await self._tools.find(name, terms.timeout), id)

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> Any: ...

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: TypeAdapter[T],
        **options: Unpack[CallOptions],
    ) -> T: ...

    @overload
    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: TypeForm[T],
        **options: Unpack[CallOptions],
    ) -> T: ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Any = _UNTYPED,
        **options: Unpack[CallOptions],
    ) -> Any:
        """Call a tool and return its value, as a `returns` if that is given.

        `ToolError` if the tool failed; `OutputMismatch` if its value does not satisfy its schema or
        `returns`. A tool that answers in words only gives its text, read as `returns`. `TypeError`,
        before anything is sent, if `returns` is no type that values can be read as.
        """
        converter = None if returns is _UNTYPED else converter_to(returns)
        result = await self.call_tool(name, arguments, **options)
        if result.is_error:
            reason = result.text or f"tool {shorten(name, 60)!r} failed and gave no reason"
            raise RemoteToolError(reason)
        if converter is not None:
            return converter.convert(result, name)
        return result.value if result.has_value else result.text

    async def ping(self, *, timeout: float | None = None) -> None:
        """Return as soon as the server has given a sign of life; `TransportError` without one."""
        await self._connection.ping(self._limit(timeout))

    async def toolbox(
        self,
        profile: Profile | str,
        *,
        format: FormatName | None = None,
        tokens: int | None = None,
        result_tokens: int | None = None,
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
            result_tokens=result_tokens,
            search=search,
            images=images,
            timeout=timeout,
        )
