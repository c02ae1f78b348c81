"""Functions around every request: each sees what is asked, and decides what is answered.

    @server.middleware
    async def audit(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        answer = await proceed(request)
        log.info("%s %s: %s", request.method, request.name, answer.is_error)
        return answer

A server without any pays nothing for them: dispatch looks whether there are layers, and this module
is imported with the first one.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec

from anyshape.decoding import decoder
from anyshape.errors import ProtocolError, RateLimited, RemoteToolError, ToolError
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.meta import SERVER_INFO
from anyshape.protocol.methods import TOOLS_CALL
from anyshape.protocol.result import ToolResult
from anyshape.server.lazy_object import LazyObject
from anyshape.tools import failures
from anyshape.tools.context import Unanswered

if TYPE_CHECKING:
    from anyshape.protocol.revision import Revision
    from anyshape.server.authorization import AccessToken
    from anyshape.server.features.feature import Handler, Method
    from anyshape.server.parameters import BareParameters
    from anyshape.server.peer import Peer
    from anyshape.server.request import OpenRequest
    from anyshape.server.service import Service

_decode: Final = decoder(dict[str, Any])
_WIRE_NAMES: Final = {"task_id": "taskId"}
"""What the wire calls a member, where we call it otherwise."""


class MiddlewareRequest:
    """A request on its way to whoever answers it; it does not change."""

    __slots__ = ("_named", "_params", "_read", "method", "opened")

    method: str
    """What is asked, such as `tools/call`."""
    opened: OpenRequest
    """The request as the server knows it."""

    def __init__(
        self, method: str, named: str | None, read: BareParameters | None, opened: OpenRequest
    ) -> None:
        self.method = method
        self._named = named
        self._read = read
        self.opened = opened
        self._params: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<MiddlewareRequest {self.method}>"

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters as they came, `_meta` included."""
        if self._params is None:
            opened = self.opened
            source = opened.source
            self._params = {} if source is None else LazyObject(source, *opened.path[:-1])
        return self._params

    @property
    def name(self) -> str | None:
        """The tool or prompt that is asked for, or the URI of a resource; `None` for the rest."""
        if self._named is None:
            return None
        if self._read is not None:
            return getattr(self._read, self._named)
        name = self.params.get(_WIRE_NAMES.get(self._named, self._named))
        return name if isinstance(name, str) else None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the request."""
        return self.opened.meta

    @property
    def id(self) -> bytes:
        """The id of the request, as JSON text."""
        return self.opened.id

    @property
    def revision(self) -> Revision:
        """The revision that the request is answered at."""
        return self.opened.revision

    @property
    def access(self) -> AccessToken | None:
        """What the caller's access token proved, if the server asks for one."""
        return self.opened.peer.access

    @property
    def client(self) -> Mapping[str, Any] | None:
        """What the caller says of itself (name, version, …); it may say anything."""
        return self.opened.client

    @property
    def connection(self) -> Peer | None:
        """What all requests of this caller have in common, on a pipe and in memory; else `None`."""
        peer = self.opened.peer
        return None if peer.is_single_use else peer

    @property
    def address(self) -> str | None:
        """Where the request came from, over HTTP: the caller's address, or its proxy's."""
        return self.opened.peer.address

    @property
    def state(self) -> Any:
        """What the server's lifespan has yielded."""
        return self.opened.peer.service.lifespan.state

    def replacing(self, params: Mapping[str, Any]) -> MiddlewareRequest:
        """Return the same request with other parameters; `_meta` stays as it came."""
        other = MiddlewareRequest(self.method, self._named, None, self.opened)
        other._params = {**params, "_meta": {**self.meta}}
        return other


class MiddlewareAnswer:
    """The `result` that a request is answered with, in the form of its revision."""

    __slots__ = ("_value", "text")

    text: bytes
    """As JSON text; good for any request of the same revision."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._value: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<MiddlewareAnswer of {len(self.text)} bytes>"

    @property
    def value(self) -> dict[str, Any]:
        """The members of the result, read when somebody looks."""
        if self._value is None:
            self._value = _decode(self.text)
        return self._value

    @property
    def is_error(self) -> bool:
        """Whether a tool has failed. (A request that failed has no answer: `proceed` raises.)"""
        return b'"isError"' in self.text and self.value.get("isError") is True

    @property
    def is_question(self) -> bool:
        """Whether it asks the client for more, which then asks again; only at 2026-07-28."""
        is_likely = b'"input_required"' in self.text
        return is_likely and self.value.get("resultType") == "input_required"


Proceed: TypeAlias = Callable[[MiddlewareRequest], Awaitable[MiddlewareAnswer]]
"""Has a request answered by what is further in; raises `ProtocolError` if that fails."""

Middleware: TypeAlias = Callable[
    [MiddlewareRequest, Proceed],
    Awaitable["MiddlewareAnswer | ToolResult[Any] | Mapping[str, Any]"],
]
"""Answers a request, by `proceed` or by itself.

