"""Mixed traffic through a gateway and a server, lap after lap: what they hold stays the same.

    make soak ARGS=60          for an hour; a minute unless told

A lap is the same work each time: crowds of raw calls of both eras, clients of ours that list, call,
are asked, report progress, subscribe, give up and go, listeners, sessions that are ended and ones
that are left, cut connections, garbage, and an upstream that floods, lies, changes and dies. After
each lap nobody is connected, and what every process holds is written down. The exit code is 1 if a
call was lost or answered wrongly, or if memory, descriptors, threads or children grow.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import psutil
from patience import PATIENCE

from anyshape import Client
from anyshape.errors import AnyshapeError

from .load import Scale, crowd, listen, open_session, settled
from .programs import FOLDER, MEBIBYTE, Program, Vitals, run_program
from .traffic import dial, http, modern

__all__ = ["Soak", "soak"]

LAP: Final = Scale(20, 20, 1, 40, 0, 0)
UNRELIABLE: Final = FOLDER.parent / "gateway" / "unreliable.py"
BAD_WAYS: Final = ("", "flood", "wrong id", "twice", "garbage", "change", "no result", "array")
WARM: Final = 0.4
"""The part of all laps in which caches fill: what was kept for five minutes is let go of then."""
KEPT: Final = 4
"""Connections that a gateway keeps to a server for what it listens for."""
THREADS: Final = 80
"""The threads for synchronous tools, and a few more."""
SLACK: Final = 8.0
"""MiB that memory may differ by between a process that is warm and the same later."""


@dataclass
class Soak:
    """What was done, and what every process held after each lap."""

    done: Counter[str] = field(default_factory=Counter[str])
    held: dict[str, list[Vitals]] = field(default_factory=dict[str, list[Vitals]])
    seconds: float = 0.0

    @property
    def laps(self) -> int:
        return len(next(iter(self.held.values())))

    def warm(self, name: str) -> list[Vitals]:
        """Return what a process held once it was warm."""
        return self.held[name][int(self.laps * WARM) :]

    def growth(self, name: str) -> float:
        """Return by how many MiB memory rose from the first half of the warm laps to the second."""
        warm = [each.memory for each in self.warm(name)]
        middle = len(warm) // 2
        return max(warm[middle:]) - max(warm[: middle or 1])

    def faults(self) -> list[str]:
        """Return what grew."""
        found: list[str] = []
        for name in self.held:
            warm = self.warm(name)
            if self.growth(name) > SLACK:
                found.append(f"{name}: memory grew by {self.growth(name):.1f} MiB")
            for what in ("descriptors", "children"):
                first, last = getattr(warm[0], what), getattr(warm[-1], what)
                if last > first + 4:
                    found.append(f"{name}: {what} grew from {first} to {last}")
            if warm[-1].threads > THREADS:
                found.append(f"{name}: {warm[-1].threads} threads")
        return found


@contextlib.asynccontextmanager
async def _fleet() -> AsyncGenerator[dict[str, Program]]:
    with run_program("workshop.py", WORKSHOP_PATIENCE="75") as server:
        targets = (server.url, f"pipe={FOLDER / 'workshop.py'}", f"bad={UNRELIABLE}")
        with run_program("gatehouse.py", *targets) as gateway:
            yield {"gateway": gateway, "server": server}


async def soak(seconds: float, least: int = 1, *, say: Any = None) -> Soak:
    """Run laps for so long, and at least so many."""
    found = Soak()
    begun = time.monotonic()
    ourselves = psutil.Process(os.getpid())
    before = ourselves.num_threads()  # those of other tests, if this is one of several
    async with _fleet() as programs:
        found.held = {name: [] for name in (*programs, "client")}
        number = 0
        while number < least or time.monotonic() - begun < seconds:
            async with asyncio.timeout(PATIENCE):
                await _lap(programs, found.done, random.Random(number))
            await settled(lambda: all(program.clients() <= KEPT for program in programs.values()))
            for name, program in programs.items():
                found.held[name].append(program.vitals())
            memory = ourselves.memory_info().rss / MEBIBYTE
            found.held["client"].append(
                Vitals(memory, ourselves.num_fds(), ourselves.num_threads() - before, 0)
            )
            number += 1
            if say is not None:
                say(number, found)
    found.seconds = time.monotonic() - begun
    return found


async def _lap(programs: dict[str, Program], done: Counter[str], chance: random.Random) -> None:
    gateway, server = programs["gateway"], programs["server"]
    for front in ((gateway, server), (server,)):
        found = await crowd(front, LAP, chance.randrange(10**6))
        assert found.answered_once, "a call was not answered once"
        assert set(found.outcomes) == {"right"}, found.outcomes
        done["raw calls"] += len(found.calls)
        heard = (await listen(front, LAP)).heard
        assert heard.total() == LAP.listeners, heard
        done["changes heard"] += heard.total()
        await asyncio.gather(
            *(_visit(front[0].url, revision, done) for revision in ("2026-07-28", "2025-11-25") * 3)
        )
        await asyncio.gather(*(_session(front[0], done, ends=bool(n % 2)) for n in range(6)))
        await _interrupt(front[0], done)
    await _misbehave(gateway.url, done, chance)


async def _visit(url: str, revision: str, done: Counter[str]) -> None:
    """Use everything that a client of ours can do, once."""
    changed = asyncio.Event()
    async with Client(
        url, revision=revision, on_elicit=lambda _: {"value": True}, on_list_changed=lambda _: None
    ) as client:
        tools = {tool.name for tool in await client.list_tools()}
        assert {"echo", "steps", "ask"} <= tools
        for number in range(5):
            assert await client.call("echo", {"number": number}) == number
        steps: list[Any] = []
        assert await client.call("steps", {"number": 7}, on_progress=steps.append) == 7
        assert "True" in await client.call("ask", {"number": 3})
        failed = await client.call_tool("fail", {"number": 1})
        assert failed.is_error
        with contextlib.suppress(AnyshapeError):
            await client.call_tool("echo", {"number": "x"})
        assert (await client.read_resource("note:a")).text == "a"
        await client.subscribe("note:a", lambda _: changed.set())
        await client.call("touch", {"name": "a"})
        await changed.wait()
        await client.unsubscribe("note:a")
        given_up = asyncio.create_task(client.call("wait", {"number": 1, "seconds": 30}))
        await asyncio.sleep(0.02)
        given_up.cancel()
        await asyncio.wait([given_up])
    done["client visits"] += 1


async def _session(program: Program, done: Counter[str], *, ends: bool) -> None:
    """Open a session; end it, or leave without a word."""
    line = await dial(program.port)
    session = await open_session(line)
    if ends:
        line.send(http("DELETE", b"", {"Mcp-Session-Id": session}))
        assert (await line.reply()).status == 204
    line.cut()
    done["sessions"] += 1


async def _interrupt(program: Program, done: Counter[str]) -> None:
    """Break connections off at every stage of a call."""
    whole = modern("tools/call", {"name": "wait", "arguments": {"number": 1, "seconds": 5}}, 1)
    stream = modern("tools/call", {"name": "steps", "arguments": {"number": 1}}, 2)
    for sent in (b"", b"POST", whole[:-10], whole, stream, b"\x00\r\n\r\n", whole + stream[:50]):
        line = await dial(program.port)
        line.send(sent)
        await asyncio.sleep(0.01)
        line.cut()
        done["cut connections"] += 1


async def _misbehave(url: str, done: Counter[str], chance: random.Random) -> None:
    """Have an upstream do what it should not, and die now and then; others do not notice."""
    ways = [*chance.choices(BAD_WAYS, k=20), *(["die"] if chance.random() < 0.5 else [])]
    async with Client(url, check_results=False) as client:
        await client.list_tools()
        for number, how in enumerate(ways):
            bad = asyncio.create_task(_bad_call(client, how, number))
            assert await client.call("pipe_echo", {"number": number}) == number
            done[f"bad upstream: {await bad}"] += 1


async def _bad_call(client: Client, how: str, number: int) -> str:
    try:
        result = await client.call_tool("bad_work", {"how": how, "n": number})
    except AnyshapeError:
        return "error"
    assert result.is_error or result.value == {"n": number}, result
    return "error" if result.is_error else "value"


def _say(number: int, found: Soak) -> None:
    states = ", ".join(
        f"{name} {held[-1].memory:.1f} MiB {held[-1].descriptors} fd {held[-1].threads} threads"
        for name, held in found.held.items()
    )
    print(f"lap {number}: {states}", flush=True)


def main(words: Sequence[str]) -> int:
    minutes = float(words[0]) if words else 1.0
    found = asyncio.run(soak(minutes * 60, 5, say=_say))
    print(f"\n{found.laps} laps in {found.seconds / 60:.0f} minutes: {dict(found.done)}")
    for name in found.held:
        warm = found.warm(name)
        memory = [each.memory for each in warm]
        print(
            f"{name}: {warm[0].memory:.1f} MiB when warm, {warm[-1].memory:.1f} at the end "
            f"(between {min(memory):.1f} and {max(memory):.1f}), descriptors "
            f"{warm[0].descriptors} and {warm[-1].descriptors}, threads {warm[0].threads} and "
            f"{warm[-1].threads}, children {warm[0].children} and {warm[-1].children}"
        )
    faults = found.faults()
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
