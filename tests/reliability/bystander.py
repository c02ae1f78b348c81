"""A client that asks for one thing at a time, whatever others do: in a process of its own.

python -m tests.reliability.bystander PORT      until its input ends; then it prints what it saw
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field
from typing import Final

from .traffic import Call, dial, judge

__all__ = ["Bystander", "standing_by"]

_IDLE: Final = 4.0
"""Seconds after which a server may close a connection that is silent."""


@dataclass
class Bystander:
    """What a client saw whose every call has to be answered rightly, or refused politely."""

    latencies: list[float] = field(default_factory=list[float])
    refused: int = 0
    """Calls that were not taken because the server was full, with word when to try again."""

    @property
    def median(self) -> float:
        return sorted(self.latencies)[len(self.latencies) // 2]

    @property
    def worst(self) -> float:
        return max(self.latencies)


@contextlib.asynccontextmanager
async def standing_by(port: int, seen: Bystander) -> AsyncGenerator[None]:
    """Have a client stand by for the time of a block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __spec__.name, str(port)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"answered\n"
        yield
    finally:
        said, _ = await process.communicate(b"")
        assert process.returncode == 0, "the bystander was not answered rightly"
        found = json.loads(said)
        seen.latencies += found["latencies"]
        seen.refused += found["refused"]


async def _stand_by(port: int) -> Bystander:
    seen, over = Bystander(), asyncio.Event()
    asyncio.get_running_loop().add_reader(0, over.set)
    line, heard = await dial(port), time.perf_counter()
    number = 0
    while not over.is_set():
        call = Call("at once", number)
        start = time.perf_counter()
        line.send(call.request())
        try:
            reply = await line.reply()
        except (ConnectionError, asyncio.IncompleteReadError):
            if time.perf_counter() - heard < _IDLE:
                raise
            # We were so slow that the server took us for idle.
            line, heard = await dial(port), start
            continue
        heard = time.perf_counter()
        verdict = judge(call, reply.messages[-1], reply.status)
        if verdict == "busy" and "retry-after" in reply.headers:
            seen.refused += 1
        elif verdict == "right":
            seen.latencies.append(heard - start)
        else:
            raise AssertionError(reply)
        if not number:
            print("answered", flush=True)
        number += 1
        await asyncio.sleep(0.005)
    await line.close()
    return seen


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(_stand_by(int(sys.argv[1]))))))
