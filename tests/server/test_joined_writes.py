"""What is written in one turn of the loop leaves at its end, and nothing is ever kept back."""

import asyncio
import importlib.util
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import uvicorn
from patience import PATIENCE
from uvicorn.server import ServerState

from anyshape.server import http_protocol
from anyshape.server.http_options import HttpOptions
from anyshape.server.http_protocol import HttpProtocol
from anyshape.server.joined_writes import JoiningTransport

Event = MutableMapping[str, Any]
Send = Callable[[Event], Awaitable[None]]
Connect = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]

LOOPS = ["asyncio", "uvloop"] if importlib.util.find_spec("uvloop") else ["asyncio"]


@pytest.fixture
async def writes(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every write that reaches the transport of a connection."""
    seen: list[bytes] = []
    made = HttpProtocol.connection_made

    def connection_made(self: HttpProtocol, transport: asyncio.Transport) -> None:
        class Recording(asyncio.Transport):
            def __getattribute__(self, name: str) -> Any:
                return record if name == "write" else getattr(transport, name)

        def record(data: bytes) -> None:
            seen.append(bytes(data))
            transport.write(data)

        made(self, Recording())

    monkeypatch.setattr(HttpProtocol, "connection_made", connection_made)
    return seen


async def _application(meeting: asyncio.Barrier, scope: Any, receive: Any, send: Send) -> None:
    """Answer as the path says."""
    assert scope["type"] == "http"
    await receive()
    *waits, size = scope["path"].strip("/").split("/")
    if waits:
        await meeting.wait()
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
    opened: list[asyncio.StreamWriter] = []

    async with _served(asyncio.Barrier(5)) as (address, _):

        async def open_connection() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            reader, writer = await asyncio.open_connection(*address)
            opened.append(writer)
            return reader, writer

        yield open_connection
        for writer in opened:
            writer.close()


@asynccontextmanager
async def _served(
    meeting: asyncio.Barrier, ws: Any = "none"
) -> AsyncGenerator[tuple[tuple[str, int], ServerState]]:
    """Serve the application at an address."""
    config = uvicorn.Config(
        partial(_application, meeting),
        interface="asgi3",
        http=HttpProtocol,
        lifespan="off",
        log_config=None,
        ws=ws,
    )
    server = uvicorn.Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(server.serve([listener]))
    try:
        yield listener.getsockname(), server.server_state
    finally:
        server.force_exit = server.should_exit = True
        await asyncio.wait_for(serving, PATIENCE)


def _request(path: str, method: str = "POST") -> bytes:
    return f"{method} /{path} HTTP/1.1\r\nhost: here\r\ncontent-length: 0\r\n\r\n".encode()


async def _head(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)


async def _body(reader: asyncio.StreamReader, size: int) -> bytes:
    return await asyncio.wait_for(reader.readexactly(size), PATIENCE)


@pytest.fixture(params=["alone", "among others"])
async def connection(
    request: pytest.FixtureRequest, connect: Connect, writes: list[bytes]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection, while nothing else is answered or while something is."""
    if request.param == "among others":
        await _start_stream(connect)
    writes.clear()
    return await connect()


async def _start_stream(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(_request("stream"))
    assert b"transfer-encoding: chunked" in await _head(reader)


async def test_a_response_among_others_is_one_write(connect: Connect, writes: list[bytes]) -> None:
    await _start_stream(connect)
    reader, writer = await connect()
    for size in (3, 5_000):
        writes.clear()
        writer.write(_request(str(size)))
        assert (await _head(reader)).startswith(b"HTTP/1.1 200 OK\r\n")
        assert await _body(reader, size) == b"x" * size
        assert len(writes) == 1


async def test_answers_to_requests_that_came_together_leave_together(
    connect: Connect, writes: list[bytes]
) -> None:
    opened = [await connect() for _ in range(5)]
    writes.clear()
    for number, (_, writer) in enumerate(opened):
        writer.write(_request(f"meet/{10 + number}"))
    for number, (reader, _) in enumerate(opened):
        await _head(reader)
        assert await _body(reader, 10 + number) == b"x" * (10 + number)
    assert len(writes) == len(opened)


async def test_a_large_body_does_not_wait(connect: Connect, writes: list[bytes]) -> None:
    await _start_stream(connect)
    reader, writer = await connect()
    writes.clear()
    writer.write(_request("100000"))
    await _head(reader)
    assert await _body(reader, 100_000) == b"x" * 100_000
    assert len(writes) == 2


async def test_a_response_without_a_body_arrives(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    reader, writer = connection
    writer.write(_request("0"))
    assert b"content-length: 0" in await _head(reader)


async def test_a_stream_begins_before_it_has_something_to_say(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    reader, writer = connection
    writer.write(_request("stream"))
    assert b"transfer-encoding: chunked" in await _head(reader)


async def test_the_answer_to_a_head_request_is_not_kept(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    reader, writer = connection
    writer.write(_request("3", "HEAD"))
    assert b"content-length: 3" in await _head(reader)
    writer.write(_request("4"))
    assert b"content-length: 4" in await _head(reader)
    assert await _body(reader, 4) == b"xxxx"


@pytest.mark.parametrize("sizes", [(10, 11, 12), (10, 70_000, 12), (70_000, 10, 70_000)])
async def test_pipelined_responses_keep_their_order(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], sizes: tuple[int, ...]
) -> None:
    reader, writer = connection
    writer.write(b"".join(_request(str(size)) for size in sizes))
    for size in sizes:
        assert f"content-length: {size}".encode() in await _head(reader)
        assert await _body(reader, size) == b"x" * size


async def test_a_head_whose_body_never_comes_is_still_sent(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    reader, writer = connection
    writer.write(_request("7"))
    assert b"content-length: 7" in await _head(reader)
    assert await asyncio.wait_for(reader.read(), PATIENCE) == b""


async def test_a_response_that_ends_its_connection_arrives_whole(
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    reader, writer = connection
    writer.write(b"POST /20 HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
    assert b"connection: close" in await _head(reader)
    assert await asyncio.wait_for(reader.read(), PATIENCE) == b"x" * 20


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("behind", [b"", _request("3"), b"\0garbage\r\n\r\n"])
def test_a_connection_that_is_lost_takes_no_answer_to_others_with_it(
    name: str, behind: bytes
) -> None:
    with asyncio.Runner(loop_factory=importlib.import_module(name).new_event_loop) as runner:
        runner.run(asyncio.wait_for(_answer_beside_a_reset(behind), PATIENCE))


async def _answer_beside_a_reset(behind: bytes) -> None:
    loop = asyncio.get_running_loop()
    meeting = asyncio.Barrier(3)
    async with _served(meeting) as (address, state):
        lost, kept = socket.socket(), socket.socket()
        with lost, kept:
            for number, client in enumerate((lost, kept), 1):
                client.setblocking(False)
                await loop.sock_connect(client, address)
                sent = _request(f"meet/{number}") + (behind if client is lost else b"")
                await loop.sock_sendall(client, sent)
                while meeting.n_waiting < number:  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(0)
            lost.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if behind:
                lost.close()
                while len(state.connections) > 1:  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(0)
            await meeting.wait()
            # Both are answered in the next turn, at the end of which one is found to be gone.
            lost.close()
            answer = await loop.sock_recv(kept, 1024)
            assert answer.endswith(b"\r\n\r\nxx")
            await loop.sock_sendall(kept, _request("3"))
            assert (await loop.sock_recv(kept, 1024)).startswith(b"HTTP/1.1 200 OK\r\n")


class _Wire(asyncio.Transport):
    """A transport that takes what is written, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.written: list[Any] = []
        self.is_aborted = False
        self._error = error

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._error is not None:
            raise self._error
        self.written.append(data)

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return self.is_aborted

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


async def test_a_write_that_fails_ends_its_own_connection_and_no_other_write() -> None:
    wires = [_Wire(), _Wire(RuntimeError("the handle is closed")), _Wire()]
    loop = asyncio.get_running_loop()
    for wire in wires:
        JoiningTransport(wire, wires, loop).write(b"answer")
    assert [wire.written for wire in wires] == [[], [], []]
    await asyncio.sleep(0)
    assert [wire.written for wire in wires] == [[b"answer"], [], [b"answer"]]
    assert [wire.is_aborted for wire in wires] == [False, True, False]


class _Upgraded(asyncio.Protocol):
    """What a WebSocket library is to uvicorn: greets, then repeats what it is told."""

    def __init__(self, **_: Any) -> None:
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(b"HTTP/1.1 101 \r\n\r\n" if data.startswith(b"GET") else data)


async def test_a_connection_can_be_handed_to_a_websocket_library() -> None:
    async with _served(asyncio.Barrier(5), _Upgraded) as (address, _):
        reader, writer = await asyncio.open_connection(*address)
        upgrade = b"connection: upgrade\r\nupgrade: websocket\r\n\r\n"
        writer.write(b"GET / HTTP/1.1\r\nhost: here\r\n" + upgrade)
        assert (await _head(reader)).startswith(b"HTTP/1.1 101")
        writer.write(b"hello")
        assert await _body(reader, 5) == b"hello"
        writer.close()


OFFER = b"host: here\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"


class _Registered(_Upgraded):
    """What is a connection of uvicorn's, as its WebSocket protocols are."""

    def __init__(self, server_state: Any, **others: Any) -> None:
        super().__init__(**others)
        server_state.connections.add(self)

    def shutdown(self) -> None:
        pass


async def test_a_connection_is_waited_for_no_longer_beside_a_websocket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_protocol, "_DEFAULTS", HttpOptions(request_timeout=0.2))
    async with _served(asyncio.Barrier(5), _Registered) as (address, _):
        upgraded, websocket = await asyncio.open_connection(*address)
        websocket.write(b"GET / HTTP/1.1\r\n" + OFFER)
        assert (await _head(upgraded)).startswith(b"HTTP/1.1 101")
        silent, writer = await asyncio.open_connection(*address)
        writer.write(b"POST / HTTP/1.1\r\n")
        assert (await _head(silent)).startswith(b"HTTP/1.1 408")
        websocket.write(b"hello")
        assert await _body(upgraded, 5) == b"hello"
        for each in (writer, websocket):
            each.close()


async def test_an_offer_behind_a_request_that_waits_is_answered_in_its_turn() -> None:
    async with _served(meeting := asyncio.Barrier(2), _Upgraded) as (address, _):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(_request("wait/3") + b"GET /5 HTTP/1.1\r\n" + OFFER)
        await asyncio.wait_for(meeting.wait(), PATIENCE)
        for size in (3, 5):
            assert (await _head(reader)).startswith(b"HTTP/1.1 200")
            assert await _body(reader, size) == b"x" * size
        writer.close()


async def test_what_comes_with_an_upgrade_is_not_read_as_http() -> None:
    async with _served(asyncio.Barrier(5), _Upgraded) as (address, _):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET / HTTP/1.1\r\n" + OFFER + 100_000 * b"\x00")
        assert (await _head(reader)).startswith(b"HTTP/1.1 101")
        writer.write(b"hello")
        assert (await _body(reader, 5)).strip(b"\x00") in (b"", b"hello")
        assert not reader.at_eof()
        writer.transport.abort()
