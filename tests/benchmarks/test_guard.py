"""A regression of ten times cannot land unseen.

Two kinds of figures that a busy machine does not disturb: how many Python-level calls one message
costs, which is the same on every run, and how much processor time it takes next to the floor of the
benchmarks, with margins of several times. What they were when written is in the comments.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from types import FrameType, ModuleType
from typing import Any

import pytest

from anyshape import Client, Server
from anyshape.schema import compile

Bed = Callable[[str], ModuleType]
Step = Callable[[], Awaitable[Any]]


def shop_server(bed: Bed, tools: int = 0) -> Server:
    server = Server("shop", version="1.0.0")
    for function in bed("bed.shop_pydantic").TOOLS:
        server.tool(function)
    for function in bed("bed.tools").make_functions(tools):
        server.tool(function)
    return server


def call_of(bed: Bed, server: Server, tool: str, revision: str = "2026-07-28") -> Step:
    frame = bed("bed.wire").call_frame(revision, tool, bed("bed.shop").ARGUMENTS[tool])
    connection = server.connect(lambda message: None)
    return lambda: connection.handle(frame)


async def count_calls(step: Step) -> int:
    """Return how many Python and C functions one warm run of `step` calls."""
    for _ in range(3):
        await step()
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        await step()
    finally:
        sys.setprofile(before)
    return count


async def least_time(step: Step) -> float:
    """Return the least processor time of one run, over enough runs that some were undisturbed."""
    best = float("inf")
    for _ in range(30):
        start = time.thread_time()
        for _ in range(10):
            await step()
        best = min(best, (time.thread_time() - start) / 10)
    return best


# Measured when written: 44, 87, 123.
@pytest.mark.parametrize(
    ("tool", "most"), [("get_count", 130), ("list_users", 260), ("create_order", 370)]
)
async def test_a_call_makes_a_bounded_number_of_function_calls(
    bed: Bed, tool: str, most: int
) -> None:
    assert await count_calls(call_of(bed, shop_server(bed), tool)) <= most


async def test_the_cost_of_a_call_does_not_depend_on_the_number_of_tools(bed: Bed) -> None:
    few = await count_calls(call_of(bed, shop_server(bed), "create_order"))
    many = await count_calls(call_of(bed, shop_server(bed, tools=100), "create_order"))
    assert many == few


async def test_a_listing_is_encoded_once_and_not_per_request(bed: Bed) -> None:
    frame = bed("bed.wire").frame("2026-07-28", "tools/list", {})

    async def cost(tools: int) -> int:
        connection = shop_server(bed, tools).connect(lambda message: None)
        return await count_calls(lambda: connection.handle(frame))

    assert await cost(100) == await cost(0)


async def test_the_cost_of_a_call_does_not_depend_on_the_size_of_its_value(bed: Bed) -> None:
    """Counted in Python calls: what grows with the value is done by the codec and the engine.

    Both messages are long enough to have their brackets counted, which takes two calls.
    """
    wire = bed("bed.wire")
    server = Server("sums")

    @server.tool
    async def total(numbers: list[int]) -> int:
        return sum(numbers)

    def calling(size: int) -> Step:
        connection = server.connect(lambda message: None)
        frame = wire.call_frame("2026-07-28", "total", {"numbers": [1] * size})
        return lambda: connection.handle(frame)

    assert await count_calls(calling(20_000)) == await count_calls(calling(500))


# Measured when written: 2, 3 and 4 times the floor, which does nothing but parse and answer; under
# coverage, which slows Python code alone, 6, 6 and 5.
@pytest.mark.parametrize(
    ("tool", "most"), [("get_count", 20.0), ("list_users", 20.0), ("create_order", 20.0)]
)
async def test_a_call_takes_a_bounded_multiple_of_the_floor(
    bed: Bed, tool: str, most: float
) -> None:
    floor = bed("bed.servers.floor").Floor(0)
    frame = bed("bed.wire").call_frame("2026-07-28", tool, bed("bed.shop").ARGUMENTS[tool])

    async def answer() -> None:
        floor.answer(frame)

    ours = await least_time(call_of(bed, shop_server(bed), tool))
    assert ours <= most * await least_time(answer)


# Measured when written: 180 times cheaper.
async def test_validation_stays_many_times_cheaper_than_the_reference_library(bed: Bed) -> None:
    import jsonschema

    case = next(one for one in bed("schemas").CASES if one.name.startswith("create_order"))
    ours = compile(case.schema)
    theirs: Any = jsonschema.Draft202012Validator(case.schema)

    async def accept() -> None:
        assert ours.accepts(case.valid)

    async def accept_slowly() -> None:
        assert theirs.is_valid(case.valid)

    assert await least_time(accept) * 10 <= await least_time(accept_slowly)


# Measured when written: 1.5 times what the server alone takes.
async def test_the_client_costs_a_bounded_multiple_of_the_server_it_calls(bed: Bed) -> None:
    server = shop_server(bed)
    arguments = bed("bed.shop").ARGUMENTS["create_order"]
    async with Client(server) as client:
        await client.list_tools()
        both = await least_time(lambda: client.call_tool("create_order", arguments))
    assert both <= 12 * await least_time(call_of(bed, server, "create_order"))


async def test_calls_in_flight_do_not_slow_each_other_down(bed: Bed) -> None:
    wire = bed("bed.wire")
    server = Server("echo")

    @server.tool
    async def echo(number: int) -> int:
        await asyncio.sleep(0)
        return number

    connection = server.connect(lambda message: None)

    async def per_call(count: int) -> float:
        frames = [
            wire.call_frame("2026-07-28", "echo", {"number": 1}, identifier=number)
            for number in range(count)
        ]
        best = float("inf")
        for _ in range(5):
            start = time.thread_time()
            await asyncio.gather(*map(connection.handle, frames))
            best = min(best, (time.thread_time() - start) / count)
        return best

    few, many = await per_call(10), await per_call(500)
    assert many <= 10 * few
