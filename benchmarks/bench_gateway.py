"""How fast is a call through a gateway: next to a bare forwarder, and next to other proxies?

One upstream serves the shop; the gateways stand before it, one process each, and the load comes
from a process of its own. The forwarder looks at nothing; Anyshape's gateway checks arguments and
values against the tool's schemas, as it does by default. `mcp-proxy` takes upstreams on stdio and
clients of 2025-11-25 alone, so it is measured there, if `make older-peers` has installed it. Beside
the rate stands the processor time that a gateway spends on a call, with that of its children, which
a busy machine disturbs less.

Then a gateway grows: with many upstreams, or many tools of one, a call must cost the same.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from dataclasses import dataclass
from typing import Any

from bed import contenders, shop, wire
from bed.contenders import Contender
from bed.http_load import Generator, Load
from bed.processes import Running, all_running, ask_over_http, check_answer, running
from bed.report import Report, microseconds, milliseconds
from bed.rounds import interleave, ratio
from bed.servers import mcp_proxy

from anyshape import Server
from anyshape.gateway import Gateway

CONNECTIONS = 16
WARM_UP = 0.5


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure, and how far to grow."""

    rounds: int
    seconds: float
    tools: tuple[str, ...] = ("get_count", "create_order")
    upstreams: tuple[int, ...] = (1, 10, 100)
    offered: tuple[int, ...] = (1, 100, 10_000)


FULL = Plan(5, 1.5)
QUICK = Plan(3, 0.7, offered=(1, 100, 1_000))

FORWARDER, OURS, FASTMCP = "bare forwarder", "anyshape gateway", "FastMCP proxy"
MCP_PROXY = "mcp-proxy"
PROGRAMS = {
    FORWARDER: "forwarder.py",
    OURS: "anyshape_gateway.py",
    FASTMCP: "fastmcp_proxy.py",
    MCP_PROXY: "mcp_proxy.py",
}
LEAST_OF_FORWARDER = 0.7
LEAST_TIMES_OTHERS = {"http": 50.0, "stdio": 10.0}
MOST_GROWTH = 1.3


@dataclass(frozen=True)
class Burst:
    """What one burst of load found, and the processor time that a call took the gateway."""

    load: Load
    cpu: float


def measure(plan: Plan) -> Report:
    """Measure HTTP to HTTP, HTTP to stdio, and growth."""
    report = Report("gateway")
    with Generator() as generator:
        with running(contenders.ANYSHAPE_DICTS, "http", 0) as upstream:
            address = f"http://127.0.0.1:{upstream.port}/mcp"
            found = _gateways(address, (FORWARDER, OURS, FASTMCP))
            with all_running(found, "http") as servers:
                _measure_all(plan, generator, servers, report, "http", wire.MODERN)
        older = installed_older()
        found = _gateways("bed.servers.anyshape_high", (OURS, FASTMCP, *older))
        with all_running(found, "http") as servers:
            handshaking = {OURS: servers[OURS], **{name: servers.pop(name) for name in older}}
            _measure_all(plan, generator, servers, report, "stdio", wire.MODERN)
            _measure_all(plan, generator, handshaking, report, "stdio", wire.HANDSHAKE)
    asyncio.run(_measure_growth(plan, report))
    return report


def installed_older() -> tuple[str, ...]:
    """Return the gateways for clients of 2025-11-25 alone, if they are on this machine."""
    if mcp_proxy.PROGRAM.exists():
        return (MCP_PROXY,)
    print(f"{MCP_PROXY} is left out: `make older-peers` installs it", flush=True)
    return ()


def _gateways(upstream: str, names: tuple[str, ...]) -> tuple[Contender, ...]:
    return tuple(Contender(name, PROGRAMS[name], ("--upstream", upstream)) for name in names)


def _measure_all(
    plan: Plan,
    generator: Generator,
    servers: dict[str, Running],
    report: Report,
    to: str,
    revision: str,
) -> None:
    for tool in plan.tools:
        body = wire.call_frame(revision, tool, shop.ARGUMENTS[tool])
        speaking = {
            name: server
            for name, server in servers.items()
            if _answers(name, server, body, tool, revision)
        }

        def burst(
            name: str, seconds: float, body: bytes = body, found: dict[str, Running] = speaking
        ) -> Burst:
            server = found[name]
            request = wire.post(revision, body, port=server.port, path=_path(name))
            before = server.cpu_seconds()
            load = generator.burst(server.port, request, connections=CONNECTIONS, seconds=seconds)
            return Burst(load, (server.cpu_seconds() - before) / load.calls)

        for name in speaking:
            burst(name, WARM_UP)
        rounds = interleave(
            speaking, plan.rounds, lambda name, burst=burst: burst(name, plan.seconds)
        )
        _report(report, rounds, f"{tool}, HTTP to {to}, {revision}", to)


