"""A server whose tools do what no tool should.

python tempers.py                 on stdio
python tempers.py PORT            over HTTP
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import subprocess
import sys
import time

from anyshape import Server
from anyshape.server import ServerOptions

server = Server("tempers", options=ServerOptions(grace=1.0, call_timeout=60))
HUNGRY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28))
bytearray(2**30)
"""


class Ending(BaseException):
    """What nobody expects."""


ENDINGS: dict[str, type[BaseException]] = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": SystemExit,
    "GeneratorExit": GeneratorExit,
    "CancelledError": asyncio.CancelledError,
    "MemoryError": MemoryError,
    "Ending": Ending,
}


@server.tool
async def echo(number: int) -> int:
    """Return a number."""
    return number


@server.tool(timeout=0.2)
async def sleep_for_ever() -> None:
    """Never return."""
    await asyncio.Event().wait()


@server.tool(timeout=0.2)
def sleep_on_a_thread() -> None:
    """Hold a thread for as long as the process lives."""
    time.sleep(100_000)


@server.tool
async def end(how: str) -> None:
    """Raise what ends programs."""
    raise ENDINGS[how]


@server.tool
def end_on_a_thread(how: str) -> None:
    """Raise what ends programs, on a thread."""
    raise ENDINGS[how]


@server.tool
async def hold_the_loop(seconds: float) -> float:
    """Let nobody else run."""
    time.sleep(seconds)  # noqa: ASYNC251
    return seconds


@server.tool
def print_everywhere(number: int) -> int:
    """Print to every place that looks like an output."""
    print("to stdout", number)
    sys.stderr.write("to stderr\n")
    os.write(1, b"to descriptor 1\n")
    subprocess.run(["echo", "from a child"], check=True)
    return number


@server.tool
def fork(number: int) -> int:
    """Fork, in both ways that Python has."""
    child = os.fork()
    if not child:
        os._exit(number)
    _, status = os.waitpid(child, 0)
    process = multiprocessing.get_context("fork").Process(target=print, args=("from a fork",))
    process.start()
    process.join()
    return os.waitstatus_to_exitcode(status)


@server.tool
def eat_memory_in_a_child() -> int:
    """Have a child ask for more than it may have."""
    return subprocess.run([sys.executable, "-c", HUNGRY], check=False, stderr=-3).returncode


@server.tool
def recurse(depth: int) -> int:
    """Go too deep."""
    return _deeper(depth)


def _deeper(depth: int) -> int:
    return _deeper(depth + 1) + 1


def main() -> None:
    files = int(os.environ.get("TEMPERS_FILES", "0"))
    if files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if sys.argv[1:]:
        server.run("http", port=int(sys.argv[1]), log_level="critical")
    else:
        server.run()


if __name__ == "__main__":
    main()
