"""The server that is put under load: tools of every temper, in a process of its own.

python workshop.py                on stdio
python workshop.py PORT           over HTTP

`WORKSHOP_TOOLS` is the number of tools that do nothing but take room in the listing, and
`WORKSHOP_CALLS` how many calls may wait at once, `WORKSHOP_PATIENCE` how long slow clients are
waited for.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

from anyshape import Context, Server, Tool, ToolError
from anyshape.server import HttpOptions, ServerOptions

LISTENERS = 20_000
FILLERS = int(os.environ.get("WORKSHOP_TOOLS", "20"))
CALLS = int(os.environ.get("WORKSHOP_CALLS", "20000"))
PATIENCE = float(os.environ.get("WORKSHOP_PATIENCE", "5"))
done = waiting = 0


def count() -> None:
    global done
    done += 1


def _same(arguments: dict[str, object]) -> dict[str, object]:
    return arguments


server = Server(
    "workshop",
    options=ServerOptions(
        max_concurrent_calls=CALLS,
        max_subscriptions=LISTENERS,
        call_timeout=120,
        grace=5,
        state_keys=(b"a secret of all workshops",),
    ),
)


@server.tool(inline=True)
def echo(number: int) -> int:
    """Return a number at once."""
    count()
    return number


@server.tool
async def wait(number: int, seconds: float = 0.05) -> int:
    """Return a number after a while."""
    global waiting
    waiting += 1
    try:
        await asyncio.sleep(seconds)
    finally:
        waiting -= 1
    count()
    return number


@server.tool
async def still_waiting() -> int:
    """Return how many calls wait right now."""
    return waiting


@server.tool
def block(number: int) -> int:
    """Return a number from a thread."""
    time.sleep(0.001)
    count()
    return number


@server.tool
async def large(number: int, size: int) -> str:
    """Return a long text."""
    count()
    return f"{number}" + "x" * size


@server.tool
async def steps(context: Context, number: int, steps: int = 3) -> int:
    """Report progress, then return a number."""
    for step in range(steps):
        context.progress(step, steps, f"step {step}")
        await asyncio.sleep(0)
    count()
    return number


@server.tool
async def ask(context: Context, number: int) -> str:
    """Ask the user something."""
    answer = await context.elicit(f"Is {number} right?", bool)
    count()
    return f"{number}: {answer}"


@server.tool
def fail(number: int) -> int:
    """Fail and say why."""
    raise ToolError(f"{number} is not to be had")


@server.tool
def crash(number: int) -> int:
    """Fail by mistake."""
    raise RuntimeError(f"secret {number}")


@server.tool
async def shout(number: int) -> int:
    """Print, which is nobody's answer."""
    print("shouted", number, flush=True)
    count()
    return number


@server.tool
async def counted() -> int:
    """Return how many calls have been done."""
    return done


@server.tool
async def change() -> int:
    """Add a tool or remove it, and tell who listens."""
    if "extra" in server.tools:
        server.remove_tool("extra")
    else:
        server.add_tool(Tool(name="extra", handler=_same, input_schema={"type": "object"}))
    return len(server.tools)


@server.tool
async def touch(name: str) -> str:
    """Say that a note has changed."""
    server.resource_changed(f"note:{name}")
    return name


@server.resource("note:{name}")
def note(name: str) -> str:
    """Read a note."""
    return name


for each in range(FILLERS):
    server.add_tool(
        Tool(
            name=f"filler{each}",
            description="Take room. " * 20,
            handler=_same,
            input_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        )
    )


def main() -> None:
    if sys.argv[1:]:
        options = HttpOptions(request_timeout=PATIENCE)
        port = int(sys.argv[1])
        server.run(
            "http",
            port=port,
            options=options,
            log_level="critical",
            backlog=4096,
            timeout_keep_alive=75,
        )
    else:
        server.run()


if __name__ == "__main__":
    main()
