"""What a server, and a gateway, are loaded with: crowds of calls, nuisances, listeners, listings.

Every scenario returns what it counted; `test_load.py` runs the short form of each, and

    make load

runs all at full size and prints the figures for docs/internals/reliability.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from patience import PATIENCE

from .bystander import Bystander, standing_by
from .programs import Program, Vitals, run_front
from .traffic import GOOD, KINDS, Call, Line, batch, dial, http, judge, modern

__all__ = [
    "FULL",
    "SHORT",
    "Crowd",
    "Listening",
    "Nuisance",
    "Scale",
    "annoy",
    "crowd",
    "flood_listings",
    "listen",
]

_ids = itertools.count(1)
_SAMPLING: Final = 0.05
_LOOKING: Final = 0.2
_KEPT: Final = 2
"""Connections that a gateway, which is a client of the server, may have opened meanwhile."""
_OPENING: Final = 100
"""Connections that are opened at once: less than any backlog."""


@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    connections: int
    per_connection: int
    rounds: int
    listeners: int
    nuisances: int
    listings: int

    @property
    def in_flight(self) -> int:
        return self.connections * self.per_connection


SHORT: Final = Scale(60, 20, 2, 400, 35, 20)
FULL: Final = Scale(500, 20, 5, 10_000, 400, 200)


@dataclass
class Crowd:
    """What became of a crowd of calls."""

    calls: list[Call]
    outcomes: Counter[str] = field(default_factory=Counter[str])
    answers: Counter[int] = field(default_factory=Counter[int])
    """How often each id was answered."""
    refused: Counter[int] = field(default_factory=Counter[int])
    """The statuses of refusals that were responses of their own."""
    seconds: float = 0.0
    bystander: Bystander = field(default_factory=Bystander)
    vitals: list[Vitals] = field(default_factory=list[Vitals])
    peak: float = 0.0
    good: int = 0
    """Calls that were answered with a value."""
    done: int = 0
    """Calls that the tools of the server have done."""

    @property
    def answered_once(self) -> bool:
        return self.answers == Counter({call.id: 1 for call in self.calls})


@contextlib.asynccontextmanager
async def watched(programs: Iterable[Program], peaks: list[float]) -> AsyncGenerator[None]:
    """Note the highest memory of all programs together for the time of a block."""

    async def watch() -> None:
        while True:
            peaks.append(sum(program.vitals().memory for program in programs))
            await asyncio.sleep(_SAMPLING)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        peaks.append(sum(program.vitals().memory for program in programs))
        watching.cancel()


async def open_lines(port: int, count: int) -> list[Line]:
    """Open connections, a few at once."""
    lines: list[Line] = []
    for start in range(0, count, _OPENING):
        lines += await asyncio.gather(*(dial(port) for _ in range(min(_OPENING, count - start))))
    return lines


async def ask(port: int, tool: str, **arguments: Any) -> Any:
    """Return the value of one call on a connection of its own."""
    line = await dial(port)
    try:
        line.send(modern("tools/call", {"name": tool, "arguments": arguments}, next(_ids)))
        async with asyncio.timeout(PATIENCE):
            reply = await line.reply()
        answer = reply.messages[-1]
        assert "structuredContent" in answer.get("result", {}), answer
        return answer["result"]["structuredContent"]
    finally:
        await line.close()


async def crowd(programs: tuple[Program, ...], scale: Scale, seed: int = 0) -> Crowd:
    """Have all calls of all connections in flight at once, good and bad, and count the answers.

    Half of the connections send a POST for each call without waiting for answers, the others all
    their calls in one batch.
    """
    front = programs[0]
    chosen = random.Random(seed).choices(
        list(KINDS), [8, 8, 4, 4, 1, 2, 2, 1, 1, 1], k=scale.in_flight
    )
    found = Crowd([Call(kind, next(_ids)) for kind in chosen])
    done = await ask(programs[-1].port, "counted")
    others = front.clients() + _KEPT
    size = scale.per_connection
    shares = [found.calls[start : start + size] for start in range(0, scale.in_flight, size)]

    def take(call: Call, answer: Any, status: int | None) -> None:
        verdict = judge(call, answer, status)
        found.outcomes[verdict] += 1
        found.good += verdict == "right" and call.kind in GOOD
        found.answers[answer.get("id")] += 1
        if verdict == "busy" and status is not None:
            found.refused[status] += 1
        assert verdict != "wrong", (call, answer, status)

    async def by_posts(line: Line, calls: list[Call]) -> None:
        line.send(*(call.request() for call in calls))
        for call in calls:
            reply = await line.reply()
            take(call, reply.messages[-1], reply.status)

    async def by_batch(line: Line, calls: list[Call]) -> None:
        line.send(batch(calls))
        reply = await line.reply()
        known = {call.id: call for call in calls}
        for answer in reply.messages:
            if "method" not in answer:
                take(known[answer["id"]], answer, None)

    peaks: list[float] = []
    async with (
        watched(programs, peaks),
        standing_by(front.port, found.bystander),
        asyncio.timeout(PATIENCE),
    ):
        lines = await open_lines(front.port, len(shares))
        begun = time.perf_counter()
        await asyncio.gather(
            *(
                (by_posts if number % 2 else by_batch)(line, calls)
                for number, (line, calls) in enumerate(zip(lines, shares, strict=True))
            )
        )
        found.seconds = time.perf_counter() - begun
    for line in lines:
        await line.close()
        assert not await line.reader.read(), "something came that nobody had asked for"
    found.peak = max(peaks)
    await settled(lambda: front.clients() <= others)
    found.vitals = [program.vitals() for program in programs]
    good = len(found.bystander.latencies)
    found.done = await ask(programs[-1].port, "counted") - done - good
    return found


@dataclass
class Nuisance:
    """What was seen while others made a nuisance of themselves."""

    before: Vitals
    during: Vitals
    after: Vitals
    bystander: Bystander
    first: float
    """MiB of all programs together before it began."""
    peak: float
    """The most they held together while it went on."""
    seconds: float


async def annoy(programs: tuple[Program, ...], scale: Scale) -> Nuisance:
    """Have clients that read nothing, stop in the middle, and go; others are to be answered."""
    front = programs[0]
    await ask(front.port, "echo", number=0)
    before, others = front.vitals(), front.clients() + _KEPT
    big = modern("tools/call", {"name": "large", "arguments": {"number": 1, "size": 8_000_000}}, 1)
    held = modern("tools/call", {"name": "wait", "arguments": {"number": 1, "seconds": 2.0}}, 2)
    ways: tuple[Callable[[Line], Any], ...] = (
        lambda line: line.send(big),  # and never reads
        lambda line: line.send(b"POST /mcp HTTP/1.1\r\nHost: local"),
        lambda line: line.send(held[:-20]),
        lambda line: (line.send(held), line.writer.write_eof()),
        lambda line: (line.send(held), line.cut()),
        lambda line: line.send(b"\x00garbage\r\n\r\n"),
        lambda line: None,
    )
    seen, peaks = Bystander(), list[float]()
    lines: list[Line] = []
    async with (
        watched(programs, peaks),
        standing_by(front.port, seen),
        asyncio.timeout(PATIENCE),
    ):
        for number in range(scale.nuisances):
            line = await dial(front.port)
            line.pause()
            ways[number % len(ways)](line)
            lines.append(line)
        await ask(front.port, "echo", number=0)  # Whoever came before has been let in by now.
        during, begun = front.vitals(), time.perf_counter()
        # The server gives each of them up by itself: nobody here closes anything.
        await settled(lambda: front.clients() <= others + 1)
        seconds = time.perf_counter() - begun
    for line in lines:
        line.cut()
    await asyncio.sleep(0)
    return Nuisance(before, during, front.vitals(), seen, peaks[0], max(peaks), seconds)


async def settled(holds: Callable[[], bool]) -> None:
    """Wait until something holds that other processes bring about."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - other processes have no events
            await asyncio.sleep(_LOOKING)


