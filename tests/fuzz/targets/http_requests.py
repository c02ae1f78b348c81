"""What a client writes to an HTTP connection: heads and bodies, as uvicorn and ours parse them.

A body follows its head after an empty line. Where the head has no length, it gets the right one, so
that bodies can be changed without the end of the request being lost.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import uvicorn
from mutator import mutate_bytes, mutate_json
from sample_server import make_server
from turns import LOOP, turn_until_done
from turns import run as run_coroutine
from uvicorn.server import ServerState

from anyshape.protocol.jsonrpc import INTERNAL_ERROR
from anyshape.server.http import HOSTED
from anyshape.server.http_host import settings_of_uvicorn
from anyshape.server.http_protocol import HttpProtocol

from . import Target, server_messages

APPLICATION = make_server().asgi()
CONFIG = uvicorn.Config(APPLICATION, **settings_of_uvicorn("127.0.0.1", 80, 0.0, {}))
CONFIG.log_config = None
CONFIG.load()
STATE = ServerState()
BLANK = b"\r\n\r\n"


def head(version: str, *lines: str, verb: str = "POST") -> bytes:
    """Return a request's head as a good client writes it."""
    known = (
        f"{verb} /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        *([f"MCP-Protocol-Version: {version}"] if version else []),
        *lines,
    )
    return "\r\n".join(known).encode()


def seeds() -> tuple[bytes, ...]:
    """Return every request in both eras, and some that are about HTTP alone."""
    found: list[bytes] = []
    for method, params in server_messages.REQUESTS:
        name = params.get("name") or params.get("uri")
        named = [f"Mcp-Name: {name}"] if name else []
        body = server_messages.message(method, 7, **{"_meta": server_messages.META, **params})
        found.append(head("2026-07-28", f"Mcp-Method: {method}", *named) + BLANK + body)
        body = server_messages.message(method, 7, **params)
        found.append(head("2025-11-25") + BLANK + body)
    greeting = server_messages.greeting("2025-11-25").split(b"\n")[0]
    found.append(head("") + BLANK + greeting)
    found.append(head("", "Last-Event-ID: n.1.2.x", "Mcp-Session-Id: abc", verb="GET") + BLANK)
    found.append(head("", "Mcp-Session-Id: abc", verb="DELETE") + BLANK)
    found.append(
        head("", "Transfer-Encoding: chunked") + BLANK + b'5\r\n{"a":\r\n1\r\n1\r\n0\r\n\r\n'
    )
    found.append(head("", "Expect: 100-continue", "Content-Length: 2") + BLANK + b"{}")
    found.append(head("", "Origin: http://evil.example", "Host: a, b") + BLANK + b"{}")
    found.append(b"GET / HTTP/1.0\r\n\r\n" * 3)
    return tuple(found)


class Wire(asyncio.Transport):
    """The other end of a connection: what is written to it is kept."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 9), "sockname": ("127.0.0.1", 80)})
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.written.extend(map(bytes, list_of_data))

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed

    def write_eof(self) -> None:
        pass

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0


def run(data: bytes) -> None:
    """Send it in two pieces, and look at what comes back."""
    run_coroutine(_talk(_complete(data)))


def _complete(data: bytes) -> bytes:
    start, blank, body = data.partition(BLANK)
    known = start.lower()
    if not blank or not body or b"content-length:" in known or b"transfer-encoding:" in known:
        return data
    return b"%b\r\nContent-Length: %d%b%b" % (start, len(body), BLANK, body)


async def _talk(data: bytes) -> None:
    wire = Wire()
    connection = HttpProtocol(CONFIG, STATE, {HOSTED: APPLICATION}, LOOP)
    connection.connection_made(wire)
    cut = len(data) // 2
    for piece in (data[:cut], data[cut:]):
        if not wire.closed:
            connection.data_received(piece)
            await asyncio.sleep(0)
    await turn_until_done(*STATE.tasks)
    connection.connection_lost(None)
    assert await turn_until_done(*STATE.tasks), "a request outlives its connection"
    answer = b"".join(wire.written)
    assert b"HTTP/1.1 500" not in answer, answer[:500]
    assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:100]
    for line in answer.split(b"\n"):
        if line.startswith((b"{", b"data: {")):
            sent = json.loads(line.removeprefix(b"data: ").partition(b"HTTP/1.1")[0])
            assert sent.get("error", {}).get("code") != INTERNAL_ERROR, (data, sent)


def mutate(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Change the head, or the body so that it mostly stays JSON."""
    start, blank, body = data.partition(BLANK)
    if random.random() < 0.5 or not body:
        return mutate_bytes(start, random, donors) + blank + body
    if random.random() < 0.25:
        return start + blank + mutate_bytes(body, random, donors)
    return start + blank + mutate_json(body, random, [random.choice(donors).partition(BLANK)[2]])


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, seeds(), mutate)
