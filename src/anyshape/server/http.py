"""Streamable HTTP as an ASGI application: one endpoint, one POST per message, no session.

Both eras are served at the same path. Nothing is remembered between requests, in either era: the
revision of a handshake client comes from its `MCP-Protocol-Version` header, so any replica can
answer any request. See the Streamable HTTP page of revision 2026-07-28 and "Transports" of
2025-11-25, 2025-06-18 and 2025-03-26.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, TypeAlias

import msgspec

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import (
    Batch,
    Malformed,
    Notification,
    Request,
    Response,
    decode,
    encode_batch,
    encode_error,
)
from anyshape.protocol.revision import Revision
from anyshape.server.authorization import AccessToken, Refusal
from anyshape.server.dispatch import dispatch
from anyshape.server.exchange import Interruption
from anyshape.server.failures import http_status, translate, unsupported_version
from anyshape.server.guard import Guard
from anyshape.server.headers import Acceptance, RequestHeaders
from anyshape.server.http_exchange import UNNAMED, HttpExchange, Receive
from anyshape.server.options import HttpOptions
from anyshape.server.parameters import ToolName
from anyshape.server.response import HttpResponse, Send
from anyshape.server.service import Service

__all__ = ["HttpApplication"]

Scope: TypeAlias = MutableMapping[str, Any]
_decode_name = msgspec.json.Decoder(ToolName).decode


class HttpApplication:
    """The HTTP service of a server, for any ASGI host."""

    def __init__(
        self, service: Service, options: HttpOptions, *, is_local: bool | None = None
    ) -> None:
        """Serve `service`; `is_local` says where we are bound, if that is known beforehand."""
        self.service = service
        self._options = options
        self._guard = Guard(
            hosts=options.allowed_hosts, origins=options.allowed_origins, is_local=is_local
        )
        self._acceptance = Acceptance()
        self._flights: set[HttpExchange] = set()
        self._settled: asyncio.Event | None = None
        self._path = options.path
        self._authorization = options.authorization

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        kind = scope["type"]
        if kind == "http":
            await self._serve(scope, receive, send)
        elif kind == "lifespan":
            await self._live(receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003})

    def end_subscriptions(self) -> None:
        """End every open subscription gracefully, so that their responses can finish."""
        self.service.end_subscriptions()

    async def drain(self) -> None:
        """Give what is in flight the grace time to finish, then cancel what is left."""
        self.end_subscriptions()
        if self._flights:
            self._settled = asyncio.Event()
            try:
                await asyncio.wait_for(self._settled.wait(), self.service.options.grace)
            except TimeoutError:
                for flight in tuple(self._flights):
                    flight.interrupt(Interruption.CANCELLED)

    def track(self, flight: HttpExchange) -> None:
        """Know a request that waits."""
        self._flights.add(flight)

    def untrack(self, flight: HttpExchange) -> None:
        """Forget a request that no longer waits."""
        self._flights.discard(flight)
        if not self._flights and self._settled is not None:
            self._settled.set()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.drain()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = RequestHeaders(scope["headers"])
        values = headers.values
        response = HttpResponse(send, self._options.keep_alive)
        bound = scope.get("server")
        refusal = self._guard.refusal(
            values.get(b"host"), values.get(b"origin"), bound[0] if bound else ""
        )
        if refusal is not None:
            await response.refuse(403, refusal)
            return
        path: str = scope["path"]
        if path != self._path and not self._is_endpoint(path, scope.get("root_path", "")):
            await self._serve_elsewhere(scope, response)
            return
        if scope["method"] != "POST":
            await response.refuse(405, "Only POST is served here", (b"allow", b"POST"))
            return
        if not self._acceptance.is_json(values.get(b"content-type")):
            await response.refuse(415, "Content-Type has to be application/json")
            return
        takes_json, takes_stream = self._acceptance.accepted(values.get(b"accept"))
        if not (takes_json or takes_stream):
            await response.refuse(406, "Accept has to allow application/json, text/event-stream")
            return
        response.takes_json = takes_json
        response.takes_stream = takes_stream
        access: AccessToken | None = None
        if self._authorization is not None:
            admitted = await self._authorization.admit(values.get(b"authorization"))
            if isinstance(admitted, Refusal):
                await _challenge(response, admitted)
                return
            access = admitted
        body = await self._read(values.get(b"content-length"), receive, response)
        if body is None:
            return
        await self._answer(decode(body), headers, response, receive, access)

    async def _answer(
        self,
        message: Request | Notification | Response | Malformed | Batch,
        headers: RequestHeaders,
        response: HttpResponse,
        receive: Receive,
        access: AccessToken | None,
    ) -> None:
        if type(message) is Request:
            if access is not None:
                refusal = self._missing_scope(message, access)
                if refusal is not None:
                    await _challenge(response, refusal)
                    return
            exchange = HttpExchange(self, headers, response, receive, access)
            answer = await dispatch(self.service, message, exchange)
            if answer is None:
                await response.abandon()
            elif exchange.failure is None:
                await response.answer(answer)
            else:
                await response.answer(answer, http_status(exchange.failure, exchange.revision))
            return
        if isinstance(message, Malformed):
            body = encode_error(message.id, message.code, message.message)
            await response.send_json(400, body)
            return
        flaw = _version_flaw(headers)
        if flaw is not None:
            failure = translate(flaw, "")
            body = encode_error(None, failure.code, failure.message, failure.data)
            await response.send_json(400, body)
        elif isinstance(message, Batch):
            await self._answer_all(message, headers, response, receive, access)
        else:
            # Notifications we know belong to a pipe, and responses to requests we never make.
            await response.accept()

    async def _answer_all(
        self,
        batch: Batch,
        headers: RequestHeaders,
        response: HttpResponse,
        receive: Receive,
        access: AccessToken | None,
    ) -> None:
        revision = headers.revision or UNNAMED
        if not revision.has_batches:
            await response.refuse(400, f"Invalid Request: revision {revision} has no batches")
            return
        requests = [message for message in batch.messages if isinstance(message, Request)]
        if access is not None:
            for request in requests:
                refusal = self._missing_scope(request, access)
                if refusal is not None:
                    await _challenge(response, refusal)
                    return
        answers = [
            encode_error(message.id, message.code, message.message, null_id=message.id is None)
            for message in batch.messages
            if isinstance(message, Malformed)
        ]
        exchanges = [HttpExchange(self, headers, response, receive, access) for _ in requests]
        for exchange in exchanges:
            exchange.batched = True
        given = await asyncio.gather(
            *(
                dispatch(self.service, request, exchange)
                for request, exchange in zip(requests, exchanges, strict=True)
            )
        )
        answers.extend(answer for answer in given if answer is not None)
        if answers:
            await response.answer(encode_batch(answers))
        elif requests:
            await response.abandon()
        else:
            await response.accept()

    def _missing_scope(self, request: Request, access: AccessToken) -> Refusal | None:
        authorization = self._authorization
        if authorization is None or not authorization.tool_scopes or request.params is None:
            return None
        if request.method != "tools/call":
            return None
        try:
            name = _decode_name(request.params).name
        except msgspec.DecodeError:
            return None  # Not a call that could reach a tool.
        return authorization.admit_tool(access, name)

    async def _read(
        self, length: bytes | None, receive: Receive, response: HttpResponse
    ) -> bytes | None:
        """Return the body, or `None` when it is too long (answered) or the client is gone."""
        limit = self.service.options.max_message_bytes
        if length is not None and length.isdigit() and int(length) > limit:
            await response.refuse(413, f"The body is longer than {limit} bytes", closes=True)
            return None
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            if not parts and not message.get("more_body", False):
                parts.append(part)
                size = len(part)
                break
            parts.append(part)
            size += len(part)
            if size > limit or not message.get("more_body", False):
                break
        if size > limit:
            await response.refuse(413, f"The body is longer than {limit} bytes", closes=True)
            return None
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _is_endpoint(self, path: str, root: str) -> bool:
        """Tell whether a path is the endpoint, wherever a host has mounted us."""
        if root and path.startswith(root):
            path = path[len(root) :]
        return path.rstrip("/") == self._path.rstrip("/")

    async def _serve_elsewhere(self, scope: Scope, response: HttpResponse) -> None:
        authorization = self._authorization
        if authorization is not None and scope["path"] in authorization.metadata_paths:
            if scope["method"] in ("GET", "HEAD"):
                await response.send_json(200, authorization.metadata())
            else:
                await response.refuse(405, "Only GET is served here", (b"allow", b"GET"))
            return
        await response.refuse(404, f"Nothing is served here; the MCP endpoint is {self._path}")


def _version_flaw(headers: RequestHeaders) -> ProtocolError | None:
    version = headers.version
    if version is None or Revision.parse(version) is not None:
        return None
    return unsupported_version(version)


async def _challenge(response: HttpResponse, refusal: Refusal) -> None:
    challenge = (b"www-authenticate", refusal.challenge.encode("latin-1", "replace"))
    await response.refuse(refusal.status, refusal.message, challenge)