def _path(name: str) -> str:
    return "/mcp/" if name == MCP_PROXY else "/mcp"


def _answers(name: str, server: Running, body: bytes, tool: str, revision: str) -> bool:
    """Tell whether a gateway answers rightly; some do not where a value is no object."""
    try:
        answer = ask_over_http(server.port, revision, body, path=_path(name))
        check_answer(name, answer, shop.EXPECTED[tool])
    except Exception as error:
        if name not in (FASTMCP, MCP_PROXY):
            raise
        print(f"{name}, {tool}: {str(error)[:120]}", flush=True)
        return False
    return True


def _report(report: Report, rounds: dict[str, list[Burst]], what: str, to: str) -> None:
    rates = {name: [burst.load.rate for burst in found] for name, found in rounds.items()}
    base = FORWARDER if FORWARDER in rates else OURS
    rows = [
        (
            name,
            f"{statistics.median(rates[name]):,.0f}",
            str(ratio(rates[name], rates[base])),
            microseconds(statistics.median(burst.cpu for burst in found)),
            milliseconds(statistics.median(burst.load.p50 for burst in found)),
            milliseconds(statistics.median(burst.load.p99 for burst in found)),
        )
        for name, found in rounds.items()
    ]
    header = ("gateway", "calls/s", f"of {base}", "processor time", "p50", "p99")
    report.table(f"{what}, {CONNECTIONS} connections", header, rows)
    where = f"gateway {what}"
    if FORWARDER in rates:
        got = ratio(rates[OURS], rates[FORWARDER])
        report.promise(
            where,
            f"≥ {LEAST_OF_FORWARDER} of a bare forwarder",
            str(got),
            got.median >= LEAST_OF_FORWARDER,
        )
    for other in (FASTMCP, MCP_PROXY):
        if other in rates:
            least = LEAST_TIMES_OTHERS[to]
            got = ratio(rates[OURS], rates[other])
            report.promise(where, f"≥ {least} times {other}", str(got), got.median >= least)


async def _measure_growth(plan: Plan, report: Report) -> None:
    """Measure a call by the number of upstreams and of tools, all in this process."""
    by_upstreams = [await _time_call(size, 1, plan) for size in plan.upstreams]
    by_tools = [await _time_call(1, size, plan) for size in plan.offered]
    for what, sizes, found in (
        ("upstreams with a tool each", plan.upstreams, by_upstreams),
        ("tools of one upstream", plan.offered, by_tools),
    ):
        header = (what, *(f"{size:,}" for size in sizes))
        row = ("processor time", *(microseconds(each) for each in found))
        report.table(f"one call, by the number of {what}", header, [row])
        grown = found[-1] / found[0]
        report.promise(
            f"gateway: {sizes[-1]:,} {what}",
            f"≤ {MOST_GROWTH} times the cost of one",
            f"{grown:.2f}",
            grown <= MOST_GROWTH,
        )


async def _time_call(upstreams: int, tools: int, plan: Plan) -> float:
    """Return the least processor time of a call of the tool in the middle."""
    fleet: dict[str, Any] = {f"u{number}": _upstream(tools) for number in range(upstreams)}
    gateway = Gateway(fleet, patience=120.0)
    prefix = "" if upstreams == 1 else f"u{upstreams // 2}_"
    frame = wire.call_frame(wire.MODERN, f"{prefix}add_{tools // 2}", {"number": 41})
    connection = gateway.connect(lambda message: None)
    answer = await connection.handle(frame)
    check_answer(OURS, answer or b"", 42)
    best = math.inf
    deadline = time.perf_counter() + plan.seconds
    while time.perf_counter() < deadline:
        start = time.process_time_ns()
        for _ in range(20):
            await connection.handle(frame)
        best = min(best, (time.process_time_ns() - start) / 20e9)
    await connection.close()
    return best


def _upstream(tools: int) -> Server:
    server = Server("growth", version="1.0.0")
    for number in range(tools):
        server.tool(name=f"add_{number}")(_add)
    return server


async def _add(number: int) -> int:
    return number + 1


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
