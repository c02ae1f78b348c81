"""The server that the raw-wire tests talk to, as a process of its own.

python wire_server.py                 on stdio
python wire_server.py http PORT       over HTTP
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import os
import subprocess
import sys
import time

from anyshape import Context, Server, Text, Tool, ToolError
from anyshape.server import Caching, HttpOptions, ServerOptions

options = ServerOptions(
    page_size=5,
    max_concurrent_calls=8,
    max_message_bytes=100_000,
    call_timeout=240,
    grace=1.0,
    caching=Caching(ttl_ms=1234, scope="public"),
)
server = Server(
    "wire",
    version="1.2.3",
    title="Wire",
    instructions="Read the wire.",
    description="For tests",
    options=options,
)
variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="clean")
cancelled: list[str] = []
real_stdout = sys.stdout
print("printed before the server runs")


@server.tool(inline=True)
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@server.tool
async def people() -> list[dict[str, str]]:
    """List people."""
    return [{"name": "Ada"}, {"name": "Grace"}]


@server.tool
async def nothing() -> None:
    """Return null."""


@server.tool
async def wait(seconds: float, tag: str = "") -> str:
    """Wait, then say so."""
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        cancelled.append(tag)
        raise
    return f"waited {tag}"


@server.tool
async def cancellations() -> list[str]:
    """List the tags of waits that were cancelled."""
    return cancelled


@server.tool
async def steps(context: Context, count: int = 3, pause: float = 0.0) -> str:
    """Report progress step by step."""
    for step in range(1, count + 1):
        context.progress(step, count, f"step {step}")
        await asyncio.sleep(pause)
    return "done"


@server.tool
def shout(text: str) -> str:
    """Print in every way there is, and leave in buffers what will stay there."""
    print(text)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
    os.write(1, text.encode() + b"\n")
    subprocess.run([sys.executable, "-c", f"print({text!r})"], check=True)
    real_stdout.write(text + "\n")
    if os.name == "posix":
        ctypes.CDLL(None).puts(text.encode())
    return text


@server.tool
def read_input() -> str:
    """Read standard input, which is not the tool's to read."""
    return sys.stdin.read()


@server.tool
def fail(message: str) -> str:
    """Fail and say why."""
    raise ToolError(message)


@server.tool
def crash() -> str:
    """Fail by mistake."""
    raise RuntimeError("the secret is 42")


@server.tool
async def stain() -> str:
    """Leave something in a context variable."""
    before = variable.get()
    variable.set("stained")
    return before


@server.tool
def block(seconds: float) -> str:
    """Wait on a thread."""
    time.sleep(seconds)
    return "unblocked"


@server.tool
async def block_in_thread(seconds: float) -> str:
    """Wait on a thread of the event loop's own."""
    await asyncio.to_thread(time.sleep, seconds)
    return "unblocked"


@server.tool
async def big(size: int) -> str:
    """Return a long string."""
    return "x" * size


@server.tool
async def who(context: Context) -> dict[str, object]:
    """Say what is known of the caller."""
    return {
        "id": context.request_id,
        "client": dict(context.client) if context.client else None,
        "meta": dict(context.meta),
    }


@server.tool(requires={"sampling": {}})
async def needy() -> str:
    """Need sampling."""
    return "satisfied"


@server.tool(
    input_schema={
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "limit": {"type": "integer", "x-mcp-header": "Limit"},
        },
    }
)
async def routed(arguments: dict[str, object]) -> dict[str, object]:
    """Take arguments that travel in headers."""
    return arguments


@server.tool
async def change(name: str) -> Text:
    """Add a tool of that name, or remove it."""
    if name in server.tools:
        server.remove_tool(name)
    else:
        server.add_tool(Tool(name=name, handler=_nothing, input_schema={"type": "object"}))
    return Text("changed")


def _nothing(arguments: dict[str, object]) -> None:
    return None


def main() -> None:
    if sys.argv[1:2] == ["http"]:
        server.run(
            "http",
            port=int(sys.argv[2]),
            options=HttpOptions(keep_alive=0.2),
            log_level="warning",
        )
    else:
        server.run()


if __name__ == "__main__":
    main()
