"""Responses in every form that HTTP/1.1 has for them, read alike on both ways to a server.

Requests go the short way, on connections borrowed from aiohttp, or through its session where there
is a proxy; a server that answers both is its own proxy here.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import ssl
import zlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import aiohttp
import pytest
import trustme
from patience import PATIENCE, turn_until

from anyshape.client import Auth, Client, Http
from anyshape.client.transports.direct_requests import DirectResponse, Outbox, Unwritten
from anyshape.client.transports.inflation import Inflater
from anyshape.client.transports.pools import Pools
from anyshape.errors import AnyshapeError, TransportError

Form = Callable[[bytes], bytes]

RESULTS: dict[str, Any] = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": [{"name": "plain", "inputSchema": {"type": "object"}}]},
    "tools/call": {
        "resultType": "complete",
        "content": [],
        "structuredContent": {"n": 42, "words": "ä" * 3000},
    },
}
VALUE = RESULTS["tools/call"]["structuredContent"]
JSON = "Content-Type: application/json"


def reply(body: bytes, *lines: str, status: str = "200 OK", end: str = "\r\n") -> bytes:
    return end.join((f"HTTP/1.1 {status}", *lines, "", "")).encode() + body


def plain(body: bytes, *lines: str) -> bytes:
    return reply(body, JSON, f"Content-Length: {len(body)}", *lines)


def chunks(body: bytes, size: int = 1000, after: bytes = b"") -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x%b\r\n%b\r\n" % (len(each), after, each) for each in pieces) + b"0\r\n\r\n"


def chunked(body: bytes, *lines: str) -> bytes:
    return reply(chunks(body), JSON, "Transfer-Encoding: chunked", *lines)


def bare_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


KEPT: dict[str, Form] = {
    "of a known length": plain,
    "in chunks": chunked,
    "in chunks with spaces": lambda body: reply(
        chunks(body, after=b" "), JSON, "Transfer-Encoding: chunked"
    ),
    "in chunks with trailers": lambda body: reply(
        chunks(body)[:-2] + b"X-Sum: 1\r\n\r\n",
        JSON,
        "Transfer-Encoding: chunked",
    ),
    "gzip": lambda body: plain(gzip.compress(body), "Content-Encoding: gzip"),
    "gzip in chunks": lambda body: chunked(gzip.compress(body), "Content-Encoding: GZIP"),
    "gzip in two members": lambda body: plain(
        gzip.compress(body[:70]) + gzip.compress(body[70:]), "Content-Encoding: gzip"
    ),
    "deflate": lambda body: plain(zlib.compress(body), "Content-Encoding: deflate"),
    "bare deflate": lambda body: plain(bare_deflate(body), "Content-Encoding: deflate"),
    "bare deflate with a long end": lambda body: plain(
        bare_deflate(body.ljust(131_172)), "Content-Encoding: deflate"
    ),
    "of an unknown encoding": lambda body: plain(body, "Content-Encoding: none"),
    "not encoded": lambda body: plain(body, "Content-Encoding: identity"),
    "bare line feeds": lambda body: reply(body, JSON, f"Content-Length: {len(body)}", end="\n"),
    "after early hints": lambda body: (
        reply(b"", "Link: </a>", status="103 Early Hints") + plain(body)
    ),
    "after being told to go on": lambda body: reply(b"", status="100 Continue") + plain(body),
    "after being told to go on by what has a length": lambda body: (
        reply(b"", "Content-Length: 5", status="100 Continue") + plain(body)
    ),
    "with the status of a failure": lambda body: reply(
        body, JSON, f"Content-Length: {len(body)}", status="500 Oh"
    ),
    "as events": lambda body: reply(
        chunks(b"data: " + body + b"\n\n"),
        "Content-Type: text/event-stream",
        "Transfer-Encoding: chunked",
    ),
}
CLOSED: dict[str, Form] = {
    "until the end": lambda body: reply(body, JSON),
    "closed on purpose": lambda body: plain(body, "Connection: close"),
    "followed by another": lambda body: plain(body) + plain(b"{}"),
}
BROKEN: dict[str, Form] = {
    "typed behind its body": lambda body: reply(
        chunks(body)[:-2] + JSON.encode() + b"\r\n\r\n", "Transfer-Encoding: chunked"
    ),
    "of a length with many digits": lambda body: reply(
        body, JSON, f"Content-Length: {len(body):05000}"
    ),
    "deflate with more behind it": lambda body: plain(
        zlib.compress(body) + b"\x03\x00", "Content-Encoding: deflate"
    ),
    "cut": lambda body: plain(body)[:-1],
    "cut in chunks": lambda body: chunked(body)[:-10],
    "cut gzip": lambda body: plain(gzip.compress(body)[:-30], "Content-Encoding: gzip"),
    "not gzip": lambda body: plain(body, "Content-Encoding: gzip"),
    "of two lengths": lambda body: plain(body, "Content-Length: 3"),
    "of a wrong chunk": lambda body: reply(b"zz\r\n" + body, JSON, "Transfer-Encoding: chunked"),
    "of another protocol": lambda body: reply(
        b"", "Connection: upgrade", "Upgrade: chat", status="101 Switching Protocols"
    ),
    "an endless head": lambda body: plain(body, *[f"X-{n}: {'x' * 8000}" for n in range(500)]),
    "empty": lambda body: b"",
}
ENDLESS: dict[str, Form] = {
    "trailers": lambda body: reply(
        chunks(body)[:-2] + b"X: yyyy\r\n" * 100_000, JSON, "Transfer-Encoding: chunked"
    ),
    "trailer": lambda body: reply(
        chunks(body)[:-2] + b"X: " + b"y" * 1_000_000, JSON, "Transfer-Encoding: chunked"
    ),
    "chunk extension": lambda body: reply(
        b"7;x=" + b"y" * 1_000_000, JSON, "Transfer-Encoding: chunked"
    ),
    "interim responses": lambda body: reply(b"", status="100 Continue") * 50_000,
}


class Peer:
    """A server that answers calls in one form; `used` has the connection of each call."""

    def __init__(self, form: Form, *, drips: bool = False) -> None:
        self._form = form
        self._drips = drips
        self._connections = 0
        self.used: list[int] = []
        self.heads: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        number = self._connections
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._answer_one(number, reader, writer):
                pass
        writer.close()

    async def _answer_one(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.findall(r"content-length: (\d+)", head.lower())[0]
        message = json.loads(await reader.readexactly(int(length)))
        result = RESULTS.get(message["method"], {})
        body = json.dumps(
            {"jsonrpc": "2.0", "id": message.get("id"), "result": result}, ensure_ascii=False
        ).encode()
        if message["method"] != "tools/call":
            writer.write(plain(body))
            return True
        self.used.append(number)
        self.heads.append(head)
        answer = self._form(body)
        for start in range(0, len(answer), 97 if self._drips else len(answer)):
            writer.write(answer[start : start + (97 if self._drips else len(answer))])
            await writer.drain()
            if self._drips:
                await asyncio.sleep(0)
        return self._form in KEPT.values() or self._form in ENDLESS.values()


@contextlib.asynccontextmanager
async def talking(
    peer: Peer, way: str, auth: Auth | None = None, **options: Any
) -> AsyncGenerator[Client]:
    async with await asyncio.start_server(peer.answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        http = Http(proxy=url if way == "session" else None, **options)
        async with Client(url, timeout=PATIENCE, auth=auth, http=http, listen=False) as client:
            yield client


@pytest.mark.parametrize("way", ["short", "session"])
@pytest.mark.parametrize("drips", [False, True], ids=["at once", "in drips"])
@pytest.mark.parametrize("form", KEPT)
async def test_a_response_is_read_in_any_form_and_its_connection_used_again(
    form: str, drips: bool, way: str
) -> None:
    peer = Peer(KEPT[form], drips=drips)
    async with talking(peer, way) as client:
        await client.list_tools()
        for _ in range(3):
            assert await client.call("plain") == VALUE
    if form != "as events":  # whose end may come after the next call
        assert len(set(peer.used)) == 1


@pytest.mark.parametrize("way", ["short", "session"])
@pytest.mark.parametrize("form", CLOSED)
async def test_a_response_that_is_not_the_last_word_costs_its_connection(
    form: str, way: str
) -> None:
    peer = Peer(CLOSED[form])
    async with talking(peer, way) as client:
        await client.list_tools()
        for _ in range(3):
            assert await client.call("plain") == VALUE
    assert len(set(peer.used)) == 3


@pytest.mark.parametrize("way", ["short", "session"])
@pytest.mark.parametrize("form", BROKEN)
async def test_a_response_that_is_broken_fails_its_call_alone(form: str, way: str) -> None:
    async with talking(Peer(BROKEN[form]), way) as client:
        for _ in range(2):
            with pytest.raises(AnyshapeError):
                await client.call("plain")
        assert [tool.name for tool in await client.list_tools()] == ["plain"]


@pytest.mark.parametrize(
    "given",
    [
        {"X-Team": "blåbær"},
        {"content-type": "text/plain", "ACCEPT": "text/plain"},
        {"user-AGENT": "me", "host": "example.org"},
        {"mcp-method": "ping", "MCP-PROTOCOL-VERSION": "none"},
    ],
    ids=["", "of content", "of every request", "of the protocol"],
)
async def test_both_ways_say_the_same_of_a_request(given: dict[str, str]) -> None:
    said: list[list[str]] = []
    for way in ("short", "session"):
        peer = Peer(plain)
        async with talking(peer, way, headers=given) as client:
            await client.call("plain")
        lines = peer.heads[0].lower().split("\r\n")[1:]
        said.append(
            sorted(
                re.sub(r"127.0.0.1:\d+", "HOST", line)
                for line in lines
                if not line.startswith("accept-encoding:")
            )
        )
    assert said[0] == said[1]


async def test_credentials_that_say_how_to_read_an_answer_say_it_alone() -> None:
    peer = Peer(plain)
    async with talking(peer, "short", auth=lambda: {"accept-encoding": "identity"}) as client:
        await client.call("plain")
    assert re.findall("accept-encoding: .*", peer.heads[0].lower()) == [
        "accept-encoding: identity\r"
    ]


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x00b"])
async def test_a_header_cannot_bring_another_one(value: str) -> None:
    peer = Peer(plain)
    with pytest.raises(AnyshapeError):
        async with talking(peer, "short", headers={"X-Team": value}) as client:
            await client.call("plain")
    assert not peer.used


@pytest.mark.parametrize("form", ENDLESS)
async def test_what_is_no_body_and_does_not_end_is_refused_while_the_server_goes_on(
    form: str,
) -> None:
    async with talking(Peer(ENDLESS[form]), "short") as client:
        with pytest.raises(TransportError, match="262144 bytes"):
            await client.call("plain")


def test_empty_members_cost_what_their_bytes_do() -> None:
    inflater = Inflater("gzip")
    inflater.feed(gzip.compress(b"") * 20_000 + gzip.compress(b"end"))
    copied = sum(len(piece) for piece in iter(inflater.take, b""))
    inflater.finish()
    assert copied == len(b"end")


@contextlib.asynccontextmanager
async def pooled(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
    *,
    certificate: ssl.SSLContext | None = None,
    **options: Any,
) -> AsyncGenerator[tuple[Pools, str]]:
    ended: list[asyncio.Event] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        end = asyncio.Event()
        ended.append(end)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await answer(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        end.set()

    async with (
        await asyncio.start_server(serve, "127.0.0.1", 0, ssl=certificate) as server,
        asyncio.timeout(PATIENCE),
    ):
        pools = Pools(Http(tls=certificate is None, **options), {}, None)
        scheme = "http" if certificate is None else "https"
        try:
            yield pools, f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        finally:
            await pools.close_calls()
            await pools.close()
            for each in ended:
                await each.wait()


async def test_a_body_that_had_to_wait_for_its_reader_is_read_whole() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"x" * 4_000_000))
        await writer.drain()
        await reader.read()

    async with pooled(answer) as (pools, url):
        response = await pools.send("POST", url, {}, b"", aside=False)
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(await response.read()) == 4_000_000


async def pieces_of(body: bytes, *, aside: bool = False) -> AsyncGenerator[bytes]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(body)
        await writer.drain()
        await reader.read()

    async with pooled(answer) as (pools, url):
        response = await pools.send("POST", url, {}, b"", aside=aside)
        while piece := await response.next_chunk():
            yield piece
        response.close()


async def test_chunks_of_two_bytes_are_taken_together() -> None:
    body = bytes(200_000)
    short = reply(chunks(body, 2), "Transfer-Encoding: chunked")
    pieces = [piece async for piece in pieces_of(short)]
    assert b"".join(pieces) == body
    assert len(pieces) < 1_000


@pytest.mark.parametrize("aside", [False, True])
async def test_others_run_between_the_pieces_of_what_was_compressed(aside: bool) -> None:
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    turning = asyncio.create_task(turn())
    packed = plain(gzip.compress(bytes(20_000_000)), "Content-Encoding: gzip")
    seen = {turns async for _ in pieces_of(packed, aside=aside)}
    turning.cancel()
    assert len(seen) > 300


@pytest.mark.parametrize("is_secure", [False, True], ids=["http", "https"])
async def test_an_answer_to_a_request_that_is_not_read_costs_its_connection(
    is_secure: bool,
) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(said))
    connections: list[asyncio.StreamReader] = []
    refused = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(reader)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"{}"))
        await refused.wait()
        await reader.read()

    certificate = None
    if is_secure:
        certificate = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(certificate)  # pyright: ignore[reportUnknownMemberType]
    async with pooled(answer, certificate=certificate) as (pools, url):
        for _ in range(2):
            response = await pools.send("POST", url, {}, b"x" * 30_000_000, aside=False)
            assert await response.read() == b"{}"
        refused.set()
        for _ in range(20):
            await asyncio.sleep(0)
    assert len(connections) == 2
    assert complaints == []


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        reply(b"[1", "Content-Length: 9"),
        reply(b"2\r\n[1\r\n", "Transfer-Encoding: chunked"),
        reply(chunks(b"[1]")[:-2], "Transfer-Encoding: chunked"),
    ],
    ids=["nothing", "a head", "a body", "a chunk", "all but the end"],
)
async def test_a_request_that_is_given_up_in_the_middle_of_its_answer_costs_its_connection(
    begun: bytes,
) -> None:
    connections = 0
    ended = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(begun if connections == 1 else plain(b"{}"))
        await reader.read()
        ended.set()

    async def ask(pools: Pools, url: str) -> bytes:
        response = await pools.send("POST", url, {}, b"", aside=False)
        return await response.read()

    async with pooled(answer) as (pools, url):
        asked = asyncio.create_task(ask(pools, url))
        await turn_until(lambda: connections)
        for _ in range(20):
            await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await ended.wait()
        assert await ask(pools, url) == b"{}"
    assert connections == 2


class Withheld(Outbox):
    """Requests that never leave."""

    def add(self, response: DirectResponse, request: bytes) -> None:
        """Keep it."""


async def test_what_a_server_says_before_it_is_asked_is_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("anyshape.client.transports.pools.Outbox", Withheld)
    connected = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await connected.wait()
        writer.write(reply(b"", "Content-Length: 0", status="408 Request Timeout"))
        await reader.read()

    async with pooled(answer) as (pools, url):
        asked = asyncio.create_task(pools.send("POST", url, {}, b"", aside=False))
        for _ in range(50):
            await asyncio.sleep(0)
        connected.set()
        with pytest.raises(Unwritten):
            await asked


async def test_a_body_that_ends_with_its_connection_does_not_end_by_our_closing() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply(b"[1, 2", JSON))
        await reader.read()

    async with pooled(answer) as (pools, url):
        response = await pools.send("POST", url, {}, b"", aside=False)
        reading = asyncio.create_task(response.read())
        await asyncio.sleep(0)
        await pools.close_calls()
        with pytest.raises(aiohttp.ClientError):
            await reading


async def test_who_waits_for_a_connection_when_the_client_closes_is_not_cancelled() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with pooled(answer, max_connections=1) as (pools, url):
        calls = [
            asyncio.create_task(pools.send("POST", url, {}, b"", aside=False)) for _ in range(2)
        ]
        await turn_until(lambda: bool(pools.peers))
        for _ in range(20):
            await asyncio.sleep(0)
        await pools.close_calls()
        for call in calls:
            with pytest.raises(aiohttp.ClientError):
                await call
