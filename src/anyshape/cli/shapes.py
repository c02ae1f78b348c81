"""`anyshape shapes`: one tool, as clients of every age see it, side by side."""

from __future__ import annotations

import asyncio
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, cast

import typer

from anyshape.cli import json_text, terminal
from anyshape.cli.arguments import parse_arguments
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.call import split_tool
from anyshape.cli.failure import CommandError, Exit, advise_on_silence
from anyshape.cli.target import NamedTarget, connect_as
from anyshape.cli.tools import find_tool

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from anyshape.client import Client, ListedTool
    from anyshape.client.views import ToolChoice, View

EXAMPLES: Final = """\b
The tool is called once per revision; --listing leaves that out.

\b
Examples:
  anyshape shapes http://127.0.0.1:8000/mcp get-count
  anyshape shapes weather.py get_forecast city=Paris
  anyshape shapes list_users --listing -- python users.py
"""

_GAP: Final = 3
_LINES_OF_TEXT: Final = 3
_MOST_OF_A_VALUE: Final = 100_000
"""Characters; more is not compared by eye, and takes seconds per megabyte to lay out."""
_NAME: Final = len("structuredContent")
_LayOut: TypeAlias = "Callable[[int], Text]"
_Row: TypeAlias = tuple[str, list[_LayOut]]


@about_server(without=("revision",))
def shapes(
    asked: Asked,
    listing: Annotated[
        bool, typer.Option("--listing", help="Show how the tool is listed; do not call it.")
    ] = False,
) -> int:
    """Show what clients of each protocol revision see of a tool: its listing, and a result."""
    from anyshape.client.views import group

    tool, arguments = split_tool(asked.rest)
    target = asked.target()
    views = asyncio.run(_look(target, partial(_choose, tool, None if listing else arguments)))
    if asked.json:
        terminal.write(json_text.compact([view.as_data() for view in views]))
    elif all(not view.entry for view in views):
        raise CommandError(
            views[0].error or "nothing was listed",
            hint=advise_on_silence(is_command=target.is_command),
        )
    else:
        _show(tool, group(views))
    return Exit.OK if any(view.entry for view in views) else Exit.UNKNOWN


async def _look(target: NamedTarget, choose: ToolChoice) -> list[View]:
    from anyshape.client.views import look
    from anyshape.protocol.revision import RELEASED

    return await look(partial(connect_as, target), tuple(reversed(RELEASED)), choose)


def _choose(
    name: str, words: Sequence[str] | None, client: Client, listed: Sequence[ListedTool]
) -> tuple[ListedTool, Mapping[str, Any] | None]:
    tool = find_tool(client, listed, name)
    return tool, None if words is None else parse_arguments(words, tool.input_schema)


def _show(tool: str, groups: Sequence[Sequence[View]]) -> None:
    from rich.text import Text

    from anyshape.client.views import describe_output

    rows = _rows([views[0] for views in groups])
    titles = [", ".join(map(_title, views)) for views in groups]
    newest = next(views[0] for views in groups if views[0].entry)
    labels = [describe_output(views[0], newest) for views in groups]
    columns = (terminal.width() - _GAP * (len(groups) - 1)) // len(groups)
    parts: list[RenderableType] = [terminal.heading(tool), Text()]
    if _fits(rows, titles, labels, columns):
        parts.append(_beside(rows, titles, labels, columns))
    else:
        parts += _below(rows, titles, labels)
    same = _shared([views[0] for views in groups])
    if same:
        parts += [Text(), Text(f"the same at every revision: {', '.join(same)}", "dim")]
    terminal.emit(*parts)


def _title(view: View) -> str:
    """Return a revision, and the older one that its clients are answered with, if that is so."""
    same = view.answered in (None, view.revision)
    return f"{view.revision}" if same else f"{view.revision} → {view.answered}"


def _rows(views: Sequence[View]) -> list[_Row]:
    """Return what differs or matters, one cell per view; a cell is empty where nothing came."""
    from anyshape.protocol.result import ABSENT

    names = ["outputSchema"]
    for view in views:
        names += [name for name in view.entry if name not in names]
    rows: list[_Row] = []
    for name in names:
        listed = [view.entry.get(name, ABSENT) for view in views if view.entry]
        if name == "outputSchema" or any(value != listed[0] for value in listed):
            rows.append((terminal.line(name), [_value(view.entry, name) for view in views]))
    results = [view.result or {} for view in views]
    if any(results):
        rows.append(
            ("structuredContent", [_value(result, "structuredContent") for result in results])
        )
        rows.append(("content", [_blocks(result) for result in results]))
    if any(result.get("isError") for result in results):
        rows.append(("isError", [_value(result, "isError") for result in results]))
    if any(view.error for view in views):
        rows.append(("error", [_words(view.error or "") for view in views]))
    return rows


