"""`anyshape check`: judge the tools of a server, or schemas and listings in files."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from anyshape.cli import json_text, options, terminal
from anyshape.cli.failure import CommandError, Exit
from anyshape.cli.target import NamedTarget, connect, split_target, take_target
from anyshape.cli.usage import TargetWords
from anyshape.cli.views import view_listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyshape.client.review import ListedEntries, Review
    from anyshape.protocol.revision import Revision

__all__ = ["EXAMPLES", "check"]

EXAMPLES: Final = """\b
A file holds a schema, a tool, an array of tools, or a tools/list result; - is
stdin. Exit code 1 says that something is refused, so that CI can stop there.

\b
Examples:
  anyshape check server.py
  anyshape check schemas/*.json --role output
  anyshape check -- npx some-server
"""

_CARRIED: Final = {
    "natural": "as it is",
    "object": 'as it is, stamped "type": "object"',
    "wrapped": 'wrapped, {"result": …}',
    "absent": "text only",
    "none": "the same content",
}


def check(
    context: typer.Context,
    words: TargetWords = None,
    role: Annotated[
        str | None,
        typer.Option(metavar="input|output", help="What a schema in a file is for."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only what is refused.")] = False,
    headers: options.HeadersOption = None,
    timeout: options.TimeoutOption = 60.0,
    json: options.JsonOption = False,
) -> int:
    """Judge tools or schema files: refused or not, cost, older clients, size, advice."""
    if role not in (None, "input", "output"):
        raise CommandError(f"--role {role}: expected input or output", hint=_ROLE, code=Exit.USAGE)
    first, rest = split_target(context, words)
    verdicts: dict[str, _Verdict] = {}
    for written in (first, *rest):
        name = written if isinstance(written, str) else " ".join(written)
        if isinstance(written, str) and _is_file(written):
            verdicts[name] = _Verdict(_review_file(written, cast("Any", role)))
        else:
            target = take_target(written, headers, timeout)
            verdicts[name] = asyncio.run(_review_server(target))
    if json:
        found = [_as_data(name, verdict) for name, verdict in verdicts.items()]
        terminal.write(json_text.compact(found))
    else:
        for name, verdict in verdicts.items():
            _show(name if len(verdicts) > 1 else None, verdict, quiet=quiet)
    refused = any(verdict.refused for verdict in verdicts.values())
    return Exit.NO if refused else Exit.OK


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What there is to say about one file or server."""

    reviews: Sequence[Review]
    answered: Mapping[str, str] = field(default_factory=dict[str, str])
    """The older revision that clients of each of these are answered with."""
    gaps: Sequence[str] = ()
    """Which older clients are listed nothing, and why."""

    @property
    def refused(self) -> int:
        """How many of its tools or schemas no client should use."""
        return sum(1 for review in self.reviews if review.refused)


_ROLE: Final = "an inputSchema needs an object at its root, an outputSchema may be anything"


def _is_file(written: str) -> bool:
    if written == "-" or written.endswith(".json"):
        return True
    return not written.endswith(".py") and Path(written).is_file()


async def _review_server(target: NamedTarget) -> _Verdict:
    from anyshape.client.review import Review, review_tool
    from anyshape.protocol.shapes import OLDER

    async with connect(target) as client:
        listed = await client.list_tools()
        refused = [Review(name, refused=str(error)) for name, error in client.rejected.items()]
    views = await asyncio.gather(*(view_listing(target, revision) for revision in OLDER))
    older: dict[Revision, ListedEntries] = {}
    answered: dict[str, str] = {}
    gaps: list[str] = []
    for revision, view in zip(OLDER, views, strict=True):
        if isinstance(view, str):
            gaps.append(f"clients of {revision} are listed nothing: {view}")
            continue
        chosen, older[revision] = view
        if chosen != revision:
            answered[str(revision)] = str(chosen)
    reviews = [*(review_tool(tool, older) for tool in listed), *refused]
    return _Verdict(reviews, answered, gaps)


def _review_file(path: str, role: Literal["input", "output"] | None) -> list[Review]:
    from anyshape.client.review import review_entry, review_schema

    document = _read(path)
    entries = _entries(document)
    if entries is None:
        return [review_schema("stdin" if path == "-" else path, document, role=role)]
    return [review_entry(entry, position=index) for index, entry in enumerate(entries)]


def _read(path: str) -> object:
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise CommandError(f"cannot read {path}: {reason}", hint="check the path") from None
    try:
        return json_module.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(
            f"{path} is not JSON: {error}", hint="check takes schemas and listings in JSON"
        ) from None


def _entries(document: object) -> list[object] | None:
    """Return the tools that a document lists, or `None` if it is a schema."""
    if isinstance(document, list):
        return cast("list[object]", document)
    if not isinstance(document, dict):
        return None
    members = cast("dict[str, Any]", document)
    answer: Any = members.get("result", members)
    if isinstance(answer, dict):
        tools: object = cast("dict[str, Any]", answer).get("tools")
        if isinstance(tools, list):
            return cast("list[object]", tools)
    return [members] if "inputSchema" in members else None


def _as_data(name: str, verdict: _Verdict) -> dict[str, Any]:
    reviews = verdict.reviews
    return {
        "target": name,
        "answered": verdict.answered,
        "gaps": verdict.gaps,
        "refused": verdict.refused,
        "bytes": sum(review.size for review in reviews),
        "tokens": sum(review.tokens for review in reviews),
        "reviews": [
            {
                "name": review.name,
                "refused": review.refused,
                "cost": review.cost,
                "olderClients": review.carried,
                "bytes": review.size,
                "tokens": review.tokens,
                "advice": review.advice,
            }
            for review in reviews
        ],
    }


def _show(name: str | None, verdict: _Verdict, *, quiet: bool) -> None:
    from rich.text import Text

    parts: list[RenderableType] = []
    if name is not None:
        parts += [terminal.heading(name, "underline"), Text()]
    for review in verdict.reviews:
        if review.refused or not quiet:
            parts += [*_describe(review), Text()]
    for asked, chosen in verdict.answered.items():
        parts.append(Text(f"clients of {asked} are answered with {chosen}", "dim"))
    parts += [Text(terminal.safe(gap), "yellow") for gap in verdict.gaps]
    parts.append(Text(_total(verdict)))
    terminal.emit(*parts)


def _total(verdict: _Verdict) -> str:
    size = sum(review.size for review in verdict.reviews)
    tokens = sum(review.tokens for review in verdict.reviews)
    refused = f"{verdict.refused} refused" if verdict.refused else "none refused"
    checked = f"{len(verdict.reviews)} checked, {refused}"
    return f"{checked}; {size:,} bytes listed, about {tokens:,} tokens"


def _describe(review: Review) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    title = terminal.heading(review.name)
    title.append("  refused" if review.refused else "  ok", "red" if review.refused else "green")
    rows: list[tuple[str, str]] = []
    if review.refused:
        rows.append(("why", review.refused))
    else:
        rows += [("cost", _cost(review.cost)), ("older clients", _older(review.carried))]
    if review.size:
        rows.append(("size", f"{review.size:,} bytes, about {review.tokens:,} tokens"))
    rows += [("advice", line) for line in review.advice]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for label, text in rows:
        if text:
            grid.add_row(Text(f"  {label}", "dim"), Text(terminal.safe(text)))
    return [title, grid]


def _cost(cost: Mapping[str, str]) -> str:
    if len(set(cost.values())) == 1:
        return next(iter(cost.values()))
    return ", ".join(f"{name} {verdict}" for name, verdict in cost.items())


def _older(carried: Mapping[str, str]) -> str:
    said: dict[str, list[str]] = {}
    for revision, how in carried.items():
        said.setdefault(_CARRIED.get(how, how), []).append(revision)
    return "; ".join(f"{', '.join(revisions)} {how}" for how, revisions in said.items())