A `ToolResult` is an answer to `tools/call`, and a mapping the `result` of any method, as the wire
has it. `ToolError` and `ProtocolError` refuse; any other exception is an internal error.
"""


class Layers:
    """The middleware of a server, the first one added outermost."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._functions: tuple[Middleware, ...] = ()

    def enclose(self, function: Middleware) -> None:
        """Add a function of ours, outside those that are there."""
        self._functions = (function, *self._functions)

    def add(self, function: Middleware) -> None:
        """Add a function, inside those that are there; `TypeError` if it cannot be one."""
        of_class: object = getattr(type(function), "__call__", None)  # noqa: B004 - not whether
        if not any(map(inspect.iscoroutinefunction, (function, of_class))):
            raise TypeError(
                "middleware has to be an async function of (request, proceed), "
                f"got {type(function).__name__}; write async def"
            )
        self._functions = (*self._functions, function)

    async def answer(
        self, method: Method, handler: Handler, name: str, read: BareParameters, opened: OpenRequest
    ) -> bytes:
        """Return the result of a request that `handler` answers, through every layer."""
        functions = self._functions

        async def serve(depth: int, request: MiddlewareRequest) -> MiddlewareAnswer:
            if depth == len(functions):
                return MiddlewareAnswer(await _innermost(method, handler, request))

            async def proceed(request: MiddlewareRequest) -> MiddlewareAnswer:
                return await serve(depth + 1, request)

            try:
                given = await functions[depth](request, proceed)
            except RemoteToolError:
                raise  # A stranger's words are not handed on.
            except ToolError as refusal:
                if request.method != TOOLS_CALL:
                    raise ProtocolError(str(refusal)) from None
                return self._refused_call(refusal, request)
            return await self._understood(given, request)

        request = MiddlewareRequest(name, method.named, read, opened)
        try:
            return (await serve(0, request)).text
        except RateLimited as refusal:
            # Over HTTP a status tells of it; elsewhere only a model can do anything about it.
            told_by_status = opened.peer.is_single_use and not opened.batched
            if told_by_status or name != TOOLS_CALL:
                raise
            return self._refused_call(refusal, request).text

    async def _understood(self, given: object, request: MiddlewareRequest) -> MiddlewareAnswer:
        """Return what a layer gave as an answer."""
        if isinstance(given, MiddlewareAnswer):
            return given
        if request.method == TOOLS_CALL and isinstance(given, ToolResult):
            result = cast("ToolResult[Any]", given)
            text = await self._service.tools.write(request.name or "", request.revision, result)
            return MiddlewareAnswer(text)
        if isinstance(given, Mapping):
            return MiddlewareAnswer(self._complete(cast("Mapping[str, Any]", given), request))
        raise TypeError(
            f"middleware has to answer {request.method} with what proceed returned, or with a "
            f"{'ToolResult' if request.method == TOOLS_CALL else 'mapping'}, "
            f"got {type(given).__name__}"
        )

    def _complete(self, members: Mapping[str, Any], request: MiddlewareRequest) -> bytes:
        if not request.revision.is_modern:
            return encode_data(members)
        info = msgspec.Raw(self._service.server_info(request.revision))
        meta = {SERVER_INFO: info, **members.get("_meta", {})}
        return encode_data({"resultType": "complete", **members, "_meta": meta})

    def _refused_call(self, error: Exception, request: MiddlewareRequest) -> MiddlewareAnswer:
        result, name = failures.failed(str(error)), request.name or ""
        return MiddlewareAnswer(self._service.tools.encode(name, request.revision, result))


async def _innermost(method: Method, handler: Handler, request: MiddlewareRequest) -> bytes:
    """Have a request answered as if there were no layers."""
    read = request._read  # None once the parameters are others.
    if read is None:
        read = method.read(msgspec.Raw(encode_data(dict(request.params))))
    opened = request.opened
    try:
        rest = opened.begin(handler(read, opened))
        return rest if isinstance(rest, bytes) else await rest
    except Unanswered:
        return opened.ask_back()
