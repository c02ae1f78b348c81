"""`anyshape demo`: the demo server, and what to try on it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from anyshape.cli import options, terminal
from anyshape.cli.failure import Exit, UsageError

EXAMPLES: Final = """\b
Examples:
  anyshape demo
  anyshape demo --port 9000
  anyshape tools -- anyshape demo --stdio
"""


def demo(
    context: typer.Context,
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve on stdio instead of HTTP.")] = False,
    port: options.PortOption = 8000,
    json: options.JsonOption = False,
) -> int:
    """Start the demo server: small tools of every shape, and what to try on them."""
    from anyshape.cli.inspect import page_on
    from anyshape.cli.serve import announce, listen
    from anyshape.cli.target import NamedTarget
    from anyshape.demo.server import server
    from anyshape.page import run_page

    if context.obj["command"] is not None:
        raise UsageError("demo takes no command", hint="anyshape demo")
    if stdio:
        program = _program()
        terminal.say("The demo server speaks MCP on stdin and stdout. Try instead:")
        for step in _next_steps(program, f"-- {program} demo --stdio"):
            terminal.say(f"  {step}")
        server.run()
        return Exit.OK
    listener = listen("127.0.0.1", port)
    bound: int = listener.getsockname()[1]
    url = f"http://127.0.0.1:{bound}/mcp"
    page = page_on(NamedTarget(server, "anyshape demo"), beside=server.asgi())
    steps = _next_steps(_program(), url)
    announce(server, url, json=json, next_steps=steps, page=page.address(bound))
    run_page(page, listener, grace=server.options.grace)
    return Exit.OK


def _next_steps(program: str, target: str) -> list[str]:
    steps = (("tools", ""), ("call", "get-weather-forecast"), ("shapes", "get-count"))
    if target.startswith("--"):
        return [" ".join(filter(None, (program, *step, target))) for step in steps]
    return [" ".join(filter(None, (program, step[0], target, step[1]))) for step in steps]


def _program() -> str:
    """Return how to run this program from here: its name, or the path it was started by."""
    started = Path(sys.argv[0])
    found = shutil.which("anyshape")
    if started.name != "anyshape":
        return f"{shlex.quote(sys.executable)} -m anyshape"
    if found is not None and Path(found).resolve() == started.resolve():
        return "anyshape"
    return shlex.quote(sys.argv[0])
