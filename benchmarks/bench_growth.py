"""How does the cost of one call grow with schema, value, number of tools and concurrency?

Each grows by powers of ten, in one process and without a network, so that what is seen is ours.
The exponent of the last decade tells the kind of growth: 0 is flat, 1 linear, 2 quadratic. What
grows faster than linearly is a defect until it is explained.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bed import wire
from bed.contenders import ROOT
from bed.curves import draw
from bed.report import Report, microseconds
from bed.tools import make_functions

import anyshape.schema
from anyshape import Server

PLOT = ROOT / "docs" / "internals" / "growth.svg"
WORSE_THAN_LINEAR = 1.2
Action = Callable[[], Awaitable[Any]]


@dataclass(frozen=True)
class Plan:
    """How far to grow, and how long to measure each size."""

    sizes: tuple[int, ...]
    seconds: float
    plot: bool


FULL = Plan((1, 10, 100, 1_000, 10_000), 0.5, plot=True)
QUICK = Plan((1, 10, 100, 1_000), 0.05, plot=False)


def measure(plan: Plan) -> Report:
    """Measure all curves, print them as one table and draw them."""
    report = Report("Growth")
    curves = asyncio.run(_measure_all(plan))
    header = ("what grows", *(f"{size:,}" for size in plan.sizes), "exponent of the last decade")
    rows: list[tuple[str, ...]] = []
    for name, curve in curves.items():
        exponent = math.log10(curve[-1][1] / curve[-2][1])
        known = dict(curve)
        cells = [microseconds(known[size]) if size in known else "-" for size in plan.sizes]
        rows.append((name, *cells, f"{exponent:.2f}"))
        report.promise(
            f"growth: {name}", "at most linear", f"{exponent:.2f}", exponent <= WORSE_THAN_LINEAR
        )
    report.table("processor time of one call, by size", header, rows)
    if plan.plot:
        PLOT.parent.mkdir(parents=True, exist_ok=True)
        PLOT.write_text(draw("Processor time of one call", "size", curves))
        report.say("The curves: [growth.svg](../docs/internals/growth.svg)")
    return report


async def _measure_all(plan: Plan) -> dict[str, list[tuple[float, float]]]:
    makers: dict[str, Callable[[int], Awaitable[tuple[Action, int]]]] = {
        "properties of the schema, one given": _wide_schema,
        "properties of the schema, all given": _wide_instance,
        "numbers in the arguments": _long_arguments,
        "objects in the result": _long_result,
        "depth of a recursive value": _deep_value,
        "tools on the server": _many_tools,
        "calls in flight": _many_calls,
        "subschemas compiled": _compile_large,
    }
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, make in makers.items():
        curve: list[tuple[float, float]] = []
        for size in plan.sizes:
            try:
                action, calls = await make(size)
            except TooLarge:
                break
            curve.append((size, await _time(action, plan.seconds) / calls))
        curves[name] = curve
    return curves


class TooLarge(Exception):
    """The default limits refuse this size, so there is nothing to measure."""


async def _time(action: Action, seconds: float) -> float:
    """Return the least processor time of one run, over as many as fit into `seconds`."""
    await action()
    best = math.inf
    deadline = time.perf_counter() + seconds
    runs = 0
    while runs < 3 or time.perf_counter() < deadline:
        start = time.process_time_ns()
        loops = 0
        while True:
            await action()
            loops += 1
            elapsed = time.process_time_ns() - start
            if elapsed > 2_000_000:
                break
        best = min(best, elapsed / loops / 1e9)
        runs += 1
    return best


async def _caller(server: Server, tool: str, arguments: dict[str, Any]) -> Action:
    frame = wire.call_frame(wire.MODERN, tool, arguments)
    connection = server.connect(lambda message: None)
    first = await connection.handle(frame)
    assert first is not None
    if b'"isError":true' in first or b'"error":' in first[:60]:
        raise TooLarge(first[:300])
    return lambda: connection.handle(frame)


def _with_tool(function: Callable[..., Any], **options: Any) -> Server:
    server = Server("growth", version="1.0.0")
    server.tool(**options)(function)
    return server


def _properties(size: int) -> dict[str, Any]:
    properties = {f"field_{number}": {"type": "integer"} for number in range(size)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


async def _wide(size: int, given: int) -> tuple[Action, int]:
    async def count_fields(arguments: dict[str, Any]) -> int:
        return len(arguments)

    try:
        server = _with_tool(count_fields, input_schema=_properties(size))
    except anyshape.AnyshapeError as error:
        raise TooLarge(str(error)) from error
    arguments = {f"field_{number}": number for number in range(given)}
    return await _caller(server, "count_fields", arguments), 1


async def _wide_schema(size: int) -> tuple[Action, int]:
    return await _wide(size, 1)


async def _wide_instance(size: int) -> tuple[Action, int]:
    return await _wide(size, size)


async def _long_arguments(size: int) -> tuple[Action, int]:
    async def total(numbers: list[float]) -> float:
        return sum(numbers)

    return await _caller(_with_tool(total), "total", {"numbers": [1.5] * size}), 1


async def _long_result(size: int) -> tuple[Action, int]:
    async def rows(count: int) -> list[dict[str, int]]:
        return [{"id": number, "stock": 7} for number in range(count)]

    return await _caller(_with_tool(rows), "rows", {"count": size}), 1


async def _deep_value(size: int) -> tuple[Action, int]:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Node"}},
        "required": ["tree"],
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"child": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}},
            }
        },
    }

    async def depth(arguments: dict[str, Any]) -> bool:
        return "tree" in arguments

    tree: dict[str, Any] = {"name": "leaf"}
    for _ in range(size):
        tree = {"child": tree, "name": "node"}
    try:
        return await _caller(_with_tool(depth, input_schema=schema), "depth", {"tree": tree}), 1
    except RecursionError as error:  # the benchmark's own JSON encoder gives up first
        raise TooLarge(str(error)) from error


async def _many_tools(size: int) -> tuple[Action, int]:
    server = Server("growth", version="1.0.0")
    for function in make_functions(size):
        server.tool(function)
    return await _caller(server, f"lookup_{size // 2}", {"query": "chair"}), 1


async def _many_calls(size: int) -> tuple[Action, int]:
    async def echo(number: int) -> int:
        await asyncio.sleep(0)
        return number

    server = _with_tool(echo)
    connection = server.connect(lambda message: None)
    frames = [
        wire.call_frame(wire.MODERN, "echo", {"number": 7}, identifier=number)
        for number in range(size)
    ]
    for answer in await asyncio.gather(*map(connection.handle, frames[:2000])):
        if answer is None or b'"error":' in answer[:60]:
            raise TooLarge(str(answer)[:300])
    return lambda: asyncio.gather(*map(connection.handle, frames)), size


async def _compile_large(size: int) -> tuple[Action, int]:
    unique = iter(range(10**9))

    async def compile_one() -> None:
        document = {**_properties(size), "$comment": str(next(unique))}
        anyshape.schema.compile(document)

    try:
        await compile_one()
    except anyshape.AnyshapeError as error:
        raise TooLarge(str(error)) from error
    return compile_one, 1


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
