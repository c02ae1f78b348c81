"""The program: which commands there are, and the one place where their failures are reported."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from anyshape._version import __version__
from anyshape.cli import (
    call,
    check,
    demo,
    gateway,
    inspect,
    logout,
    pin,
    prompts,
    resources,
    serve,
    shapes,
    task_worker,
    terminal,
    tools,
)
from anyshape.cli.failure import CommandError, Exit, UsageError, explain
from anyshape.cli.usage import Command
from anyshape.errors import AnyshapeError

app = typer.Typer(
    name="anyshape",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=(
        "TARGET is a URL (http://127.0.0.1:8000/mcp), a module or file that has a server in it "
        "(weather:server, server.py), the file of a gateway (fleet.toml), or a command after two "
        "dashes (-- python server.py).\n\n"
        "Exit codes: 0 yes, 1 the answer is no, 2 usage, 3 could not find out."
    ),
)
for _command, _examples, _summary in (
    (demo.demo, demo.EXAMPLES, "Start the demo server."),
    (serve.serve, serve.EXAMPLES, "Run a server, on stdio or over HTTP."),
    (gateway.gateway, gateway.EXAMPLES, "Serve other servers at one endpoint."),
    (task_worker.worker, task_worker.EXAMPLES, "Work on the tasks of a server."),
    (tools.tools, tools.EXAMPLES, "List a server's tools with their types."),
    (call.call, call.EXAMPLES, "Call a tool."),
    (resources.resources, resources.EXAMPLES, "List a server's resources."),
    (resources.read, resources.READ_EXAMPLES, "Read a resource."),
    (prompts.prompts, prompts.EXAMPLES, "List a server's prompts."),
    (prompts.prompt, prompts.PROMPT_EXAMPLES, "Get a prompt."),
    (shapes.shapes, shapes.EXAMPLES, "Show what clients of each age see of a tool."),
    (check.check, check.EXAMPLES, "Judge tools, or files with schemas."),
    (inspect.inspect, inspect.EXAMPLES, "Open a page on a server."),
    (pin.pin, pin.EXAMPLES, "Record what a server lists, and show what changed."),
    (logout.logout, logout.EXAMPLES, "Sign out of a server."),
):
    app.command(cls=Command, epilog=_examples, short_help=_summary)(_command)


@app.callback(invoke_without_command=True)
def anyshape(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """MCP tools that take and return any JSON shape: serve, list, call, compare, check."""
    if version:
        terminal.write(f"anyshape {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        terminal.write(context.get_help())
        raise typer.Exit


def run(arguments: Sequence[str]) -> int:
    """Run the program on some arguments and return its exit code."""
    terminal.prepare()
    words, command = _split_command(arguments)
    try:
        code: Any = app(
            words, prog_name="anyshape", standalone_mode=False, obj={"command": command}
        )
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except terminal.ReaderGone:
        terminal.leave(sys.stdout)
        return Exit.BROKEN_PIPE
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return Exit.BROKEN_PIPE  # typer's own end, if nobody reads its help
    except Exception as error:
        failure = _failure(error, is_command=command is not None)
        terminal.complain(failure)
        terminal.write_rest()
        return failure.code
    return code if isinstance(code, int) else Exit.OK


def _split_command(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Return what stands before `--`, and the command behind it."""
    if "--" not in arguments:
        return list(arguments), None
    at = list(arguments).index("--")
    return list(arguments[:at]), list(arguments[at + 1 :])


def _failure(error: Exception, *, is_command: bool) -> CommandError:
    if isinstance(error, CommandError):
        return error
    if isinstance(error, AnyshapeError):
        return explain(error, is_command=is_command)
    tell = getattr(error, "format_message", None)
    if callable(tell):  # what typer raises when it cannot make sense of the command line
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "anyshape")
        return UsageError(str(tell()), hint=f"`{path} --help` shows how")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return CommandError(f"cannot write: {error.strerror}", hint="make room where it goes")
    if os.environ.get("ANYSHAPE_DEBUG"):
        raise error
    return CommandError(
        f"unexpected {type(error).__name__}: {error}",
        hint="this is a bug in anyshape; ANYSHAPE_DEBUG=1 shows where",
    )
