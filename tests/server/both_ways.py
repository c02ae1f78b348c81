"""The same bytes to two servers, one of which uses every event of ASGI: both have to say the same.

Sequences of requests (valid, odd, broken, pipelined, cut anywhere) are made from a seed, and sent
to a server that goes past uvicorn's events (`anyshape.server.whole_messages`) and to one that does
not. What comes back is compared byte by byte, and so is what becomes of the connection. Run for
longer with `python tests/server/both_ways.py SECONDS SEED`.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

SCRIPT: Final = """
import asyncio, sys
import uvicorn
from anyshape import Server
from anyshape.server import http_peer
from anyshape.server.options import ServerOptions

way, host = sys.argv[1:]
if way == "through":
    uvicorn.__version__ = "0"  # One that was not read, whose events are used.
server = Server("both", options=ServerOptions(max_message_bytes=20_000))

@server.tool
async def echo(text: str, times: int = 1, seconds: float = -1) -> str:
    if seconds >= 0:
        await asyncio.sleep(seconds)
    return text * times

write_answer, written = http_peer.write_answer, []

def counted(send, body):
    is_written = write_answer(send, body)
    written.append(is_written)
    return is_written

http_peer.write_answer = counted

@server.tool
def count_past() -> int:
    return sum(written)

class Telling(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)

settings = dict(port=0, log_level="error", access_log=False, ws="none", server_header=False)
settings.update(timeout_keep_alive=60)
if host == "ours":
    settings.update(http="anyshape.server.http_protocol:HttpProtocol")
elif host == "mounted":
    settings.update(root_path="/api", loop="asyncio", headers=[("server", "both")])
