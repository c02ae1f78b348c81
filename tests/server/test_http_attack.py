"""Whatever some peers do over HTTP, the others are answered."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import struct
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest

from .conftest import MODERN, PATIENCE, Web, headers_for, message, run_web, with_meta

CLIENTS = 8
CALLS = 100
SCRIPT = """
import asyncio, sys, time
import uvicorn
from anyshape import Server
if sys.argv[1] == "through":
    uvicorn.__version__ = "0"  # One whose events are used.
server = Server("attacked")
@server.tool
async def meet(number: int) -> int:
    # Calls that wait for the same thing are answered in the same turn of the loop.
    await asyncio.sleep(0.01 - time.monotonic() % 0.01)
    return number
server.run("http", port=int(sys.argv[2]), log_level="critical")
"""


@pytest.fixture(params=["past", "through"])
def attacked(request: pytest.FixtureRequest) -> Generator[Web]:
    """A server of the test's own, which goes past uvicorn's events or uses them all."""
    with run_web("-c", SCRIPT, request.param) as web:
        yield web


def _post(number: int = 0) -> bytes:
    """Return a call as it is on the wire."""
    params = {"name": "meet", "arguments": {"number": number}}
    body = json.dumps(message("tools/call", with_meta(MODERN, params), number)).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers_for(MODERN, "tools/call", params).items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _ask_and_reset(web: Web) -> None:
    connection = web.open()
    connection.sendall(_post())
    _reset(connection)


def _ask_and_close(web: Web) -> None:
    with web.open() as connection:
        connection.sendall(_post())


def _ask_twice_and_close(web: Web) -> None:
    with web.open() as connection:
        connection.sendall(_post() * 2)


def _ask_twice_and_reset(web: Web) -> None:
    connection = web.open()
    connection.sendall(_post() * 2)
    _reset(connection)


def _pipeline_garbage(web: Web) -> None:
    with web.open() as connection:
        connection.sendall(_post() + b"\x00garbage\r\n\r\n")
        connection.recv(65_536)


def _pipeline_garbage_and_reset(web: Web) -> None:
    connection = web.open()
    connection.sendall(_post() + b"GARBAGE / / /\r\n\r\n")
    _reset(connection)


def _send_half_a_head(web: Web) -> None:
    with web.open() as connection:
        connection.sendall(_post()[:60])


def _drip_a_body(web: Web) -> None:
    call = _post()
    with web.open() as connection:
        connection.sendall(call[:-40])
        for byte in call[-40:-20]:
            connection.sendall(bytes([byte]))


def _send_a_huge_head(web: Web) -> None:
    with web.open() as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nX-Long: " + b"a" * 200_000 + b"\r\n\r\n")
        connection.recv(65_536)


def _name_two_hosts(web: Web) -> None:
    with web.open() as connection:
        connection.sendall(_post().replace(b"Host: ", b"Host: other\r\nHost: ", 1))
        connection.recv(65_536)


def _send_a_batch_and_close(web: Web) -> None:
    params = {"name": "meet", "arguments": {"number": 1}}
    batch = json.dumps([message("tools/call", params, number) for number in range(20)]).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-03-26\r\n"
        f"Content-Length: {len(batch)}\r\n\r\n"
    )
    with web.open() as connection:
        connection.sendall(head.encode() + batch)


ATTACKS = (
    _ask_and_reset,
    _ask_and_close,
    _ask_twice_and_close,
    _ask_twice_and_reset,
    _pipeline_garbage,
    _pipeline_garbage_and_reset,
    _send_half_a_head,
    _drip_a_body,
    _send_a_huge_head,
    _name_two_hosts,
    _send_a_batch_and_close,
)


@contextlib.contextmanager
def _under_attack(web: Web) -> Generator[None]:
    """Attack in every way, over and over, while the block runs."""
    over = threading.Event()

    def attack(how: Callable[[Web], None]) -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                how(web)

    attackers = [threading.Thread(target=attack, args=(how,), daemon=True) for how in ATTACKS]
    for attacker in attackers:
        attacker.start()
    try:
        yield
    finally:
        over.set()
        for attacker in attackers:
            attacker.join(PATIENCE)


def _call(web: Web, answered: list[int]) -> None:
    """Call over and over on one connection, and count what is answered rightly."""
    with web.open() as connection, connection.makefile("rb") as stream:
        for number in range(CALLS):
            connection.sendall(_post(number))
            answer = _answer(stream)
            assert (answer["id"], answer["result"]["structuredContent"]) == (number, number)
            answered.append(number)


def _answer(stream: Any) -> Any:
    assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
    headers = dict(
        line.decode().rstrip().lower().split(": ", 1)
        for line in itertools.takewhile(lambda line: line != b"\r\n", stream)
    )
    return json.loads(stream.read(int(headers["content-length"])))


@pytest.mark.behaviour("transport.http.json-answer")
def test_peers_that_close_reset_and_send_garbage_cost_nobody_an_answer(attacked: Web) -> None:
    answered: list[int] = []
    clients = [
        threading.Thread(target=_call, args=(attacked, answered), daemon=True)
        for _ in range(CLIENTS)
    ]
    with _under_attack(attacked):
        for client in clients:
            client.start()
        for client in clients:
            client.join(PATIENCE)
    assert len(answered) == CLIENTS * CALLS
