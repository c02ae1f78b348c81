"""A light HTTP load generator that runs in a process of its own.

Raw sockets and a few lines of parsing: about a tenth of what the bare ASGI application costs, so
that the server, not the generator, is what is measured. Every answer must be exactly as long as
the first one, which the caller has read and checked.
"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from bed.contenders import BENCHMARKS

DRAIN_TIMEOUT = 30.0


@dataclass(frozen=True)
class Load:
    """What one burst of load found."""

    calls: int
    seconds: float
    p50: float
    p99: float

    @property
    def rate(self) -> float:
        """Return calls per second."""
        return self.calls / self.seconds


class Generator:
    """The generator's process, ready for bursts; use it as a context manager."""

    def __enter__(self) -> Generator:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bed.http_load"],
            cwd=BENCHMARKS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=10)

    def burst(self, port: int, request: bytes, *, connections: int, seconds: float) -> Load:
        """Keep one `request` in flight on each connection for `seconds`."""
        order = {
            "port": port,
            "request": base64.b64encode(request).decode(),
            "connections": connections,
            "seconds": seconds,
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        if "error" in found:
            raise RuntimeError(f"load on port {port}: {found['error']}")
        return Load(**found)


class _Burst:
    """The state that the connections of one burst share."""

    def __init__(self, request: bytes, connections: int) -> None:
        self.request = request
        self.open = connections
        self.deadline = 0.0
        self.size = 0
        self.latencies: list[float] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError(reason))


class _Connection(asyncio.Protocol):
    def __init__(self, burst: _Burst) -> None:
        self.burst = burst
        self.pieces: list[bytes] = []
        self.length = 0
        self.started = 0.0
        self.finished = False

    def connection_made(self, transport: Any) -> None:
        self.write = transport.write

    def send(self) -> None:
        self.started = time.perf_counter()
        self.write(self.burst.request)

    def data_received(self, data: bytes) -> None:
        # A large answer comes in pieces; joining them would cost more than the server's part of it.
        burst = self.burst
        self.pieces.append(data)
        self.length += len(data)
        if self.length < burst.size or not (burst.size or _is_whole(b"".join(self.pieces))):
            return
        now = time.perf_counter()
        first = self.pieces[0]
        if not first.startswith(b"HTTP/1.1 200") or self.length != (burst.size or self.length):
            burst.fail(f"unexpected answer {first[:200]!r}")
            return
        burst.size = self.length
        self.pieces.clear()
        self.length = 0
        burst.latencies.append(now - self.started)
        if now < burst.deadline:
            self.started = now
            self.write(burst.request)
            return
        self.finished = True
        burst.open -= 1
        if not burst.open and not burst.done.done():
            burst.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.finished:
            self.burst.fail(f"the server closed a connection: {error}")


def _is_whole(data: bytes) -> bool:
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) == int(line[15:])
    return body.endswith(b"0\r\n\r\n")


async def _run(port: int, request: str, connections: int, seconds: float) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    burst = _Burst(base64.b64decode(request), connections)
    opened = [
        await loop.create_connection(lambda: _Connection(burst), "127.0.0.1", port)
        for _ in range(connections)
    ]
    start = time.perf_counter()
    burst.deadline = start + seconds
    for _, connection in opened:
        connection.send()
    try:
        await asyncio.wait_for(burst.done, seconds + DRAIN_TIMEOUT)
        elapsed = time.perf_counter() - start
    finally:
        for transport, connection in opened:
            connection.finished = True
            transport.abort()
    ordered = sorted(burst.latencies)
    return {
        "calls": len(ordered),
        "seconds": elapsed,
        "p50": ordered[len(ordered) // 2],
        "p99": ordered[len(ordered) * 99 // 100],
    }


def _main() -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin:
            try:
                found: dict[str, Any] = runner.run(_run(**json.loads(line)))
            except (OSError, TimeoutError) as error:
                found = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _main()
