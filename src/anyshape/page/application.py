"""The page as an ASGI application: its files, and the endpoints that they ask.

Files are nobody's secret and are served to whoever is on this machine. Everything else needs the
token of the address that was printed, sent in a header, so that no other page can make a browser
ask; `Host` and `Origin` are checked besides. The policy lets the browser run and load nothing that
is not served here, and refuses to make markup of any text.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from anyshape.errors import AnyshapeError
from anyshape.page.inspection import Inspection
from anyshape.page.talk import Tell
from anyshape.server.bodies import Bodies, BodyRefusedError, Receive, disconnected
from anyshape.server.guard import Guard
from anyshape.server.headers import is_json
from anyshape.server.http_host import settings_of_uvicorn
from anyshape.server.http_options import HttpOptions
from anyshape.server.options import ServerOptions
from anyshape.server.response import EventStream, Send, StreamRoom

_Scope: TypeAlias = MutableMapping[str, Any]
_Asgi: TypeAlias = Callable[[_Scope, Receive, Send], Awaitable[None]]
_Body: TypeAlias = Mapping[str, Any]
_Header: TypeAlias = tuple[bytes, bytes]

_STATIC: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    b"media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    b"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final[tuple[_Header, ...]] = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_TOKEN: Final = b"x-anyshape-token"
_ENTRY: Final = "/api/enter"
_KEEP_ALIVE: Final = 15.0
_MOST_WAITING: Final = 64 * 1024 * 1024
"""Bytes that may wait on all streams to pages."""


class PageApplication:
    """The page for one server; `beside` answers what is not the page's, as the demo does."""

    def __init__(
        self, inspection: Inspection, *, token: str | None = None, beside: _Asgi | None = None
    ) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self._tickets: set[str] = set()
        self._inspection = inspection
        self._beside = beside
        self._guard = Guard(is_local=True)
        self._bodies = Bodies(ServerOptions(), HttpOptions())
        self._files = _load_files()
        self._leaving: set[asyncio.Future[None]] = set()
        self._room = StreamRoom(_MOST_WAITING)
        self._answers: dict[str, Callable[[_Body], Awaitable[Any]]] = {
            _ENTRY: self._enter,
            "/api/listing": lambda body: inspection.listing(body.get("anew") is True),
            "/api/tool": lambda body: inspection.tool(_text(body, "name")),
            "/api/form": self._form,
            "/api/complete": self._complete,
            "/api/answer": self._answer,
            "/api/revisions": self._revisions,
            "/api/providers": lambda body: inspection.providers(_text(body, "name")),
            "/api/findings": lambda body: inspection.findings(),
        }
        self._streams: dict[str, Callable[[_Body, Tell], Awaitable[dict[str, Any]]]] = {
            "/api/call": lambda body, tell: inspection.call(
                _text(body, "name"), _members(body, "arguments"), tell
            ),
            "/api/prompt": lambda body, tell: inspection.prompt(
                _text(body, "name"), _members(body, "arguments"), tell
            ),
            "/api/read": lambda body, tell: inspection.read(_text(body, "uri"), tell),
            "/api/changes": lambda body, tell: inspection.watch(tell),
        }

    def address(self, port: int, *, once: bool = False) -> str:
        """Return the address to open; the part with the token is never sent by a browser.

        One that is good for `once` may be shown to other users of this machine, who see what
        programs are started with: the first to open it gets in, and nobody else.
        """
        token = self.token
        if once:
            token = secrets.token_urlsafe(24)
            self._tickets.add(token)
        return f"http://127.0.0.1:{port}/#token={token}"

    async def __call__(self, scope: _Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
        elif scope["path"] in self._files or scope["path"].startswith("/api/"):
            await self._serve(scope, receive, send)
        elif self._beside is not None:
            await self._beside(scope, receive, send)
        else:
            await _refuse(send, 404, "Nothing is served here; the page is at /")

    async def _live(self, scope: _Scope, receive: Receive, send: Send) -> None:
        if self._beside is not None:
            await self._beside(scope, receive, send)
        else:
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
        await self._inspection.close()

    async def _serve(self, scope: _Scope, receive: Receive, send: Send) -> None:
        pairs: list[_Header] = list(scope["headers"])
        headers = dict(pairs)
        host, origin = headers.get(b"host"), headers.get(b"origin")
        refusal = self._guard.refusal(host, origin, "127.0.0.1")
        if refusal is None and origin is not None and origin.partition(b"://")[2] != host:
            refusal = "Only the page itself may ask"
        path: str = scope["path"]
        if refusal is not None or [name for name, _ in pairs].count(b"host") != 1:
            await _refuse(send, 403, refusal or "Host has to be there once")
        elif path in self._files:
            if scope["method"] in ("GET", "HEAD"):
                await _respond(send, 200, *self._files[path])
            else:
                await _refuse(send, 405, "Only GET is served here")
        elif not self._lets_in(path, headers.get(_TOKEN, b"")):
            await _refuse(send, 401, "The token is missing or wrong; open the printed address")
        elif scope["method"] != "POST" or not is_json(headers.get(b"content-type")):
            await _refuse(send, 405, "Only POST with JSON is served here")
        else:
            await self._ask(path, receive, send)

    def _lets_in(self, path: str, token: bytes) -> bool:
        """Tell whether a token opens an endpoint; what is good for once is then used up."""
        if secrets.compare_digest(token, self.token.encode()):
            return True
        used = [each for each in self._tickets if secrets.compare_digest(token, each.encode())]
        if path != _ENTRY:
            return False
        self._tickets.difference_update(used)
        return bool(used)

    def stop(self) -> None:
        """Give up whatever is under way, and say so."""
        for leaving in self._leaving:
            leaving.cancel()

    async def _ask(self, path: str, receive: Receive, send: Send) -> None:
        try:
            read = await self._bodies.gather(receive(), receive)
            if read is None:
                return
            body = _parse(read)
            if path in self._streams:
                await self._stream(self._streams[path], body, receive, send)
                return
            answer = self._answers.get(path)
            if answer is None:
                await _refuse(send, 404, "There is no such endpoint")
                return
            found = await answer(body)
        except BodyRefusedError as refusal:
            await _refuse(send, refusal.status, refusal.reason)
        except _UnfitError as error:
            await _refuse(send, 400, str(error))
        except AnyshapeError as error:
            await _refuse(send, 502, _explain(error))
        else:
            await _respond(send, 200, _encode(found), b"application/json")

    async def _stream(
        self,
        answer: Callable[[_Body, Tell], Awaitable[dict[str, Any]]],
        body: _Body,
        receive: Receive,
        send: Send,
    ) -> None:
        """Tell of everything on the way to an answer; whoever goes away has given it up."""
        stream = EventStream(send, _KEEP_ALIVE, self._room, _HEADERS)
        task = asyncio.ensure_future(answer(body, lambda told: stream.push(_encode(told))))
        leaving = asyncio.ensure_future(disconnected(receive))
        self._leaving.add(leaving)
        try:
            await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                if leaving.cancelled():
                    ended = {"error": "the program that serves this has ended"}
                    await stream.finish(_encode(ended))
                else:
                    stream.abandon()
                return
            try:
                last = {"result": task.result()}
            except _UnfitError as error:
                last = {"error": str(error)}
            except AnyshapeError as error:
                last = {"error": _explain(error)}
            await stream.finish(_encode(last))
        finally:
            self._leaving.discard(leaving)
            leaving.cancel()
            task.cancel()
            await asyncio.gather(task, leaving, return_exceptions=True)

    async def _enter(self, body: _Body) -> Any:
        """Return the token that opens everything else."""
        return {"token": self.token}

    # Endpoints that take more than a name.

    async def _form(self, body: _Body) -> Any:
        change = body.get("change")
        subject = _members(body, "subject")
        return await self._inspection.form(
            {kind: _text(subject, kind) for kind in subject},
            body.get("value"),
            _choices(body),
            _change(cast("_Body", change)) if isinstance(change, dict) else None,
        )

    async def _complete(self, body: _Body) -> Any:
        return await self._inspection.complete(
            _text(body, "kind"),
            _text(body, "name"),
            _text(body, "argument"),
            _text(body, "value"),
            _members(body, "context"),
        )

    async def _answer(self, body: _Body) -> Any:
        content = _members(body, "content") if body.get("content") is not None else None
        self._inspection.answer(_text(body, "question"), _text(body, "action"), content)
        return {}

    async def _revisions(self, body: _Body) -> Any:
        arguments = _members(body, "arguments") if body.get("arguments") is not None else None
        return await self._inspection.revisions(_text(body, "name"), arguments)


def run_page(application: PageApplication, listener: socket.socket, *, grace: float = 0.0) -> None:
    """Serve the page on a socket until a signal says stop."""
    import uvicorn

    class Host(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            application.stop()  # A page that is open watches, and would be waited for.
            await super().shutdown(sockets)

    host, port = listener.getsockname()[:2]
    settings = settings_of_uvicorn(host, port, grace, {"log_level": "warning"})
    with contextlib.suppress(KeyboardInterrupt):
        Host(uvicorn.Config(application, **settings)).run([listener])


class _UnfitError(Exception):
    """A request of the page makes no sense; says why."""


def _load_files() -> dict[str, tuple[bytes, bytes]]:
    """Return every file by its path; they are few and small."""
    files = {
        f"/page/{path.name}": (path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(_STATIC.iterdir())
        if path.suffix in _TYPES
    }
    files["/"] = files.pop("/page/index.html")
    return files


def _parse(body: bytes) -> _Body:
    try:
        value: object = json.loads(
            body or b"{}", parse_constant=_no_constant, parse_float=_read_float
        )
    except (ValueError, RecursionError) as error:
        raise _UnfitError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise _UnfitError("expected a JSON object")
    return cast("_Body", value)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is larger than any number here")
    return number


def _text(body: _Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise _UnfitError(f"{name}: expected a string")
    return value


def _members(body: _Body, name: str) -> dict[str, Any]:
    value = body.get(name)
    if not isinstance(value, dict):
        raise _UnfitError(f"{name}: expected a JSON object")
    return cast("dict[str, Any]", value)


def _choices(body: _Body) -> dict[str, int]:
    return {name: each for name, each in _members(body, "choices").items() if type(each) is int}


def _change(change: _Body) -> _Body:
    path = change.get("path")
    tokens = cast("list[object]", path) if isinstance(path, list) else [None]
    if not all(isinstance(token, str) for token in tokens):
        raise _UnfitError("change.path: expected strings")
    if _text(change, "kind") == "choose":
        _text(change, "place")
        if type(change.get("chosen")) is not int:
            raise _UnfitError("change.chosen: expected an integer")
    return change


def _explain(error: AnyshapeError) -> str:
    return str(error) or type(error).__name__


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=list).encode()


async def _refuse(send: Send, status: int, reason: str) -> None:
    await _respond(send, status, _encode({"error": reason}), b"application/json")


async def _respond(send: Send, status: int, body: bytes, kind: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
