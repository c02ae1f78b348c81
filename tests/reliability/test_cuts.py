"""Connections that are cut, in either direction and at every stage of a call.

Whatever is cut, a call ends with its value or with an error that says so; its work is done once at
most; and the next call is answered as if nothing had happened.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Generator

import pytest
from patience import PATIENCE

from anyshape import Client
from anyshape.errors import AnyshapeError

from .load import ask
from .programs import Program, run_program
from .severing import Direction, Proxy, run_proxy

REVISIONS = ("2026-07-28", "2025-11-25")
UP = (0, 10, 300, 600)
"""Bytes of a request that get through: none, within the first line, within the head, the body."""
DOWN = (0, 10, 100, 200)
"""Bytes of an answer that get through: none, within the first line, within the head, the body."""
HOW = ("reset", "close", "half")
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def workshop() -> Generator[Program]:
    with run_program("workshop.py") as program:
        yield program


@pytest.fixture
async def proxy(workshop: Program) -> AsyncGenerator[Proxy]:
    async with run_proxy(workshop.port) as proxy:
        yield proxy


async def outcome(client: Client, tool: str) -> str:
    """Tell what a call came to: its value, or an error; it never hangs, and is never wrong."""
    number = next(_numbers)
    try:
        async with asyncio.timeout(PATIENCE):
            result = await client.call_tool(tool, {"number": number})
    except AnyshapeError:
        return "error"
    if result.is_error:
        return "error"
    assert result.value == number
    return "value"


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("direction", ["up", "down"])
async def test_a_call_whose_connection_is_cut_ends_and_the_next_one_is_answered(
    workshop: Program, proxy: Proxy, direction: Direction, revision: str, how: str
) -> None:
    async with Client(proxy.url, revision=revision, timeout=2.0, listen=False) as client:
        for tool in ("echo", "wait", "steps"):
            assert await outcome(client, tool) == "value"
            for count in UP if direction == "up" else DOWN:
                before = await ask(workshop.port, "counted")
                proxy.break_after(count, direction, how)
                came = await outcome(client, tool)
                done = await ask(workshop.port, "counted") - before
                assert (came, done) in (("value", 1), ("error", 0), ("error", 1)), (tool, count)
                proxy.break_after(10**9, direction)
                assert await outcome(client, tool) == "value", (tool, count)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_calls_in_flight_when_all_connections_are_cut_end_and_new_ones_are_answered(
    proxy: Proxy, revision: str
) -> None:
    async with Client(proxy.url, revision=revision, timeout=PATIENCE) as client:
        await client.list_tools()
        calls = [asyncio.create_task(outcome(client, "wait")) for _ in range(50)]
        await asyncio.sleep(0.02)
        proxy.cut()
        ends = await asyncio.gather(*calls)
        assert set(ends) <= {"value", "error"}
        assert [await outcome(client, "wait") for _ in range(3)] == ["value"] * 3


async def test_a_gateway_that_is_cut_off_from_an_upstream_answers_and_finds_it_again(
    workshop: Program, proxy: Proxy
) -> None:
    stages = itertools.product(HOW, ("up", "down"), (0, 300))
    with run_program("gatehouse.py", proxy.url, f"spare={workshop.url}") as gateway:
        async with Client(gateway.url, timeout=PATIENCE) as client:
            await client.list_tools()
            for how, direction, count in stages:
                proxy.break_after(count, direction, how)
                ends = await asyncio.gather(
                    *(outcome(client, "echo") for _ in range(10)),
                    *(outcome(client, "spare_echo") for _ in range(10)),
                )
                assert set(ends[10:]) == {"value"}
                proxy.break_after(10**9, direction)
                async with asyncio.timeout(PATIENCE):
                    while await outcome(client, "echo") != "value":  # noqa: ASYNC110 - elsewhere
                        await asyncio.sleep(0.05)


async def test_a_slow_network_delays_calls_and_breaks_none(proxy: Proxy) -> None:
    proxy.delay = 0.05
    async with Client(proxy.url, timeout=PATIENCE) as client:
        ends = await asyncio.gather(*(outcome(client, "steps") for _ in range(20)))
    assert ends == ["value"] * 20
