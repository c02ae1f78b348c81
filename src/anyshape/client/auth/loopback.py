"""Sign in with a browser on this machine: a listener on loopback takes the answer.

https://www.rfc-editor.org/rfc/rfc8252#section-7.3. Whatever else comes to the listener is told so
and changes nothing; nothing that a request says is shown in an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import webbrowser
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import parse_qs, urlsplit

from anyshape.client.auth.login import OpenLogin
from anyshape.errors import AuthorizationError

logger = logging.getLogger(__name__)

_LONGEST: Final = 16 * 1024
_SECONDS: Final = 10.0
_MOST_FIELDS: Final = 20
_DONE: Final = "You are signed in. You can close this page."
_FAILED: Final = "That did not work. See the program that sent you here; you can close this page."
_OTHER: Final = "There is nothing here."


def _announce(url: str, opened: bool) -> None:
    if not opened:
        logger.warning("no browser could be opened; to sign in, open %s", url)


class LoopbackLogin:
    """Opens a browser, and listens on 127.0.0.1 for where it ends.

    `port` is fixed where the authorization server knows exact addresses; 0 takes a free one.
    `announce` is told the URL, and whether a browser was opened. `paste` is awaited too, if given:
    it returns the address that a browser on another machine ended at.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        path: str = "/callback",
        open_browser: Callable[[str], bool] = webbrowser.open,
        announce: Callable[[str, bool], None] = _announce,
        paste: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self._port = port
        self._path = path
        self._open_browser = open_browser
        self._announce = announce
        self._paste = paste

    @asynccontextmanager
    async def open(self, redirect_uri: str | None) -> AsyncGenerator[OpenLogin]:
        """Listen, at the port of an earlier login if it is free."""
        listener = _Listener(self._path)
        earlier = None if redirect_uri is None else urlsplit(redirect_uri).port
        ports = [self._port] if self._port else [earlier or 0, 0]
        server = await _listen(listener, ports)
        port: int = server.sockets[0].getsockname()[1]
        async with server:
            try:
                yield _LoopbackVisit(f"http://127.0.0.1:{port}{self._path}", listener, self)
            finally:
                # Browsers open connections to have them ready; the server would wait for those.
                listener.close()

    async def _send(self, url: str) -> None:
        opened = False
        with contextlib.suppress(webbrowser.Error, OSError):
            opened = await asyncio.to_thread(self._open_browser, url)
        self._announce(url, opened)


async def _listen(listener: _Listener, ports: list[int]) -> asyncio.Server:
    for at, port in enumerate(ports):
        try:
            return await asyncio.start_server(listener.serve, "127.0.0.1", port, limit=_LONGEST)
        except OSError as error:
            if at == len(ports) - 1:
                raise AuthorizationError(
                    f"cannot listen on 127.0.0.1:{port} for the answer: {error.strerror}"
                ) from error
    raise AssertionError("unreachable")


class _LoopbackVisit:
    """One login: who listens, and who sends the person off."""

    def __init__(self, redirect_uri: str, listener: _Listener, login: LoopbackLogin) -> None:
        self.redirect_uri = redirect_uri
        self._listener = listener
        self._send = login._send
        self._paste = login._paste

    async def authorize(self, url: str, state: str) -> str:
        """Send the person off, and wait for the answer, heard or pasted."""
        heard = self._listener.expect(state)
        await self._send(url)
        if self._paste is None:
            return self.redirect_uri + await heard
        pasted = asyncio.ensure_future(_read_pasted(self._paste))
        try:
            await asyncio.wait({heard, pasted}, return_when=asyncio.FIRST_COMPLETED)
            return self.redirect_uri + heard.result() if heard.done() else pasted.result()
        finally:
            pasted.cancel()


async def _read_pasted(paste: Callable[[], Awaitable[str]]) -> str:
    try:
        return (await paste()).strip()
    except EOFError:
        raise AuthorizationError("the login was given up: nothing more can be pasted") from None


class _Listener:
    """Takes the one request that brings the answer; `_query` of it, with its `?`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._state = ""
        self._heard: asyncio.Future[str] | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    def expect(self, state: str) -> asyncio.Future[str]:
        """Return what will be the query of the answer with that state."""
        self._state = state
        self._heard = asyncio.get_running_loop().create_future()
        return self._heard

    def close(self) -> None:
        """Hang up on whoever is still there."""
        for writer in self._writers:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        self._writers.add(writer)
        try:
            async with asyncio.timeout(_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                status, text = self._take(head.split(b"\r\n", 1)[0].decode("latin-1"))
                writer.write(_page(status, text))
                await writer.drain()
        except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _take(self, line: str) -> tuple[str, str]:
        method, _, rest = line.partition(" ")
        path, mark, query = rest.rpartition(" ")[0].partition("?")
        if method != "GET" or path != self._path:
            return "404 Not Found", _OTHER
        try:
            given = parse_qs(query, max_num_fields=_MOST_FIELDS, errors="replace")
        except ValueError:
            return "400 Bad Request", _OTHER
        states = given.get("state", [])
        is_ours = len(states) == 1 and hmac.compare_digest(states[0].encode(), self._state.encode())
        if self._heard is None or self._heard.done() or not self._state or not is_ours:
            return "400 Bad Request", _OTHER
        self._heard.set_result(mark + query)
        return "200 OK", _DONE if "code" in given else _FAILED


def _page(status: str, text: str) -> bytes:
    body = f"<!doctype html><meta charset=utf-8><title>Anyshape</title><p>{text}</p>".encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\nCache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\n"
        "X-Content-Type-Options: nosniff\r\n\r\n"
    )
    return head.encode() + body
