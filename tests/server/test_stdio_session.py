"""A stdio session in this process, with both ends of its pipes in the hands of the test."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Context, Server
from anyshape.server import ServerOptions
from anyshape.server.pipes import PipeReader, PipeWriter
from anyshape.server.stdio import StdioSession

from .visiting import META


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
    session = StdioSession(server._service, ends.source, ends.sink)
    serving = asyncio.create_task(session.serve())
    params = {
        "name": "chatter",
        "arguments": {"count": 50_000},
        "_meta": {**META, "progressToken": "p"},
    }
    ends.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    async with asyncio.timeout(PATIENCE):
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


@pytest.mark.behaviour("transport.stdio.concurrent")
async def test_the_loop_is_not_held_up_for_more_while_answers_wait_to_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server("s", options=ServerOptions(grace=20))

    @server.tool(inline=True)
    def repeat(count: int) -> str:
        return "x" * count

    assert server.tools.keys() == {"repeat"}
    waited: list[bool] = []
    linger = PipeReader.linger

    def watch(reader: PipeReader, milliseconds: int) -> bytes | None:
        waited.append(session._writer.is_behind)
        return linger(reader, milliseconds)

    monkeypatch.setattr(PipeReader, "linger", watch)
    ends = Ends()
    session = StdioSession(server._service, ends.source, ends.sink)
    serving = asyncio.create_task(session.serve())
    async with asyncio.timeout(PATIENCE):
        heard: list[int] = []
        for number, count in enumerate((1, 500_000)):
            params = {"name": "repeat", "arguments": {"count": count}, "_meta": META}
            ends.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            heard.append(len(await asyncio.to_thread(os.read, ends.answers, 1_000)))
        assert session._writer.is_behind
        os.close(ends.requests)
        rest = asyncio.create_task(asyncio.to_thread(_count_bytes, ends.answers))
        await serving
        os.close(ends.sink)
        assert sum(heard) + await rest > 1_000_000  # The value and its mirror.
    os.close(ends.source)
    assert waited
    assert not any(waited)


def _count_bytes(descriptor: int) -> int:
    with os.fdopen(descriptor, "rb") as stream:
        return len(stream.read())


async def _seconds_to_write(size: int) -> float:
    """Return the processor's time for a message of so many bytes, read as it comes."""
    read_end, write_end = os.pipe()
    writer = PipeWriter(write_end, congested=lambda _: None, broken=lambda: None)

    def read() -> int:
        left = size + 1
        while left:
            left -= len(os.read(read_end, 64 * 1024))
        return left

    reading = asyncio.create_task(asyncio.to_thread(read))
    started = time.process_time()
    async with asyncio.timeout(PATIENCE):
        writer.write(b"x" * size)
        await writer.drain()
        assert await reading == 0
    spent = time.process_time() - started
    writer.close()
    os.close(read_end)
    os.close(write_end)
    return spent


async def test_a_long_answer_costs_in_proportion_to_its_length() -> None:
    mebibyte = 1024 * 1024
    short = min([await _seconds_to_write(4 * mebibyte) for _ in range(3)])
    long = min([await _seconds_to_write(64 * mebibyte) for _ in range(3)])
    # Sixteen times as long, and on a busy machine all of it comes from memory where the short one
    # stays in the caches; what is copied again for every piece takes 256 times as much before that.
    assert long < 200 * short


@pytest.mark.parametrize("waits", [False, True])
async def test_no_call_begins_while_the_answers_before_it_pile_up(waits: bool) -> None:
    server = Server("s", options=ServerOptions(grace=20))
    begun = 0

    @server.tool
    async def fill() -> str:
        nonlocal begun
        begun += 1
        if waits:
            await asyncio.sleep(0)
        return "x" * 200_000

    assert server.tools.keys() == {"fill"}
    ends = Ends()
    session = StdioSession(server._service, ends.source, ends.sink)
    serving = asyncio.create_task(session.serve())
    for id in range(100):
        params = {"name": "fill", "arguments": {}, "_meta": META}
        ends.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    os.close(ends.requests)
    async with asyncio.timeout(PATIENCE):
        await turn_until(lambda: session._writer.is_behind)
        await asyncio.sleep(0.05)
        assert begun < 50
        reading = asyncio.create_task(ends.read_to_the_end())
        await serving
        os.close(ends.sink)
        answers = await reading
    os.close(ends.source)
    assert sorted(answer["id"] for answer in answers) == list(range(100))


@pytest.mark.parametrize("count", [4, 40], ids=["answers wait", "lines wait, too"])
async def test_a_client_that_reads_nothing_is_given_the_grace_time_once(count: int) -> None:
    grace = 1.0
    server = Server("s", options=ServerOptions(grace=grace))

    @server.tool
    async def fill() -> str:
        return "x" * 400_000

    assert server.tools.keys() == {"fill"}
    ends = Ends()
    session = StdioSession(server._service, ends.source, ends.sink)
    serving = asyncio.create_task(session.serve())
    for id in range(count):
        params = {"name": "fill", "arguments": {}, "_meta": META}
        ends.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    await turn_until(lambda: session._writer.is_full)
    began = time.monotonic()
    session.stop()
    await asyncio.wait_for(serving, PATIENCE)
    assert grace * 0.9 < time.monotonic() - began < grace * 1.9
    for descriptor in (ends.requests, ends.source, ends.answers, ends.sink):
        os.close(descriptor)
