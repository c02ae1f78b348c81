"""How fast is a `tools/call` over HTTP: next to a bare ASGI application, and next to the peers?

All contenders serve the same three tools on 127.0.0.1, one process each; the load comes from a
process of its own. Calls a second and processor time a call are compared within a round. Every
side validates as it does by default; Anyshape checks arguments and results in full.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from bed import contenders, shop, wire
from bed.contenders import Contender
from bed.http_load import Generator, Load
from bed.processes import Running, all_running, ask_over_http, check_answer
from bed.report import Report, microseconds, milliseconds
from bed.rounds import Ratio, interleave, ratio

WARM_UP = 0.3


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure."""

    rounds: int
    seconds: float
    connections: tuple[int, ...]
    revisions: tuple[str, ...]
    contenders: tuple[Contender, ...]
    tools: tuple[str, ...] = shop.TOOLS


FULL = Plan(3, 0.7, (1, 16, 64), wire.REVISIONS, (*contenders.ALL, contenders.ANYSHAPE_ASGI))
QUICK = Plan(
    3,
    0.5,
    (16,),
    (wire.MODERN,),
    (
        contenders.FLOOR,
        contenders.ANYSHAPE,
        contenders.ANYSHAPE_STRUCTS,
        contenders.ANYSHAPE_ASGI,
        contenders.MCP_LOW,
        contenders.TYPESCRIPT2_LOW,
    ),
)


@dataclass(frozen=True)
class Sample:
    """One contender in one round."""

    load: Load
    cpu: float

    @property
    def cpu_per_call(self) -> float:
        """Return the server's processor time a call, in seconds."""
        return self.cpu / self.load.calls


def measure(plan: Plan) -> Report:
    """Measure every tool at every revision and number of connections."""
    report = Report("HTTP")
    with Generator() as generator, all_running(plan.contenders, "http") as servers:
        for revision in plan.revisions:
            speaking = {
                name: server
                for name, server in servers.items()
                if revision in server.contender.revisions
            }
            for tool in plan.tools:
                for connections in plan.connections:
                    found = _measure_one(plan, generator, speaking, revision, tool, connections)
                    _add_table(report, found, revision, tool, connections)
                    if connections == 16:
                        _judge(report, found, revision, tool)
    return report


def _measure_one(
    plan: Plan,
    generator: Generator,
    servers: dict[str, Running],
    revision: str,
    tool: str,
    connections: int,
) -> dict[str, list[Sample]]:
    body = wire.call_frame(revision, tool, shop.ARGUMENTS[tool])

    def burst(name: str, seconds: float) -> Sample:
        server = servers[name]
        request = wire.post(revision, body, port=server.port)
        before = server.cpu_seconds()
        load = generator.burst(server.port, request, connections=connections, seconds=seconds)
        return Sample(load, server.cpu_seconds() - before)

    for name, server in servers.items():
        check_answer(name, ask_over_http(server.port, revision, body), shop.EXPECTED[tool])
        burst(name, WARM_UP)
    return interleave(servers, plan.rounds, lambda name: burst(name, plan.seconds))


def _rates(samples: list[Sample]) -> list[float]:
    return [sample.load.rate for sample in samples]


def _add_table(
    report: Report, found: dict[str, list[Sample]], revision: str, tool: str, connections: int
) -> None:
    floor = found[contenders.FLOOR.name]
    rows: list[tuple[str, ...]] = []
    for name, samples in found.items():
        cost = ratio([s.cpu_per_call for s in samples], [s.cpu_per_call for s in floor])
        rows.append(
            (
                name,
                f"{statistics.median(_rates(samples)):,.0f}",
                str(ratio(_rates(samples), _rates(floor))),
                milliseconds(statistics.median(s.load.p50 for s in samples)),
                milliseconds(statistics.median(s.load.p99 for s in samples)),
                microseconds(statistics.median(s.cpu_per_call for s in samples)),
                str(cost),
            )
        )
    header = ("server", "calls/s", "of the floor", "p50", "p99", "CPU a call", "of floor's CPU")
    report.table(f"{tool}, {revision}, {connections} connections", header, rows)


# What is promised at 16 connections: the least fraction of the floor for each kind of
# types, and the least multiple of each peer, by revision and tool.
OF_FLOOR = {
    "get_count": {
        **{one.name: 0.9 for one in contenders.OURS},
        contenders.ANYSHAPE_ASGI.name: 0.75,
    },
    "list_users": {
        **{one.name: 0.8 for one in contenders.OURS},
        contenders.ANYSHAPE_ASGI.name: 0.65,
    },
    "create_order": {
        contenders.ANYSHAPE.name: 0.45,
        contenders.ANYSHAPE_STRUCTS.name: 0.7,
        contenders.ANYSHAPE_DICTS.name: 0.7,
        contenders.ANYSHAPE_ASGI.name: 0.4,
    },
}
OF_PEERS = {
    (wire.MODERN, "get_count"): {
        contenders.MCP_LOW: 5.0,
        contenders.MCP_HIGH: 6.0,
        contenders.TYPESCRIPT2_LOW: 8.0,
        contenders.TYPESCRIPT2_HIGH: 8.0,
        contenders.FASTMCP: 15.0,
    },
    (wire.MODERN, "create_order"): {
        contenders.MCP_LOW: 3.5,
        contenders.MCP_HIGH: 3.5,
        contenders.TYPESCRIPT2_HIGH: 6.0,
        contenders.FASTMCP: 25.0,
    },
    (wire.HANDSHAKE, "get_count"): {
        contenders.MCP_LOW: 9.0,
        contenders.MCP_HIGH: 9.0,
        contenders.TYPESCRIPT2_HIGH: 7.0,
        contenders.TYPESCRIPT1: 7.0,
    },
}


def _judge(report: Report, found: dict[str, list[Sample]], revision: str, tool: str) -> None:
    where = f"HTTP {tool}, {revision}"

    def against(name: str, base: str) -> Ratio:
        return ratio(_rates(found[name]), _rates(found[base]))

    for name, least in OF_FLOOR[tool].items():
        if name in found:
            got = against(name, contenders.FLOOR.name)
            report.promise(
                f"{where}: {name}", f"≥ {least} of the floor", str(got), got.median >= least
            )
    for peer, least in OF_PEERS.get((revision, tool), {}).items():
        if peer.name in found and contenders.ANYSHAPE.name in found:
            got = against(contenders.ANYSHAPE.name, peer.name)
            report.promise(
                f"{where}: pydantic", f"≥ {least} times {peer.name}", str(got), got.median >= least
            )


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
