"""What a connection may send and how long it is waited for, in one process and in several."""

from __future__ import annotations

import contextlib
import json
import math
import select
import signal
import socket
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .conftest import MODERN, PATIENCE, Web, headers_for, message, run_web, with_meta

SCRIPT = Path(__file__).parent / "bounded_server.py"
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
LONGEST_HEAD = 10_000


def _request(name: str = "measure", *headers: bytes, **arguments: Any) -> tuple[bytes, bytes]:
    """Return head and body of a call, as they are on the wire."""
    params = {"name": name, "arguments": arguments or {"text": "abc"}}
    body = json.dumps(message("tools/call", with_meta(MODERN, params), 1)).encode()
    needed = headers_for(MODERN, "tools/call", params).items()
    lines = [
        b"Content-Type: application/json",
        b"Accept: application/json",
        *(f"{name}: {value}".encode() for name, value in needed),
        *(headers or (b"Content-Length: %d" % len(body),)),
    ]
    return HEAD + b"\r\n".join([*lines, b"", b""]), body


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"], scope="module")
def processes(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="module")
def bounded(processes: int) -> Generator[Web]:
    """A server with small bounds."""
    with run_web(str(SCRIPT), str(processes)) as web:
        yield web


def _read_all(connection: socket.socket, enough: float = math.inf) -> bytes:
    """Return what comes until the other end is closed, or there is enough of it."""
    parts: list[bytes] = []
    try:
        while enough > 0 and (part := connection.recv(65_536)):
            parts.append(part)
            enough -= len(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def _is_served(web: Web) -> bool:
    return web.call(MODERN, "measure", {"text": "abc"}).json["result"]["structuredContent"] == 3


@pytest.mark.parametrize("cut", [1000, 7000, 1_000_000])
def test_a_head_that_is_too_long_is_refused_in_however_many_pieces_it_comes(
    bounded: Web, cut: int
) -> None:
    head = HEAD + b"X-Long: " + b"x" * LONGEST_HEAD + b"\r\n\r\n"
    with bounded.open() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(head), cut):
            connection.send(head[start : start + cut])
        answer = _read_all(connection)
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == -32600
    assert _is_served(bounded)


def test_a_head_within_the_limit_is_taken_again_and_again(bounded: Web) -> None:
    head, body = _request(
        "measure", b"X-Long: " + b"x" * (LONGEST_HEAD - 1000), b"Content-Length: 0"
    )
    head = head.replace(b"Content-Length: 0", b"Content-Length: %d" % len(body))
    with bounded.open() as connection, connection.makefile("rb") as stream:
        for _ in range(5):
            connection.sendall(head + body)
            assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
            length = next(int(line[16:]) for line in stream if line.startswith(b"content-length"))
            assert stream.readline() == b"\r\n"
            assert json.loads(stream.read(length))["result"]["structuredContent"] == 3


def test_requests_without_a_body_may_follow_each_other_for_ever(bounded: Web) -> None:
    with bounded.open() as connection, connection.makefile("rb") as stream:
        for _ in range(2 * LONGEST_HEAD // len(HEAD)):
            connection.sendall(HEAD.replace(b"POST", b"GET") + b"\r\n")
            assert stream.readline() == b"HTTP/1.1 405 Method Not Allowed\r\n"
            length = next(int(line[16:]) for line in stream if line.startswith(b"content-length"))
            while stream.readline() != b"\r\n":
                pass
            stream.read(length)


@pytest.mark.parametrize(
    "framing", [b"0\r\nX-Long: " + b"x" * 3 * LONGEST_HEAD, b"1;" + b"x" * 3 * LONGEST_HEAD]
)
def test_what_frames_a_body_is_bounded_like_a_head(bounded: Web, framing: bytes) -> None:
    head, body = _request("measure", b"Transfer-Encoding: chunked")
    with bounded.open() as connection:
        connection.sendall(head + b"%x\r\n%b\r\n" % (len(body), body) + framing)
        assert _read_all(connection) == b""
    assert _is_served(bounded)


def test_a_flood_of_requests_on_one_connection_ends_that_connection(bounded: Web) -> None:
    head, body = _request("wait", seconds=20)
    with bounded.open() as connection:
        connection.sendall(head + body + (HEAD.replace(b"POST", b"GET") + b"\r\n") * 1000)
        assert _read_all(connection) == b""
    assert _is_served(bounded)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b""),
        (HEAD[:20], b"408"),
        (HEAD, b"408"),
        (_request()[0], b"408"),
        (_request()[0] + _request()[1][:20], b"408"),
        (_request("measure", b"Transfer-Encoding: chunked")[0] + b"5\r\n{", b"408"),
    ],
    ids=["silence", "line", "head", "no body", "body", "chunk"],
)
def test_a_request_that_does_not_come_is_not_waited_for(
    bounded: Web, sent: bytes, status: bytes
) -> None:
    with bounded.open() as connection:
        connection.sendall(sent)
        answer = _read_all(connection)
    assert answer[9:12] == status


@pytest.mark.parametrize(
    "begun", [HEAD + b"X-Slow: ", _request("measure", b"Content-Length: 100000")[0]]
)
def test_dripping_buys_no_time(bounded: Web, begun: bytes) -> None:
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        while not over.wait(0.05):
            try:
                connection.sendall(b"x")
            except OSError:
                return

    with bounded.open() as connection:
        connection.sendall(begun)
        dripping = threading.Thread(target=drip, args=(connection,))
        dripping.start()
        try:
            assert _read_all(connection).startswith(b"HTTP/1.1 408 ")
        finally:
            over.set()
            dripping.join()


