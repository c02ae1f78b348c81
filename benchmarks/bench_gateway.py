"""How fast is a call through a gateway: next to a bare forwarder, and next to FastMCP's proxy?

One upstream serves the shop; the gateways stand before it, one process each, and the load comes
from a process of its own. The forwarder looks at nothing; Anyshape's gateway checks arguments and
values against the tool's schemas, as it does by default.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from bed import contenders, shop, wire
from bed.contenders import Contender
from bed.http_load import Generator, Load
from bed.processes import Running, all_running, ask_over_http, check_answer, running
from bed.report import Report, milliseconds
from bed.rounds import interleave, ratio

CONNECTIONS = 16
WARM_UP = 0.5


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure."""

    rounds: int
    seconds: float
    tools: tuple[str, ...] = ("get_count", "create_order")


FULL = Plan(5, 1.5)
QUICK = Plan(3, 0.7)

FORWARDER, OURS, FASTMCP = "bare forwarder", "anyshape gateway", "FastMCP proxy"
LEAST_OF_FORWARDER = 0.7
LEAST_TIMES_FASTMCP = {"http": 50.0, "stdio": 10.0}


def measure(plan: Plan) -> Report:
    """Measure HTTP to HTTP, and HTTP to stdio."""
    report = Report("gateway")
    with Generator() as generator:
        with running(contenders.ANYSHAPE_DICTS, "http", 0) as upstream:
            address = f"http://127.0.0.1:{upstream.port}/mcp"
            found = _gateways(address, (FORWARDER, OURS, FASTMCP))
            with all_running(found, "http") as servers:
                _measure_all(plan, generator, servers, report, "http")
        found = _gateways("bed.servers.anyshape_high", (OURS, FASTMCP))
        with all_running(found, "http") as servers:
            _measure_all(plan, generator, servers, report, "stdio")
    return report


def _gateways(upstream: str, names: tuple[str, ...]) -> tuple[Contender, ...]:
    programs = {
        FORWARDER: "forwarder.py",
        OURS: "anyshape_gateway.py",
        FASTMCP: "fastmcp_proxy.py",
    }
    return tuple(Contender(name, programs[name], ("--upstream", upstream)) for name in names)


def _measure_all(
    plan: Plan, generator: Generator, servers: dict[str, Running], report: Report, to: str
) -> None:
    for tool in plan.tools:
        body = wire.call_frame(wire.MODERN, tool, shop.ARGUMENTS[tool])
        speaking = {
            name: server for name, server in servers.items() if _answers(name, server, body, tool)
        }

        def burst(
            name: str, seconds: float, body: bytes = body, found: dict[str, Running] = speaking
        ) -> Load:
            port = found[name].port
            request = wire.post(wire.MODERN, body, port=port)
            return generator.burst(port, request, connections=CONNECTIONS, seconds=seconds)

        for name in speaking:
            burst(name, WARM_UP)
        rounds = interleave(
            speaking, plan.rounds, lambda name, burst=burst: burst(name, plan.seconds)
        )
        _report(report, rounds, tool, to)


def _answers(name: str, server: Running, body: bytes, tool: str) -> bool:
    """Tell whether a gateway answers rightly; FastMCP's does not where a value is no object."""
    try:
        check_answer(name, ask_over_http(server.port, wire.MODERN, body), shop.EXPECTED[tool])
    except Exception as error:
        if name != FASTMCP:
            raise
        print(f"{name}, {tool}: {str(error)[:120]}", flush=True)
        return False
    return True


def _report(report: Report, rounds: dict[str, list[Load]], tool: str, to: str) -> None:
    rates = {name: [load.rate for load in loads] for name, loads in rounds.items()}
    base = FORWARDER if FORWARDER in rates else OURS
    rows = [
        (
            name,
            f"{statistics.median(rates[name]):,.0f}",
            str(ratio(rates[name], rates[base])),
            milliseconds(statistics.median(load.p50 for load in loads)),
            milliseconds(statistics.median(load.p99 for load in loads)),
        )
        for name, loads in rounds.items()
    ]
    header = ("gateway", "calls/s", f"of {base}", "p50", "p99")
    report.table(f"{tool}, HTTP to {to}, {CONNECTIONS} connections", header, rows)
    where = f"gateway {tool}, HTTP to {to}"
    if FORWARDER in rates:
        got = ratio(rates[OURS], rates[FORWARDER])
        report.promise(
            where,
            f"≥ {LEAST_OF_FORWARDER} of a bare forwarder",
            str(got),
            got.median >= LEAST_OF_FORWARDER,
        )
    if FASTMCP in rates:
        least = LEAST_TIMES_FASTMCP[to]
        got = ratio(rates[OURS], rates[FASTMCP])
        report.promise(where, f"≥ {least} times {FASTMCP}", str(got), got.median >= least)


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
