"""How fast is a client's `call_tool`, in memory and over HTTP, next to the other SDKs' clients?

In memory each client talks to a server of its own SDK, as in tests, whose tools take and return
plain JSON objects: models that a tool builds for itself take the same time whoever calls it. Over
HTTP all clients talk to the floor server at 2026-07-28, which costs least, so that the client is
what is measured. All of them have listed the tools and validate results; Anyshape's validates
arguments as well.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import psutil
from bed import contenders, shop
from bed.contenders import BENCHMARKS, CLIENTS, node_command, shop_as_json
from bed.http_load import Load
from bed.processes import ContenderFailed, cpu_seconds, running
from bed.report import Report, microseconds, milliseconds
from bed.rounds import interleave, ratio

ANYSHAPE = "anyshape"
PROGRAMS = {
    ANYSHAPE: "anyshape_client.py",
    "mcp": "mcp_client.py",
    "FastMCP": "fastmcp_client.py",
    "TypeScript 2": "typescript2_client.mjs",
}


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure."""

    rounds: int
    seconds: float
    clients: tuple[str, ...] = tuple(PROGRAMS)
    tools: tuple[str, ...] = shop.TOOLS
    in_flight: tuple[int, ...] = (1, 16)


FULL = Plan(5, 1.0)
QUICK = Plan(3, 0.4, (ANYSHAPE, "mcp", "TypeScript 2"), ("get_count", "create_order"), (16,))


@dataclass(frozen=True)
class Sample:
    """One client in one round."""

    load: Load
    cpu: float


class Driven:
    """A client's process that obeys orders."""

    def __init__(self, name: str, process: subprocess.Popen[bytes]) -> None:
        self.name = name
        self._process = process
        self._watched = psutil.Process(process.pid)

    def receive(self) -> dict[str, float]:
        """Return the client's next line."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise ContenderFailed(f"the {self.name} client ended with {self._process.wait()}")
        return json.loads(line)

    def obey(self, tool: str, in_flight: int, seconds: float) -> Sample:
        """Keep calls in flight for a while."""
        order = {"tool": tool, "in_flight": in_flight, "seconds": seconds}
        before = cpu_seconds(self._watched)
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        load = Load(**self.receive())  # pyright: ignore[reportArgumentType] - as the client wrote it
        return Sample(load, cpu_seconds(self._watched) - before)


@contextmanager
def _driven(name: str, target: str) -> Iterator[Driven]:
    program = PROGRAMS[name]
    if program.endswith(".mjs"):
        command = node_command(CLIENTS / program, target, "--shop", str(shop_as_json()))
    else:
        command = [sys.executable, "-m", f"bed.clients.{program.removesuffix('.py')}", target]
    process = subprocess.Popen(
        command, cwd=BENCHMARKS, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        client = Driven(name, process)
        client.receive()
        yield client
    finally:
        process.terminate()
        process.communicate(timeout=10)


def measure(plan: Plan) -> Report:
    """Measure every client with every tool, in memory and over HTTP."""
    report = Report("Client")
    with running(contenders.FLOOR, "http") as floor:
        targets = {"in memory": "memory", "over HTTP": f"http://127.0.0.1:{floor.port}/mcp"}
        for place, target in targets.items():
            with ExitStack() as stack:
                clients = {
                    name: stack.enter_context(_driven(name, target)) for name in plan.clients
                }
                for tool in plan.tools:
                    for in_flight in plan.in_flight:
                        _measure_one(report, plan, clients, place, tool, in_flight)
    return report


def _measure_one(
    report: Report,
    plan: Plan,
    clients: dict[str, Driven],
    place: str,
    tool: str,
    in_flight: int,
) -> None:
    for client in clients.values():
        client.obey(tool, in_flight, 0.2)
    found = interleave(
        clients, plan.rounds, lambda name: clients[name].obey(tool, in_flight, plan.seconds)
    )
    rates = {name: [sample.load.rate for sample in samples] for name, samples in found.items()}
    rows = [
        (
            name,
            f"{statistics.median(rates[name]):,.0f}",
            str(ratio(rates[ANYSHAPE], rates[name])),
            milliseconds(statistics.median(s.load.p50 for s in samples)),
            milliseconds(statistics.median(s.load.p99 for s in samples)),
            microseconds(statistics.median(s.cpu / s.load.calls for s in samples)),
        )
        for name, samples in found.items()
    ]
    header = ("client", "calls/s", "anyshape is, times", "p50", "p99", "CPU a call")
    report.table(f"{tool}, {place}, {in_flight} in flight", header, rows)
    for other, least in {
        "mcp": 20.0 if place == "in memory" else 4.0,
        "FastMCP": 20.0 if place == "in memory" else 4.0,
        "TypeScript 2": 1.0,
    }.items():
        if other in rates:
            got = ratio(rates[ANYSHAPE], rates[other])
            report.promise(
                f"client {tool}, {place}, {in_flight} in flight",
                f"≥ {least} times {other}",
                str(got),
                got.median >= least,
            )


if __name__ == "__main__":
    from bed.command import run_alone

    run_alone(measure, FULL, QUICK)
