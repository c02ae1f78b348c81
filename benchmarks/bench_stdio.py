"""How fast is a `tools/call` over stdio: next to a bare loop, and next to the peers?

One call after the other shows what a round trip costs; 64 in flight shows what a busy host gets.
The driver writes requests made beforehand and counts answers, a few microseconds each.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from bed import contenders, shop, wire
from bed.contenders import Contender
from bed.http_load import Load
from bed.processes import Running, all_running
from bed.report import Report, microseconds
from bed.rounds import Ratio, interleave, ratio
from bed.stdio_load import Pipe, call_at_once, call_in_turn, make_frames

WINDOW = 64
WARM_UP = 0.3


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure."""

    rounds: int
    seconds: float
    revisions: tuple[str, ...]
    contenders: tuple[Contender, ...]
    tools: tuple[str, ...] = ("get_count", "create_order")


FULL = Plan(5, 0.7, wire.REVISIONS, contenders.ALL)
QUICK = Plan(
    3,
    0.3,
    (wire.MODERN,),
    (
        contenders.FLOOR,
        contenders.ANYSHAPE,
        contenders.ANYSHAPE_STRUCTS,
        contenders.MCP_HIGH,
        contenders.TYPESCRIPT2_LOW,
    ),
)


@dataclass(frozen=True)
class Sample:
    """One contender in one round."""

    load: Load
    cpu: float


def measure(plan: Plan) -> Report:
    """Measure every tool at every revision, in turn and at once."""
    report = Report("stdio")
    for revision in plan.revisions:
        speaking = tuple(one for one in plan.contenders if revision in one.revisions)
        with all_running(speaking, "stdio") as servers:
            pipes = {name: Pipe(server) for name, server in servers.items()}
            for pipe in pipes.values():
                pipe.open(revision)
            for tool in plan.tools:
                for window in (1, WINDOW):
                    found = _measure_one(plan, servers, pipes, revision, tool, window)
                    _add_table(report, found, revision, tool, window)
                    _judge(report, found, revision, tool, window)
    return report


def _measure_one(
    plan: Plan,
    servers: dict[str, Running],
    pipes: dict[str, Pipe],
    revision: str,
    tool: str,
    window: int,
) -> dict[str, list[Sample]]:
    frames = make_frames(revision, tool, shop.ARGUMENTS[tool])
    expected = shop.EXPECTED[tool]

    def burst(name: str, seconds: float) -> Sample:
        before = servers[name].cpu_seconds()
        if window == 1:
            load = call_in_turn(pipes[name], frames, expected, seconds)
        else:
            load = call_at_once(pipes[name], frames, expected, seconds, window)
        return Sample(load, servers[name].cpu_seconds() - before)

    for name in pipes:
        burst(name, WARM_UP)
    return interleave(pipes, plan.rounds, lambda name: burst(name, plan.seconds))


def _rates(samples: list[Sample]) -> list[float]:
    return [sample.load.rate for sample in samples]


def _add_table(
    report: Report, found: dict[str, list[Sample]], revision: str, tool: str, window: int
) -> None:
    floor = _rates(found[contenders.FLOOR.name])
    rows = [
        (
            name,
            f"{statistics.median(_rates(samples)):,.0f}",
            str(ratio(_rates(samples), floor)),
            microseconds(statistics.median(s.load.p50 for s in samples)),
            microseconds(statistics.median(s.cpu / s.load.calls for s in samples)),
        )
        for name, samples in found.items()
    ]
    how = "one at a time" if window == 1 else f"{window} in flight"
    header = ("server", "calls/s", "of the floor", "latency", "CPU a call")
    report.table(f"{tool}, {revision}, {how}", header, rows)


def _judge(
    report: Report, found: dict[str, list[Sample]], revision: str, tool: str, window: int
) -> None:
    ours = contenders.ANYSHAPE.name
    if ours not in found:
        return

    def against(base: Contender) -> Ratio:
        return ratio(_rates(found[ours]), _rates(found[base.name]))

    def promise(least: float, base: Contender, unit: str) -> None:
        if base.name in found:
            got = against(base)
            how = "one at a time" if window == 1 else f"{window} in flight"
            report.promise(
                f"stdio {tool}, {revision}, {how}",
                f"≥ {least} {unit} {base.name}",
                str(got),
                got.median >= least,
            )

    if tool == "get_count":
        promise(0.75 if window == 1 else 0.45, contenders.FLOOR, "of the")
        promise(6.0 if window == 1 else 50.0, contenders.MCP_HIGH, "times")
        promise(6.0 if window == 1 else 50.0, contenders.MCP_LOW, "times")
    if window != 1:
        for peer in (
            contenders.TYPESCRIPT1,
            contenders.TYPESCRIPT2_LOW,
            contenders.TYPESCRIPT2_HIGH,
        ):
            promise(3.0 if tool == "get_count" else 1.0, peer, "times")


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
