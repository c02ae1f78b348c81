"""Which HTTP library should the client stand on? What does one small call cost with each?

    python benchmarks/bench_http_libraries.py [calls]

A bare uvicorn application answers a canned `tools/call`; each library posts the same request, 16 in
flight, from a process of its own, and reads the JSON of the answer. Libraries that are not
installed are left out. docs/internals/client.md has the table and the choice.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

IN_FLIGHT = 16
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","structuredContent":42}}'
REQUEST = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "get_count",
            "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
).encode()
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "get_count",
}
Call = Callable[[], Awaitable[Any]]


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(ANSWER)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


async def drive(call: Call, calls: int) -> tuple[float, float]:
    """Return calls a second, and microseconds of CPU a call."""

    async def work() -> None:
        for _ in range(calls // IN_FLIGHT):
            json.loads(await call())

    await asyncio.gather(*(work() for _ in range(2)))
    started, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    made = calls // IN_FLIGHT * IN_FLIGHT
    elapsed, spent = time.perf_counter() - started, time.process_time() - cpu
    return made / elapsed, spent / made * 1e6


async def with_sockets(url: str, calls: int) -> tuple[float, float]:
    """Measure the floor: a protocol of our own that parses with httptools and nothing else."""
    import httptools

    free: list[Any] = []
    fields = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    head = f"POST /mcp HTTP/1.1\r\nHost: x\r\n{fields}Content-Length: {len(REQUEST)}\r\n\r\n"
    message = head.encode() + REQUEST

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            self.parser.feed_data(data)

        def on_body(self, body: bytes) -> None:
            self.body += body

        def on_message_complete(self) -> None:
            self.done.set_result(self.body)

        def post(self) -> asyncio.Future[bytes]:
            self.body = b""
            self.parser = httptools.HttpResponseParser(self)
            self.done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            self.transport.write(message)
            return self.done

    async def call() -> bytes:
        place = urlsplit(url)
        if free:
            connection = free.pop()
        else:
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(Connection, place.hostname, place.port)
        body = await connection.post()
        free.append(connection)
        return body

    return await drive(call, calls)


async def with_aiohttp(url: str, calls: int) -> tuple[float, float]:
    import aiohttp

    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def call() -> bytes:
            async with session.post(url, data=REQUEST, headers=HEADERS) as response:
                return await response.read()

        return await drive(call, calls)


async def with_httpcore2(url: str, calls: int) -> tuple[float, float]:
    import httpcore2

    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    async with httpcore2.AsyncConnectionPool(max_connections=100) as pool:

        async def call() -> bytes:
            response = await pool.request("POST", url, headers=headers, content=REQUEST)
            return response.content

        return await drive(call, calls)


async def with_httpx2(url: str, calls: int) -> tuple[float, float]:
    import httpx2

    async with httpx2.AsyncClient() as client:

        async def call() -> bytes:
            return (await client.post(url, content=REQUEST, headers=HEADERS)).content

        return await drive(call, calls)


async def with_niquests(url: str, calls: int) -> tuple[float, float]:
    import niquests  # pyright: ignore[reportMissingImports]

    async with niquests.AsyncSession() as session:

        async def call() -> bytes:
            return (await session.post(url, data=REQUEST, headers=HEADERS)).content

        return await drive(call, calls)


LIBRARIES = {
    "httptools": with_sockets,
    "aiohttp": with_aiohttp,
    "httpcore2": with_httpcore2,
    "httpx2": with_httpx2,
    "niquests": with_niquests,
}


def serve() -> None:
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    configuration = uvicorn.Config(application, log_level="error", access_log=False)
    uvicorn.Server(configuration).run(sockets=[listener])


def main(calls: int) -> None:
    command = [sys.executable, __file__]
    with subprocess.Popen([*command, "serve"], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
            print(f"{'library':12} {'calls/s':>8} {'µs of CPU a call':>18}")
            for name in LIBRARIES:
                if importlib.util.find_spec(name) is None:
                    print(f"{name:12} {'not installed':>8}")
                    continue
                done = subprocess.run(
                    [*command, name, url, str(calls)], capture_output=True, text=True, check=True
                )
                rate, cost = map(float, done.stdout.split())
                print(f"{name:12} {rate:8.0f} {cost:18.0f}")
        finally:
            server.terminate()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve"]:
            serve()
        case [name, url, count]:
            print(*asyncio.run(LIBRARIES[name](url, int(count))))
        case [count]:
            main(int(count))
        case _:
            main(4000)