@dataclass
class Listening:
    """What a crowd of listeners cost and heard."""

    before: Vitals
    during: Vitals
    after: Vitals
    heard: Counter[str]
    """How many listeners heard of one change, by era."""
    seconds: float
    """From the change until the last had heard of it."""
    bystander: Bystander


async def listen(programs: tuple[Program, ...], scale: Scale) -> Listening:
    """Have many listen in both eras, change something once, and let them all go."""
    front = programs[0]
    await ask(front.port, "echo", number=0)
    before, others = front.vitals(), front.clients() + _KEPT
    lines: list[tuple[str, Line]] = []
    for start in range(0, scale.listeners, _OPENING):
        count = min(_OPENING, scale.listeners - start)
        eras = ["session" if number % 2 else "subscription" for number in range(count)]
        opened = await asyncio.gather(*(_listener(era, front.port) for era in eras))
        lines += zip(eras, opened, strict=True)
    during = front.vitals()
    seen = Bystander()
    heard: Counter[str] = Counter()

    async def hear(era: str, line: Line) -> None:
        message = await line.next_message()
        assert message["method"] == "notifications/tools/list_changed", message
        heard[era] += 1

    async with standing_by(front.port, seen), asyncio.timeout(PATIENCE):
        begun = time.perf_counter()
        await ask(programs[-1].port, "change")
        await asyncio.gather(*(hear(era, line) for era, line in lines))
        seconds = time.perf_counter() - begun
    for _, line in lines:
        assert not line.has_more(), "a listener was told twice"
        line.cut()
    await settled(lambda: front.clients() <= others)
    await ask(front.port, "echo", number=0)
    return Listening(before, during, front.vitals(), heard, seconds, seen)


