"""`anyshape call`: call one tool and write its value."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from anyshape.cli import json_text, terminal
from anyshape.cli.arguments import parse_arguments
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.questions import TerminalQuestions, questions
from anyshape.cli.target import NamedTarget, connect
from anyshape.cli.tools import find_tool

if TYPE_CHECKING:
    from anyshape.client import CallResult, Client, OnProgress, Progress
    from anyshape.protocol.content import Content

EXAMPLES: Final = """\b
Arguments:
  key=value    text, or what the tool's schema says the argument is
  key:=JSON    any value, said outright: days:=3 tags:='["a", "b"]' who:=null
  '{...}'      all arguments as one JSON object; - reads it from stdin

\b
Examples:
  anyshape call http://127.0.0.1:8000/mcp list_users limit=1
  anyshape call weather.py get_forecast '{"city": "Paris"}' | jq '.[0]'
  anyshape call get_forecast city=Paris -- python weather.py
"""

_PATIENCE: Final = 1.0


@about_server()
def call(
    asked: Asked,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Leave it to the server to check the arguments.")
    ] = False,
) -> int:
    """Call a tool: its value on stdout, anything else on stderr, 1 if it failed."""
    tool, words = split_tool(asked.rest)
    return asyncio.run(_call(asked, asked.target(), tool, words, unchecked=unchecked))


def split_tool(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the tool's name and its arguments."""
    if not words:
        raise UsageError("a TOOL is missing", hint="`anyshape tools TARGET` lists them")
    return words[0], list(words[1:])


async def _call(
    asked: Asked, target: NamedTarget, name: str, words: Sequence[str], *, unchecked: bool
) -> int:
    asking = questions()
    async with connect(target, asked.revision, asks=asking or False) as client:
        tool = find_tool(client, await client.list_tools(), name)
        arguments = parse_arguments(words, tool.input_schema)
        if not unchecked:
            _check(name, tool.input.problems(arguments), target)
        with _progress(name, asking) as on_progress:
            result = await client.call_tool(
                name, arguments, on_progress=on_progress, check_arguments=False
            )
        if asked.json:
            terminal.write(json_text.compact(_as_data(client, result)))
        elif not result.is_error:
            _show(result)
    if result.is_error and not asked.json:
        raise _failed(name, result)
    return Exit.NO if result.is_error else Exit.OK


def _check(name: str, problems: Sequence[object], target: NamedTarget) -> None:
    """Say what is wrong with the arguments before anything is sent."""
    if problems:
        command = f" {target.shown}" if target.is_command else ""
        place = "" if target.is_command else f" {target.shown}"
        raise CommandError(
            f"{name} does not take these arguments",
            details=[str(problem) for problem in problems],
            hint=f"anyshape tools{place} {name} --schema{command}",
            code=Exit.NO,
        )


def _failed(name: str, result: CallResult) -> CommandError:
    lines = result.text.splitlines() or ["it gave no reason"]
    return CommandError(
        f"{name} failed: {lines[0]}" if len(lines) == 1 else f"{name} failed",
        details=lines if len(lines) > 1 else (),
        hint="these are the tool's own words, as a model would read them",
        code=Exit.NO,
    )


def _as_data(client: Client, result: CallResult) -> dict[str, Any]:
    data: dict[str, Any] = {"revision": str(client.revision), "isError": result.is_error}
    if result.has_value:
        data["value"] = result.value
    return {**data, "content": result.raw.get("content", [])}


def _show(result: CallResult) -> None:
    """Write the value to stdout and what else was said to stderr; words only, if that is all."""
    from anyshape.protocol.content import Text

    if result.has_value:
        json_text.write_json(result.value)
    for block in result.content:
        if not isinstance(block, Text):
            terminal.say(terminal.line(name_content(block)))
        elif not result.has_value:
            terminal.write(terminal.safe(block.text))
        elif not _mirrors(block.text, result.value):
            terminal.say(terminal.paragraph(block.text))


def name_content(block: Content) -> str:
    """Return what stands for content that is no text."""
    from anyshape.client.answers import as_object

    wire = as_object(block.wire())  # a stranger's block may be anything
    return f"({wire.get('mimeType') or wire.get('type') or 'unknown'} content; --json shows it)"


def _mirrors(text: str, value: object) -> bool:
    import json

    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


@contextmanager
def _progress(name: str, asking: TerminalQuestions | None) -> Generator[OnProgress | None]:
    """Show a bar on stderr while a call takes longer than a moment, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True, no_color=not terminal.is_colourful(sys.stderr)),
        transient=True,
    )
    task = bar.add_task(terminal.line(name), total=None)

    def report(progress: Progress) -> None:
        said = f"{name}: {progress.message}" if progress.message else name
        bar.update(
            task,
            completed=progress.progress,
            total=progress.total,
            description=terminal.line(said.replace("\n", " ")[:60]),
        )
        bar.start()

    timer = asyncio.get_running_loop().call_later(_PATIENCE, bar.start)

    def clear() -> None:
        timer.cancel()
        bar.stop()

    if asking is not None:
        asking.clear = clear
    try:
        yield report
    finally:
        clear()
