"""How every Python client is driven: `python -m bed.clients.NAME URL`, or `memory`.

Orders come as JSON lines on standard input and are answered on standard output; in between, the
client keeps a number of calls in flight. Every value is compared with the expected one once, and
its kind on every call.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from bed import shop

Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


def run(connect: Callable[[str], AbstractAsyncContextManager[Call]]) -> None:
    """Connect to what the command line names and obey orders until standard input ends."""
    asyncio.run(_run(connect))


async def _run(connect: Callable[[str], AbstractAsyncContextManager[Call]]) -> None:
    async with connect(sys.argv[1]) as call:
        for tool in shop.TOOLS:
            value = await call(tool, shop.ARGUMENTS[tool])
            if value != shop.EXPECTED[tool]:
                raise SystemExit(f"{tool} gave {str(value)[:300]}")
        print(json.dumps({"ready": True}), flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps(await _obey(call, **json.loads(line))), flush=True)


async def _obey(call: Call, tool: str, in_flight: int, seconds: float) -> dict[str, float]:
    arguments = shop.ARGUMENTS[tool]
    kind = type(shop.EXPECTED[tool])
    start = time.perf_counter()
    deadline = start + seconds
    latencies: list[float] = []

    async def work() -> None:
        now = time.perf_counter()
        while now < deadline:
            asked = now
            value = await call(tool, arguments)
            now = time.perf_counter()
            latencies.append(now - asked)
            if type(value) is not kind:
                raise TypeError(f"{tool} gave {type(value).__name__}, not {kind.__name__}")

    await asyncio.gather(*(work() for _ in range(in_flight)))
    elapsed = time.perf_counter() - start
    ordered = sorted(latencies)
    return {
        "calls": len(ordered),
        "seconds": elapsed,
        "p50": ordered[len(ordered) // 2],
        "p99": ordered[len(ordered) * 99 // 100],
    }
