"""A stdio session in this process, with both ends of its pipes in the hands of the test."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from anyshape import Context, Server
from anyshape.server import ServerOptions
from anyshape.server.stdio import Session

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Ends:
    """What a client holds: a descriptor to write requests to, and one to read answers from."""

    def __init__(self) -> None:
        self.source, self.requests = os.pipe()
        self.answers, self.sink = os.pipe()

    def send(self, body: Any) -> None:
        os.write(self.requests, json.dumps(body).encode() + b"\n")

    async def read_to_the_end(self) -> list[Any]:
        def read() -> bytes:
            with os.fdopen(self.answers, "rb") as answers:
                return answers.read()

        return [json.loads(line) for line in (await asyncio.to_thread(read)).splitlines()]


@pytest.mark.behaviour("progress.bounded")
async def test_progress_that_a_slow_client_would_not_read_in_time_is_not_kept() -> None:
    server = Server("s", options=ServerOptions(grace=20))
    reported = asyncio.Event()

    @server.tool
    async def chatter(context: Context, count: int) -> str:
        for step in range(count):
            context.progress(step, message="x" * 100)
            if step % 5000 == 0:
                await asyncio.sleep(0)
        reported.set()
        return "done"

    assert server.tools.keys() == {"chatter"}
    ends = Ends()
    session = Session(server._service, ends.source, ends.sink)
    serving = asyncio.create_task(session.serve())
    params = {
        "name": "chatter",
        "arguments": {"count": 50_000},
        "_meta": {**META, "progressToken": "p"},
    }
    ends.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    async with asyncio.timeout(30):
        await reported.wait()
        os.close(ends.requests)
        reading = asyncio.create_task(ends.read_to_the_end())
        await serving
        os.close(ends.sink)
        *progress, answer = await reading
    os.close(ends.source)
    assert answer["result"]["structuredContent"] == "done"
    steps = [each["params"]["progress"] for each in progress]
    assert steps == sorted(set(steps))
    assert 0 < len(steps) < 20_000
