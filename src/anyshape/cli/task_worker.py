"""`anyshape worker`: work on the tasks that a server's processes have accepted."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Annotated, Final

import typer

from anyshape.cli import json_text, options, terminal
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.loading import load_server
from anyshape.cli.serve import check_no_command

if TYPE_CHECKING:
    from anyshape.server import Server

EXAMPLES: Final = """\b
Examples:
  anyshape worker reports.py
  anyshape worker reports:server --concurrency 4
"""


def worker(
    context: typer.Context,
    module: Annotated[str, typer.Argument(metavar="MODULE[:NAME]", hidden=True)],
    concurrency: Annotated[
        int, typer.Option(metavar="N", help="How many tasks are worked on at once.")
    ] = 10,
    json: options.JsonOption = False,
) -> int:
    """Work on the tasks of a server, on this machine or any other that reaches its store."""
    check_no_command(context, "worker")
    if concurrency < 1:
        raise UsageError(f"--concurrency {concurrency}: expected 1 or more", hint="10 by default")
    server = load_server(module)
    if json:
        terminal.write(json_text.compact({"name": server.name, "concurrency": concurrency}))
    else:
        terminal.say(f"{server.name}: at most {concurrency} tasks at a time\n\nCtrl-C stops it.")
    try:
        asyncio.run(_work(server, concurrency))
    except ValueError as error:
        raise CommandError(f"{server.name} has no tasks to work on", hint=str(error)) from None
    return Exit.OK


async def _work(server: Server, concurrency: int) -> None:
    working = asyncio.create_task(server.work(concurrency=concurrency))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, working.cancel)
    await asyncio.wait([working])
    if not working.cancelled():
        working.result()
