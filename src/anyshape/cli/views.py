"""What clients of each age see of one tool: asked of the server, one connection per revision."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from anyshape.cli.arguments import parse_arguments
from anyshape.cli.failure import CommandError
from anyshape.cli.target import NamedTarget, connect
from anyshape.cli.tools import find_tool
from anyshape.errors import AnyshapeError

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from anyshape.client import Client
    from anyshape.client.review import ListedEntries
    from anyshape.protocol.revision import Revision

__all__ = ["ABSENT", "View", "Viewing", "group", "look", "view_listing"]

ABSENT: Final = object()
"""Stands for a member that is not there."""

_SHOWN_OF_RESULT: Final = ("structuredContent", "content", "isError")


@dataclass(frozen=True, slots=True)
class View:
    """One revision's view of a tool: its listing entry and a result, or why there is none.

    `answered` is the revision that the server chose for clients which ask for this one.
    """

    revision: Revision
    answered: Revision | None = None
    entry: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: Mapping[str, Any] | None = None
    error: str | None = None

    @property
    def output_schema(self) -> Any:
        """The `outputSchema` of the entry, or `ABSENT`."""
        return self.entry.get("outputSchema", ABSENT)

    def appearance(self) -> tuple[object, ...]:
        """Return everything that is shown, for telling whether two revisions see the same."""
        result = self.result or {}
        shown = tuple(result.get(name, ABSENT) for name in _SHOWN_OF_RESULT)
        return (self.entry, self.result is None, shown, self.error)


@dataclass(frozen=True, slots=True)
class Viewing:
    """Which tool to look at, and how to call it; `words` is `None` for not at all."""

    target: NamedTarget
    tool: str
    words: Sequence[str] | None


async def look(viewing: Viewing, revisions: Sequence[Revision]) -> list[View]:
    """Return what each revision sees; the mistakes of whoever asks are raised."""
    if viewing.target.login:
        async with connect(viewing.target):
            pass  # one sign-in serves all that follow
    views = [_look_at(viewing, revision) for revision in revisions]
    return list(await asyncio.gather(*views))


async def _look_at(viewing: Viewing, revision: Revision) -> View:
    try:
        async with _connect_as(viewing.target, revision) as client:
            answered = client.revision
            tool = find_tool(client, await client.list_tools(), viewing.tool)
            entry = {name: value for name, value in tool.entry.items() if name != "name"}
            if viewing.words is None:
                return View(revision, answered, entry)
            arguments = parse_arguments(viewing.words, tool.input_schema)
            try:
                result = await client.call_tool(viewing.tool, arguments, check_arguments=False)
            except AnyshapeError as error:
                return View(revision, answered, entry, error=str(error))
            return View(revision, answered, entry, result.raw)
    except AnyshapeError as error:
        return View(revision, error=str(error))


async def view_listing(
    target: NamedTarget, revision: Revision
) -> tuple[Revision, ListedEntries] | str:
    """Return the revision that a client of this one is answered with, and the entries by name.

    Or else why it is listed none.
    """
    try:
        async with _connect_as(target, revision) as client:
            entries = {tool.name: tool.entry for tool in await client.list_tools()}
            return client.revision, entries
    except (AnyshapeError, CommandError) as error:
        return str(error)


def _connect_as(target: NamedTarget, revision: Revision) -> AbstractAsyncContextManager[Client]:
    """Connect as clients of a revision do: those with a handshake take an older one as well."""
    return connect(target, revision, or_older=not revision.is_modern, unwrap=False)


def group(views: Sequence[View]) -> list[list[View]]:
    """Return neighbouring revisions that see the same, together."""
    groups: list[list[View]] = []
    for view in views:
        if groups and groups[-1][0].appearance() == view.appearance():
            groups[-1].append(view)
        else:
            groups.append([view])
    return groups