Telling(uvicorn.Config(server.asgi(), **settings)).run()
"""
HOSTS: Final = ("ours", "uvicorn", "mounted")
QUIET: Final = 1.0
"""Seconds without a byte after which a connection is one that stays open."""
TRIES: Final = 25
"""How often a sequence is sent again whose outcomes differ: when a piece comes is chance."""
_CHANGING: Final = re.compile(rb"(?im)^(date|mcp-session-id): [^\r\n]*")
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _call(choose: random.Random, **arguments: Any) -> tuple[bytes, list[bytes]]:
    text = choose.choice(["", "abc", "Grüße 🙂", 'quote"', "x" * choose.randrange(3000)])
    params = {"name": "echo", "arguments": {"text": text, **arguments}, "_meta": _META}
    message = {"jsonrpc": "2.0", "id": choose.choice([1, "a", -7]), "method": "tools/call"}
    headers = [b"MCP-Protocol-Version: 2026-07-28", b"Mcp-Method: tools/call", b"Mcp-Name: echo"]
    return json.dumps({**message, "params": params}).encode(), headers


def _body(choose: random.Random) -> tuple[bytes, list[bytes]]:
    """Return a body and the headers that belong to it."""
    call, headers = _call(choose)
    match choose.randrange(16):
        case 0:
            return _call(choose, seconds=choose.choice([0, 0.001, 0.03]))
        case 1:
            return _call(choose, times=choose.choice([0, 10, 500]))
        case 2:
            return _call(choose, text=7)
        case 3:
            return call[:-3], headers
        case 4:
            return b"\xef\xbb\xbf" + call, headers
        case 5:
            return call, [b"MCP-Protocol-Version: 2026-07-28", b"Mcp-Method: tools/list"]
        case 6:
            listing = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
            return json.dumps([listing, listing, 7]).encode(), []
        case 7:
            said: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}}
            said["clientInfo"] = {"name": "raw", "version": "0"}
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said}
            return json.dumps(hello).encode(), []
        case 8:
            return b'{"jsonrpc":"2.0","method":"notifications/initialized"}', []
        case 9:
            return choose.choice([b"", b"null", b"[]", b"[" * 5000, b"\xff\xfe{"]), []
        case 10:
            return b'{"jsonrpc":"2.0","id":1,"method":"ping"}', [
                b"MCP-Protocol-Version: 2025-11-25"
            ]
        case _:
            return call, headers


_ODD: Final = [
    b"Connection: close",
    b"Connection: keep-alive",
    b"Connection: Close, X-Any",
    b"Connection: upgrade\r\nUpgrade: websocket",
    b"Connection: Upgrade\r\nUpgrade: h2c",
    b"Expect: 100-continue",
    b"Expect: 200-ok",
    b"Host: other",
    b"Content-Length: 3",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked",
    b"X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https",
    b"X-Raw: \xff\xfe\x80",
    b"X-Folded: one\r\n two",
    b"X-Zero: a\x00b",
    b"X-Return: a\rb",
    b"X-Empty:",
    b": no name",
    b"No colon",
    b"Accept: text/html",
    b"Accept: application/json",
    b"Content-Type: text/plain",
    b"Origin: http://elsewhere.example",
    b"X-Long: " + b"a" * 5_000,
    b"X-Too-Long: " + b"a" * 70_000,
    b"Mcp-Session-Id: nobody",
]
_LINES: Final = [
    b"GET /mcp HTTP/1.1",
    b"HEAD /mcp HTTP/1.1",
    b"DELETE /mcp HTTP/1.1",
    b"OPTIONS * HTTP/1.1",
    b"PUT /mcp HTTP/1.1",
    b"post /mcp HTTP/1.1",
    b"NONSENSE /mcp HTTP/1.1",
    b"CONNECT localhost:80 HTTP/1.1",
    b"POST /mcp HTTP/1.0",
    b"POST /mcp HTTP/0.9",
    b"POST /mcp HTTP/1.2",
    b"POST /mcp",
    b"POST http://localhost/mcp HTTP/1.1",
    b"POST /mcp/ HTTP/1.1",
    b"POST /mcp?a=b HTTP/1.1",
    b"POST /%6dcp HTTP/1.1",
    b"POST /m\xffp HTTP/1.1",
    b"POST /elsewhere HTTP/1.1",
    b"POST //mcp HTTP/1.1",
]
_LAST: Final = b"GET /end HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def _request(choose: random.Random, oddity: float) -> bytes:
    body, headers = _body(choose)
    line = choose.choice(_LINES) if choose.random() < oddity else b"POST /mcp HTTP/1.1"
    lines = [
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Accept: application/json, text/event-stream",
        *headers,
    ]
    if choose.random() < 0.2:
        lines.append(b"Transfer-Encoding: chunked")
        size = choose.choice([1, 7, 100, 10_000])
        parts = [body[start : start + size] for start in range(0, len(body), size)][:400]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
        body = framed + choose.choice([b"0\r\n", b"0;a=b\r\n"])
        while choose.random() < 0.3:
            body += choose.choice([b"X-After: 1", *_ODD]) + b"\r\n"
        body += b"\r\n"
    else:
        lines.append(b"Content-Length: %d" % len(body))
    while choose.random() < oddity:
        lines.insert(choose.randrange(len(lines) + 1), choose.choice(_ODD))
    if choose.random() < oddity / 4:
        lines.pop(choose.randrange(len(lines)))
    end = b"\n" if choose.random() < oddity / 8 else b"\r\n"
    return end.join([line, *lines, b"", b""]) + body


def sequence(seed: int) -> tuple[list[bytes], int]:
    """Return the pieces of one connection, and how many requests they hold."""
    choose = random.Random(seed)
    oddity = choose.choice([0, 0, 0.1, 0.3])
    count = choose.choice([1, 2, 3, 5, 9])
    requests = [_request(choose, oddity) for _ in range(count)]
    if oddity and choose.random() < 0.3:
        noise = [b"\x00garbage\r\n\r\n", b"\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"}"]
        requests.insert(choose.randrange(count + 1), choose.choice(noise))
    if oddity and choose.random() < 0.1:
        requests[-1] = requests[-1][: choose.randrange(1, len(requests[-1]) + 1)]
    requests.append(_LAST)
    together = choose.random()
    if together < 0.4:
        return [b"".join(requests)], count
    if together < 0.7:
        return requests, count
    whole = b"".join(requests)
    cuts = sorted(choose.sample(range(1, len(whole)), choose.randrange(1, 12)))
    return [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)], count


def outcome(port: int, pieces: list[bytes]) -> tuple[bytes, str]:
    """Send the pieces; return what comes back, and whether the connection is over then."""
    got = bytearray()
    fate = "closed"
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                connection.sendall(piece)
            connection.settimeout(QUIET)
            while data := connection.recv(65_536):
                got += data
        except TimeoutError:
            fate = "open"
        except OSError:
            fate = "reset"
    return _CHANGING.sub(rb"\1: any", bytes(got)), fate


def count_past(port: int) -> int:
    """Return how many answers a server has written past the events so far."""
    params: dict[str, Any] = {"name": "count_past", "arguments": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body.encode(), headers)
    with urllib.request.urlopen(asked, timeout=30) as response:
        return int(json.load(response)["result"]["content"][0]["text"])


def difference(ports: tuple[int, int], seed: int) -> str | None:
    """Say what one server does with a sequence that the other never does, if there is anything."""
    pieces, _ = sequence(seed)
    past, through = (outcome(port, pieces) for port in ports)
    if past == through:
        return None
    # When a piece comes may decide what it meets: only what the other cannot do counts.
    seen = [{past}, {through}]
    for _ in range(TRIES):
        for port, outcomes in zip(ports, seen, strict=True):
            outcomes.add(outcome(port, pieces))
        if seen[0] & seen[1]:
            return None
    return f"seed {seed}: past {seen[0]!r:.600}\nthrough {seen[1]!r:.600}"


@contextlib.contextmanager
def serving(host: str) -> Generator[tuple[int, int]]:
    """Serve both ways in processes of their own; give their ports."""
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        for way in ("past", "through"):
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", SCRIPT, way, host],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            ports.append(int(process.stdout.readline()))
        yield ports[0], ports[1]


def main() -> None:
    """Compare until the time is over, and print what was found."""
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    for host in HOSTS:
        exchanges, first, found = 0, seed, 0
        with serving(host) as ports, ThreadPoolExecutor(16) as pool:
            until = time.monotonic() + seconds / len(HOSTS)
            while time.monotonic() < until:
                seeds = range(first, first + 200)
                first += 200
                for said in pool.map(partial(difference, ports), seeds):
                    if said is not None:
                        found += 1
                        print(said, flush=True)
                exchanges += sum(sequence(each)[1] + 1 for each in seeds)
        print(f"{host}: {exchanges} exchanges, {found} differences", flush=True)


if __name__ == "__main__":
    main()
