"""No answer, report, question, log message, change or cancellation reaches the wrong request.

Clients in a crowd count their requests from the same number on, so ids and progress tokens are
equal among all connections; at 2026-07-28 nothing else tells them apart either. Each looks at every
frame that it receives. `make isolation SECONDS=600 VISITORS=40` does the same for longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from patience import is_listening, turn_until
from tests.server.redis_process import RedisProcess

from .crowd import crowd
from .crowded_server import make_server
from .intruder import intruding

PROGRAM = str(Path(__file__).with_name("crowded_server.py"))
SECONDS = float(os.environ.get("ISOLATION_SECONDS", "0"))
VISITORS = int(os.environ.get("ISOLATION_VISITORS", "6"))


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Generator[RedisProcess]:
    process = RedisProcess(tmp_path_factory.mktemp("redis"))
    process.start()
    yield process
    process.stop()


@contextlib.asynccontextmanager
async def serving(role: str, *words: str) -> AsyncGenerator[int]:
    """Run the program in a process of its own, and give the port that it listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, PROGRAM, role, str(port), *words), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await turn_until(lambda: is_listening(port) or process.returncode is not None, pause=0.05)
        assert process.returncode is None
        yield port
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def balancing(*ports: int) -> AsyncGenerator[int]:
    """Send each connection to another port than the one before, and give the port for all."""
    turns = 0

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal turns
        turns += 1
        there = await asyncio.open_connection("127.0.0.1", ports[turns % len(ports)])
        await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))

    balancer = await asyncio.start_server(carry, "127.0.0.1", 0)
    async with balancer:
        yield balancer.sockets[0].getsockname()[1]
    assert turns > 1


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


async def stress(target: object) -> None:
    counts: Counter[str] = await crowd(lambda _: target, visitors=VISITORS, seconds=SECONDS)
    print(dict(counts))
    assert counts["frames with a secret"] > counts["requests"] / 2
    for kind in ("reports", "log messages", "questions", "changes", "cancelled"):
        assert counts[kind] > 0, kind


async def test_connections_in_one_process_hear_only_their_own() -> None:
    await stress(make_server())


async def test_clients_of_one_server_over_http_hear_only_their_own() -> None:
    async with serving("server") as port:
        await stress(url(port))


async def test_clients_of_replicas_hear_only_their_own(redis: RedisProcess) -> None:
    async with (
        serving("server", redis.url) as one,
        serving("server", redis.url) as two,
        balancing(one, two) as port,
    ):
        await stress(url(port))


async def test_nobody_can_end_or_answer_the_requests_of_others(redis: RedisProcess) -> None:
    async with (
        serving("server", redis.url) as one,
        serving("server", redis.url) as two,
        balancing(one, two) as port,
        intruding(url(port)) as statuses,
    ):
        await stress(url(port))
    assert sum(statuses.values()) > 100
    assert not [status for status in statuses if status >= 500]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_callers_that_share_an_upstream_behind_a_gateway_hear_only_their_own(
    revision: str,
) -> None:
    async with serving("server") as port, serving("gateway", url(port), revision) as front:
        await stress(url(front))


async def test_callers_of_a_gateway_before_replicas_hear_only_their_own(
    redis: RedisProcess,
) -> None:
    async with (
        serving("server", redis.url) as one,
        serving("server", redis.url) as two,
        balancing(one, two) as upstream,
        serving("gateway", url(upstream), "auto") as front,
    ):
        await stress(url(front))
