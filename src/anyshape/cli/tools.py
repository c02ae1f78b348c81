"""`anyshape tools`: what a server offers, as a client of some age is told."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from anyshape.cli import json_text, terminal
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.target import NamedTarget, connect

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyshape.client import Client, ListedTool

EXAMPLES: Final = """\b
Examples:
  anyshape tools http://127.0.0.1:8000/mcp
  anyshape tools weather.py --revision 2025-11-25
  anyshape tools get_forecast --schema -- python weather.py
"""

_HINTS: Final = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
}


@about_server()
def tools(
    asked: Asked,
    schema: Annotated[bool, typer.Option("--schema", help="Show the schemas in full.")] = False,
) -> int:
    """List a server's tools with their types, and those that cannot be used with the reason."""
    return asyncio.run(_list(asked, asked.target(), schema=schema))


async def _list(asked: Asked, target: NamedTarget, *, schema: bool) -> int:
    async with connect(target, asked.revision) as client:
        listed = await client.list_tools()
        rejected = {name: str(error) for name, error in client.rejected.items()}
        if asked.rest:
            listed = [find_tool(client, listed, name) for name in asked.rest]
            rejected = {}
        if asked.json:
            entries = [tool.entry for tool in listed]
            data = {**describe_server(client), "tools": entries, "rejected": rejected}
            terminal.write(json_text.compact(data))
        else:
            terminal.say(_title(client, len(listed), len(rejected)))
            natural = asked.revision is None
            _show(client, listed, rejected, schema=schema, natural=natural)
    return Exit.OK


def find_tool(client: Client, listed: Sequence[ListedTool], name: str) -> ListedTool:
    """Return a tool by name; say why it cannot be used, or which one may have been meant."""
    for tool in listed:
        if tool.name == name:
            return tool
    reason = client.rejected.get(name)
    if reason is not None:
        raise CommandError(
            f"tool {name} cannot be used: {reason}",
            hint="the server published a schema that is refused; its author has to mend it",
            code=Exit.NO,
        )
    known = [tool.name for tool in listed]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"it has: {', '.join(known[:12]) or 'none'}"
    raise UsageError(f"the server has no tool {name}", hint=hint)


def describe_server(client: Client) -> dict[str, Any]:
    """Return who answered, for programs."""
    server = client.server
    return {
        "server": {"name": server.name, "version": server.version},
        "revision": str(client.revision),
    }


def show_rejected(rejected: Mapping[str, str]) -> list[RenderableType]:
    """Return what cannot be used, and why, to be shown below what can."""
    from rich.text import Text

    lines = [terminal.line(f"{name}: {reason}") for name, reason in rejected.items()]
    title = [Text("rejected", "bold red")] if lines else []
    return [*title, *(terminal.indented(Text(line)) for line in lines)]


def _title(client: Client, usable: int, refused: int) -> str:
    server = client.server
    name = " ".join(part for part in (server.name or "a server", server.version) if part)
    count = f"{usable} tool{'' if usable == 1 else 's'}"
    if refused:
        count += f", {refused} rejected"
    return f"{terminal.line(name)} · {count} · as of {client.revision}\n"


def _show(
    client: Client,
    listed: Sequence[ListedTool],
    rejected: Mapping[str, str],
    *,
    schema: bool,
    natural: bool,
) -> None:
    from rich.text import Text

    from anyshape.protocol.shapes.result_reader import is_envelope

    parts: list[RenderableType] = []
    for tool in listed:
        wrapped = natural and is_envelope(tool.output_schema, client.revision)
        parts += [_heading(tool), *_body(tool, schema=schema, wrapped=wrapped), Text()]
    if rejected:
        parts += [*show_rejected(rejected), Text()]
    if parts:
        terminal.emit(*parts[:-1])


def _heading(tool: ListedTool) -> RenderableType:
    heading = terminal.heading(tool.name)
    said = [word for hint, word in _HINTS.items() if tool.annotations.get(hint) is True]
    if said:
        heading.append(f"  {', '.join(said)}", "dim")
    return heading


def _body(tool: ListedTool, *, schema: bool, wrapped: bool) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = []
    if tool.description:
        parts.append(terminal.indented(Text(terminal.prose(tool.description), "dim")))
    if not schema:
        parts.append(terminal.indented(_type(tool, wrapped=wrapped)))
        return parts
    for name, document in (
        ("inputSchema", tool.input_schema),
        ("outputSchema", tool.output_schema),
    ):
        if document is not None:
            parts.append(terminal.indented(Text(name, "underline")))
            text = json_text.lay_out(document, terminal.width() - 4)
            parts.append(terminal.indented(text, 4))
    return parts


def _type(tool: ListedTool, *, wrapped: bool) -> RenderableType:
    """Return the compact type: on one line if it fits, else input and output below each other.

    What arrives in an envelope has the type that `call` writes, and a note.
    """
    from rich.table import Table
    from rich.text import Text

    from anyshape.protocol.shapes.envelope import ENVELOPE_PLACE, SHOWN_ENVELOPE
    from anyshape.schema.notation import signature

    place = ENVELOPE_PLACE if wrapped else "#"
    whole = signature(tool.input_schema, tool.output_schema, output_place=place)
    whole = terminal.line(whole) + (f"   sent as {SHOWN_ENVELOPE}" if wrapped else "")
    if len(whole) <= terminal.width() - 2:
        return Text(whole)
    given, _, returned = whole.rpartition(" → ")
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text(" "), Text(given))
    grid.add_row(Text("→"), Text(returned))
    return grid