def _shared(views: Sequence[View]) -> list[str]:
    from anyshape.protocol.result import ABSENT

    listed = [view.entry for view in views if view.entry]
    return [
        terminal.line(name)
        for name in listed[0]
        if name != "outputSchema"
        and all(entry.get(name, ABSENT) == listed[0][name] for entry in listed)
    ]


def _value(members: Mapping[str, Any], name: str) -> _LayOut:
    from rich.text import Text

    if not members:
        return lambda columns: Text()
    if name not in members:
        return lambda columns: Text("absent", "dim")
    return lambda columns: json_text.lay_out(members[name], columns, _MOST_OF_A_VALUE)


def _words(words: str) -> _LayOut:
    from rich.text import Text

    return lambda columns: Text("\n".join(_wrapped(terminal.safe(words), columns)))


def _blocks(result: Mapping[str, Any]) -> _LayOut:
    """Return content blocks, each on a few lines: the text mirror only repeats the value."""
    from rich.text import Text

    from anyshape.client.answers import as_object

    content = result.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []

    def lay_out(columns: int) -> Text:
        lines: list[str] = []
        for block in blocks:
            members = as_object(block)  # a stranger's block may be anything
            kind = str(members.get("type", "unknown"))
            text = members.get("text") if kind == "text" else None
            said = text if isinstance(text, str) else json_text.compact(block)
            most = (_LINES_OF_TEXT + 1) * columns  # what is shown, and enough to see that it is cut
            wrapped = _wrapped(terminal.safe(f"{kind}: {said}"[:most]), columns)
            if len(wrapped) > _LINES_OF_TEXT:
                wrapped = [*wrapped[: _LINES_OF_TEXT - 1], wrapped[_LINES_OF_TEXT - 1][:-1] + "…"]
            lines += wrapped
        if lines or not result:
            return Text("\n".join(lines))
        return Text("[]" if content == [] else "absent", "dim")

    return lay_out


def _wrapped(text: str, columns: int) -> list[str]:
    flat = " ".join(text.split("\n"))
    # Between words, where there are any: JSON may have none.
    return textwrap.wrap(flat, columns, drop_whitespace=False, break_on_hyphens=False) or [""]


def _fits(
    rows: Sequence[_Row],
    titles: Sequence[str],
    labels: Sequence[str],
    columns: int,
) -> bool:
    texts = [cell(columns).plain for _, cells in rows for cell in cells]
    lines = [line for text in (*texts, *titles, *labels) for line in text.split("\n")]
    return max(map(len, lines)) <= columns


def _beside(
    rows: Sequence[_Row],
    titles: Sequence[str],
    labels: Sequence[str],
    columns: int,
) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, _GAP, 0, 0))
    for _ in titles:
        table.add_column(width=columns, no_wrap=True)
    table.add_row(*(Text(title, "bold cyan") for title in titles))
    table.add_row(*(Text(label) for label in labels))
    for name, cells in rows:
        table.add_row()
        table.add_row(*(Text(f"{name}:", "dim") for _ in cells))
        table.add_row(*(cell(columns) for cell in cells))
    return table


def _below(
    rows: Sequence[_Row], titles: Sequence[str], labels: Sequence[str]
) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = []
    columns = terminal.width() - 4
    for index, (title, label) in enumerate(zip(titles, labels, strict=True)):
        if index:
            parts.append(Text())
        parts.append(Text.assemble((title, "bold cyan"), f" · {label}"))
        for name, cells in rows:
            text = cells[index](columns)
            if not text.plain:
                continue
            label = Text(name.ljust(_NAME))
            if "\n" not in text.plain and len(label) + len(text) + 4 <= terminal.width():
                parts.append(terminal.indented(Text.assemble(label, "  ", text)))
            else:
                parts.append(terminal.indented(Text(name)))
                parts.append(terminal.indented(text, 4))
    return parts