async def _listener(era: str, port: int) -> Line:
    line = await dial(port)
    if era == "subscription":
        wanted = {"notifications": {"toolsListChanged": True}}
        line.send(modern("subscriptions/listen", wanted, next(_ids)))
    else:
        line.send(http("GET", b"", {"Mcp-Session-Id": await open_session(line), **SESSION}))
    status, _ = await line.head()
    assert status == 200, status
    if era == "subscription":
        first = await line.next_message()
        assert first["method"] == "notifications/subscriptions/acknowledged", first
    return line


SESSION: Final = {"MCP-Protocol-Version": "2025-11-25"}


async def open_session(line: Line) -> str:
    """Shake hands at 2025-11-25 and return the id of the session."""
    params: dict[str, Any] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "load", "version": "0"},
    }
    body = {"jsonrpc": "2.0", "id": next(_ids), "method": "initialize", "params": params}
    line.send(http("POST", json.dumps(body).encode()))
    return (await line.reply()).headers["mcp-session-id"]


async def flood_listings(programs: tuple[Program, ...], scale: Scale) -> Nuisance:
    """Have listings asked for as fast as can be: by half of the clients without reading them."""
    front = programs[0]
    await ask(front.port, "echo", number=0)
    before, others = front.vitals(), front.clients() + _KEPT
    line = await dial(front.port)
    line.send(modern("tools/list", {}, 1))
    [listing] = (await line.reply()).messages
    names = [tool["name"] for tool in listing["result"]["tools"]]
    seen, peaks = Bystander(), list[float]()
    listed: Counter[int] = Counter()

    async def read(line: Line) -> None:
        for _ in range(scale.listings):
            id = next(_ids)
            line.send(modern("tools/list", {}, id))
            body = (await line.reply()).body
            # Reading JSON would make us the slow reader here.
            assert b'"id":%d,' % id in body[:60]
            assert names[-1].encode() in body
            listed[id] += 1

    async with (
        watched(programs, peaks),
        standing_by(front.port, seen),
        asyncio.timeout(PATIENCE),
    ):
        lines = await open_lines(front.port, scale.connections // 2)
        begun = time.perf_counter()
        for each in lines[::2]:
            each.pause()
            each.send(*(modern("tools/list", {}, next(_ids)) for _ in range(60)))
        during = front.vitals()
        await asyncio.gather(*(read(each) for each in lines[1::2]))
        seconds = time.perf_counter() - begun
    for each in [line, *lines]:
        each.cut()
    await settled(lambda: front.clients() <= others)
    assert listed.total() == len(lines[1::2]) * scale.listings
    return Nuisance(before, during, front.vitals(), seen, peaks[0], max(peaks), seconds)


async def _report(kind: str) -> None:
    with run_front(kind, WORKSHOP_TOOLS="500", WORKSHOP_PATIENCE="20") as programs:
        _say(f"\n## {kind}", f"at rest {programs[0].vitals()}")
        for number in range(FULL.rounds):
            _say_crowd(f"crowd {number}", await crowd(programs, FULL, number))
        for scenario in (annoy, flood_listings):
            seen = await scenario(programs, FULL)
            _say_held(scenario.__name__, seen)
            _say("", f"peak {seen.peak:.0f} MiB, {seen.first:.0f} before")
        heard = await listen(programs, FULL)
        _say_held("listen", heard)
        _say("", f"heard {dict(heard.heard)} in {heard.seconds:.1f} s")
        _say_crowd("afterwards", await crowd(programs, FULL, 99))
    with run_front(kind, WORKSHOP_CALLS="1000") as programs:
        _say_crowd("with room for 1,000", await crowd(programs, FULL))


def _say(*words: str) -> None:
    print(*words, sep=": ", flush=True)


def _say_crowd(name: str, found: Crowd) -> None:
    _say(
        name,
        f"{len(found.calls)} calls, once each {found.answered_once}, {dict(found.outcomes)}, "
        f"refused with {dict(found.refused)}, values {found.good}, done {found.done}, "
        f"{found.seconds:.1f} s, peak {found.peak:.0f} MiB, {_of(found.bystander)}, "
        f"{found.vitals}",
    )


def _say_held(name: str, seen: Nuisance | Listening) -> None:
    _say(name, f"{seen.before}, then {seen.during}, at last {seen.after}, {_of(seen.bystander)}")


def _of(bystander: Bystander) -> str:
    return (
        f"bystander {len(bystander.latencies)} calls ({bystander.refused} refused), median "
        f"{bystander.median * 1000:.0f} ms, worst {bystander.worst * 1000:.0f} ms"
    )


if __name__ == "__main__":
    for kind in sys.argv[1:] or ("server", "gateway"):
        asyncio.run(_report(kind))
