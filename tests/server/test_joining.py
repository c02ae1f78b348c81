"""The head and the body of a response leave together, and nothing is ever kept back."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from typing import Any

import pytest
import uvicorn

from anyshape.server.joining import JoiningProtocol

Event = MutableMapping[str, Any]
Send = Callable[[Event], Awaitable[None]]
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

PATIENCE = 10


@pytest.fixture
async def writes(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every write that reaches the transport of a connection."""
    seen: list[bytes] = []
    made = JoiningProtocol.connection_made

    def connection_made(self: JoiningProtocol, transport: asyncio.Transport) -> None:
        class Recording(asyncio.Transport):
            def __getattribute__(self, name: str) -> Any:
                return record if name == "write" else getattr(transport, name)

        def record(data: bytes) -> None:
            seen.append(bytes(data))
            transport.write(data)

        made(self, Recording())

    monkeypatch.setattr(JoiningProtocol, "connection_made", connection_made)
    return seen


async def _application(scope: Any, receive: Any, send: Send) -> None:
    """Answer as the path says."""
    assert scope["type"] == "http"
    await receive()
    size = scope["path"].strip("/")
    if size == "stream":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()
    headers = [(b"content-length", size.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if size == "7":
        raise LookupError("between head and body")
    await send({"type": "http.response.body", "body": b"x" * int(size)})


@pytest.fixture
async def connect(writes: list[bytes]) -> AsyncGenerator[Connect]:
    """Serve the application; open connections to it."""
    config = uvicorn.Config(
        _application, http=JoiningProtocol, lifespan="off", log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    serving = asyncio.create_task(server.serve([listener]))
    opened: list[asyncio.StreamWriter] = []

    async def open_connection() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*address)
        opened.append(writer)
        return reader, writer

    yield open_connection
    for writer in opened:
        writer.close()
    server.force_exit = server.should_exit = True
    await asyncio.wait_for(serving, PATIENCE)


def _request(path: str, method: str = "POST") -> bytes:
    return f"{method} /{path} HTTP/1.1\r\nhost: here\r\ncontent-length: 0\r\n\r\n".encode()


async def _head(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)


async def _body(reader: asyncio.StreamReader, size: int) -> bytes:
    return await asyncio.wait_for(reader.readexactly(size), PATIENCE)


async def test_a_response_is_one_write(connect: Connect, writes: list[bytes]) -> None:
    reader, writer = await connect()
    for size in (3, 5_000):
        writes.clear()
        writer.write(_request(str(size)))
        assert (await _head(reader)).startswith(b"HTTP/1.1 200 OK\r\n")
        assert await _body(reader, size) == b"x" * size
        assert len(writes) == 1


async def test_a_large_body_is_not_copied(connect: Connect, writes: list[bytes]) -> None:
    reader, writer = await connect()
    writer.write(_request("100000"))
    await _head(reader)
    assert await _body(reader, 100_000) == b"x" * 100_000
    assert len(writes) == 2


async def test_a_response_without_a_body_leaves_at_once(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(_request("0"))
    assert b"content-length: 0" in await _head(reader)


async def test_a_stream_begins_at_once(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(_request("stream"))
    assert b"transfer-encoding: chunked" in await _head(reader)


async def test_the_answer_to_a_head_request_is_not_kept(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(_request("3", "HEAD"))
    assert b"content-length: 3" in await _head(reader)
    writer.write(_request("4"))
    assert b"content-length: 4" in await _head(reader)
    assert await _body(reader, 4) == b"xxxx"


@pytest.mark.parametrize("methods", [("POST", "HEAD", "POST"), ("HEAD", "POST", "HEAD")])
async def test_pipelined_responses_keep_their_order(
    connect: Connect, methods: tuple[str, ...]
) -> None:
    reader, writer = await connect()
    writer.write(b"".join(_request(str(10 + n), m) for n, m in enumerate(methods)))
    for number, method in enumerate(methods):
        assert f"content-length: {10 + number}".encode() in await _head(reader)
        if method == "POST":
            assert await _body(reader, 10 + number) == b"x" * (10 + number)


async def test_a_head_whose_body_never_comes_is_still_sent(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(_request("7"))
    assert b"content-length: 7" in await _head(reader)
    assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