@pytest.fixture
def alone() -> Generator[Web]:
    """A server with small bounds in one process, whose state can be asked for."""
    with run_web(str(SCRIPT), "1") as web:
        yield web


def test_an_answer_that_nobody_reads_is_not_kept_for_ever(alone: Web) -> None:
    def open_files() -> int:
        return alone.call(MODERN, "count_open_files").json["result"]["structuredContent"]

    # The first value of this size is judged in a process that stays, and has files of its own.
    whole = alone.call(MODERN, "repeat", {"times": 30_000_000}).json["result"]
    assert len(whole["structuredContent"]) == 30_000_000
    before = open_files()
    head, body = _request("repeat", times=30_000_000)
    with alone.open() as connection:
        connection.sendall(head + body)
        assert connection.recv(8) == b"HTTP/1.1"
        deadline = time.monotonic() + PATIENCE
        while open_files() > before:
            assert time.monotonic() < deadline, "the connection is still open"
        assert len(_read_all(connection)) < 30_000_000


UNREAD = """
import sys
from anyshape import Server
from anyshape.server import HttpOptions
server = Server("unread")
begun = []
@server.tool
async def repeat(times: int) -> str:
    begun.append(times)
    return "x" * times
@server.tool
async def count() -> int:
    return len(begun)
options = HttpOptions(max_unread_bytes=int(sys.argv[1]))
server.run("http", port=int(sys.argv[2]), options=options, log_level="critical")
"""


def test_answers_that_nobody_reads_hold_a_bounded_room_together() -> None:
    head, body = _request("repeat", times=10_000_000)
    with run_web("-c", UNREAD, "5000000") as web, contextlib.ExitStack() as stack:
        slow: list[socket.socket] = []
        for _ in range(4):
            slow.append(stack.enter_context(web.open()))
            # Of some systems the buffer grows until it holds the whole answer.
            slow[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            slow[-1].sendall(head + body)
            assert slow[-1].recv(8) == b"HTTP/1.1"
        newest = slow.pop()
        assert all(len(_read_all(connection)) < 10_000_000 for connection in slow)
        whole = 0
        while whole < 20_000_000:  # The text is there twice.
            whole += len(newest.recv(65_536))


def test_a_request_does_not_begin_before_the_answer_before_it_has_been_read() -> None:
    head, body = _request("repeat", times=10_000_000)
    with run_web("-c", UNREAD, "45000000") as web, web.open() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        slow.sendall(2 * (head + body))
        assert slow.recv(8) == b"HTTP/1.1"
        slow.sendall(head + body)
        assert web.call(MODERN, "count", {}).json["result"]["structuredContent"] == 1
        whole = 0
        while whole < 60_000_000:  # Each text is there twice.
            whole += len(slow.recv(65_536))
        assert web.call(MODERN, "count", {}).json["result"]["structuredContent"] == 3


def test_an_answer_that_is_read_in_part_takes_the_room_of_a_whole_one() -> None:
    head, body = _request("repeat", times=10_000_000)
    with run_web("-c", UNREAD, "45000000") as web, contextlib.ExitStack() as stack:
        slow: list[tuple[socket.socket, int]] = []
        for _ in range(4):
            connection = stack.enter_context(web.open())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            connection.sendall(head + body)
            read = 0
            while read < 12_000_000:  # The text is there twice, and the network holds some of it.
                read += len(connection.recv(65_536))
            slow.append((connection, read))
        is_whole = [read + len(_read_all(each, 8_000_000)) >= 20_000_000 for each, read in slow]
    assert is_whole == [False, False, True, True]


def test_bodies_that_are_not_whole_hold_a_bounded_room_together(alone: Web) -> None:
    large = "x" * 600_000
    head, body = _request("measure", text=large)
    with alone.open() as unfinished, alone.open() as refused:
        unfinished.sendall(head + body[:-1])
        refused.sendall(head + body[:-1])
        first = b"".join(_first_bytes(unfinished, refused))
        assert first == b"HTTP/1.1 503"
        assert _is_served(alone)
    answer = alone.call(MODERN, "measure", {"text": large})
    assert answer.json["result"]["structuredContent"] == len(large)


def _first_bytes(*connections: socket.socket) -> Generator[bytes]:
    """Return what the connection says that is the first to say something."""
    for connection in select.select(connections, (), (), PATIENCE)[0]:
        yield connection.recv(12)


def test_every_process_drains_in_the_grace_time(processes: int) -> None:
    running = run_web(str(SCRIPT), str(processes))
    with running as web:
        calls = [_start_waiting(web, seconds) for seconds in (0.5, 0.5, 0.5, 60, 60, 60)]
        running.process.send_signal(signal.SIGTERM)
        endings = [_read_all(connection) for connection in calls]
        assert running.process.wait(PATIENCE) is not None
    for connection in calls:
        connection.close()
    assert [b"waited" in ending for ending in endings] == [True] * 3 + [False] * 3
    assert [b'"code":503' in ending for ending in endings] == [False] * 3 + [True] * 3


def _start_waiting(web: Web, seconds: float) -> socket.socket:
    """Return a connection whose call has begun to wait."""
    params = {
        "name": "wait",
        "arguments": {"seconds": seconds},
        "_meta": {"progressToken": "p"},
    }
    body = json.dumps(message("tools/call", with_meta(MODERN, params), 1)).encode()
    needed = headers_for(MODERN, "tools/call", params).items()
    head = HEAD + b"Content-Type: application/json\r\nAccept: text/event-stream\r\n"
    head += b"".join(f"{name}: {value}\r\n".encode() for name, value in needed)
    connection = web.open()
    connection.sendall(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    seen = b""
    while b"notifications/progress" not in seen:
        seen += (received := connection.recv(65_536))
        assert received, seen
    return connection
