"""Server objects of `mcp` and FastMCP in this process, spoken to without a wire.

All of them run on a pair of streams of messages, as they do on stdio; here the streams are in
memory. Known are `mcp`'s low-level `Server`, its `FastMCP` (1) and `MCPServer` (2), and FastMCP 2
to 4; nothing of these packages is imported unless such an object is given.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable
from typing import Any, Final, cast

from anyshape.errors import TransportError
from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.methods import CANCELLED

_log = logging.getLogger("anyshape.gateway")
_INNER: Final = ("_lowlevel_server", "_mcp_server")
"""Where the friendlier objects keep the low-level server."""
_LIFESPAN: Final = "_lifespan_manager"


def is_foreign(target: object) -> bool:
    """Tell whether a target is a server object of another SDK."""
    return type(target).__module__.split(".")[0] in ("mcp", "fastmcp") and hasattr(
        _low_level(target), "create_initialization_options"
    )


def as_target(target: Any) -> Any:
    """Return what a client can connect to: the target itself, or a foreign object made so."""
    return ForeignServer(target) if is_foreign(target) else target


def _low_level(server: object) -> Any:
    for name in _INNER:
        inner = getattr(server, name, None)
        if inner is not None:
            return inner
    return server


class ForeignServer:
    """A server of another SDK, for `Client` to connect to."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def connect(self, send: Callable[[bytes], None]) -> ForeignConnection:
        """Return a new connection; `send` takes what the server says on its own."""
        return ForeignConnection(self._server, send)


class ForeignConnection:
    """One session with a foreign server; its task runs from the first message on."""

    def __init__(self, server: Any, send: Callable[[bytes], None]) -> None:
        self._server = server
        self._send = send
        self._waiting: dict[str, asyncio.Future[bytes | None]] = {}
        self._task: asyncio.Task[None] | None = None
        self._incoming: Any = None
        self._is_open: asyncio.Future[None] | None = None
        self._is_closing = False

    async def handle(self, frame: bytes) -> bytes | None:
        """Take one message, and return its answer if it is a request."""
        if self._task is None:
            loop = asyncio.get_running_loop()
            self._is_open = loop.create_future()
            self._task = loop.create_task(self._run())
        if self._is_open is not None:
            await asyncio.shield(self._is_open)
        message = json.loads(frame)
        if "method" not in message or "id" not in message:
            await self._pass_on(frame)
            return None
        key = json.dumps(message["id"])
        answer = self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            await self._pass_on(frame)
            found = await answer
        except asyncio.CancelledError:
            self._tell_cancelled(message["id"])
            raise
        finally:
            self._waiting.pop(key, None)
        if found is None:
            raise _ended()
        return found

    async def _pass_on(self, frame: bytes) -> None:
        """Give a message to the server; `TransportError` once its session has ended."""
        import anyio

        if self._task is None or self._task.done():
            raise _ended()
        try:
            await self._incoming.send(_read(frame))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise _ended() from None

    def _tell_cancelled(self, id: object) -> None:
        """Say that nobody waits for a request, unless the server is too busy to hear of it."""
        import anyio

        gone = (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError)
        with contextlib.suppress(*gone):
            self._incoming.send_nowait(_read(_cancellation(id)))

    async def close(self) -> None:
        """End the session."""
        self._is_closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        import anyio

        to_server, incoming = anyio.create_memory_object_stream[Any](64)
        outgoing, from_server = anyio.create_memory_object_stream[Any](64)
        self._incoming = to_server
        low_level = _low_level(self._server)
        lifespan = getattr(self._server, _LIFESPAN, None)
        try:
            async with contextlib.AsyncExitStack() as stack:
                for stream in (to_server, incoming, outgoing, from_server):
                    stack.callback(stream.close)
                if lifespan is not None:
                    await stack.enter_async_context(lifespan())
                group = await stack.enter_async_context(anyio.create_task_group())
                group.start_soon(self._hear, from_server)
                cast("asyncio.Future[None]", self._is_open).set_result(None)
                await low_level.run(incoming, outgoing, low_level.create_initialization_options())
                group.cancel_scope.cancel()
        except Exception:
            if not self._is_closing:  # some lose their streams while they are being ended
                _log.exception("a server object of another SDK failed")
        finally:
            if self._is_open is not None and not self._is_open.done():
                self._is_open.set_result(None)
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_result(None)

    async def _hear(self, messages: Any) -> None:
        """Give answers to whoever waits for them, and the rest to the client."""
        async for message in messages:
            frame = _write(message.message)
            said = json.loads(frame)
            answer = None if "method" in said else self._waiting.get(json.dumps(said.get("id")))
            if answer is None:
                self._send(frame)
            elif not answer.done():
                answer.set_result(frame)


def _ended() -> TransportError:
    return TransportError("the server object ended its session")


def _read(frame: bytes) -> Any:
    """Return a message as the SDK's own transports hand it over."""
    from mcp.shared.message import SessionMessage

    try:
        from mcp_types import jsonrpc_message_adapter
    except ImportError:  # the first generation of the SDK
        from mcp import types

        message: Any = types.JSONRPCMessage
        return SessionMessage(message.model_validate_json(frame))
    return SessionMessage(jsonrpc_message_adapter.validate_json(frame, by_name=False))


def _write(message: Any) -> bytes:
    # What was not set is left out; what was set to null stays.
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _cancellation(id: object) -> bytes:
    params = {"requestId": id, "reason": "the caller gave up"}
    return encode_notification(CANCELLED, json.dumps(params).encode())
