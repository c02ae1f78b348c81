"""One hostile case in a process of its own: what each verb said, and what it did to the process.

Reads `{"document", "values", "limits"}` as JSON from standard input and writes a report to standard
output. A process of its own, because the case may end the process, and because the peak of memory
is only known for a whole process. The verbs run in a thread while an event loop ticks beside them:
the longest time between two ticks is how long the interpreter, and with it any event loop, was held.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from anyshape.errors import ValidationError
from anyshape.schema import Limits, Schema, compile

TICK = 0.005


class Pulse:
    """Ticks beside whatever runs, and remembers the longest pause."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def beat(self) -> None:
        """Tick until cancelled."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            self.longest = max(self.longest, now - last - TICK)
            last = now


def outcome(act: Callable[[], object]) -> Any:
    """Return `true` or `false` for a verdict, the name of the error for anything else."""
    try:
        result = act()
    except ValidationError as error:
        return False if type(error) is ValidationError else name_of(error)
    except BaseException as error:
        return name_of(error)
    if isinstance(result, list):
        return not result
    return result if isinstance(result, bool) else True


def timed(act: Callable[[], object]) -> dict[str, Any]:
    """Return the outcome of `act`, the time it took, and how much of it this thread was at work."""
    started, worked = time.monotonic(), time.thread_time()
    found = outcome(act)
    work = time.thread_time() - worked
    return {"outcome": found, "seconds": time.monotonic() - started, "work": work}


def name_of(error: BaseException) -> str:
    """Return the class of an error, with its module unless the error is ours."""
    kind = type(error)
    return kind.__name__ if kind.__module__ == "anyshape.errors" else f"{kind.__module__}.{kind}"


async def measured(act: Callable[[], object]) -> dict[str, Any]:
    """Run `act` in a thread; return what `timed` does, and how long the loop was held."""
    pulse = Pulse()
    beating = asyncio.create_task(pulse.beat())
    await asyncio.sleep(TICK)
    found = await asyncio.to_thread(timed, act)
    await asyncio.sleep(2 * TICK)  # the pause that the last moment made is seen by one more tick
    beating.cancel()
    return {**found, "held": pulse.longest}


async def attack(case: dict[str, Any]) -> dict[str, Any]:
    """Compile the document and ask every verb about every value."""
    limits = Limits(**case.get("limits", {}))
    compile({"type": "object"}).accepts({})
    before = psutil.Process().memory_info().rss
    kept: list[Schema] = []
    steps = {
        "compile": await measured(lambda: kept.append(compile(case["document"], limits=limits)))
    }
    for number, value in enumerate(case["values"] if kept else ()):
        schema = kept[0]
        steps[f"accepts {number}"] = await measured(lambda: schema.accepts(value))  # noqa: B023
        steps[f"problems {number}"] = await measured(lambda: schema.problems(value))  # noqa: B023
        steps[f"validate {number}"] = await measured(lambda: schema.validate(value))  # noqa: B023
    # Not `ru_maxrss`: that begins with what the process had that this one was started from.
    status = Path("/proc/self/status").read_text()  # noqa: ASYNC240 - nothing else runs by then
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return {"steps": steps, "grown": peak - before}


if __name__ == "__main__":
    json.dump(asyncio.run(attack(json.load(sys.stdin))), sys.stdout)
