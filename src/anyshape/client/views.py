"""What clients of each age see of one server: asked of it, one connection per revision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from anyshape.client.client import Client
from anyshape.client.review import Carried, ListedEntries, carried_output
from anyshape.client.tools import ListedTool
from anyshape.errors import AnyshapeError
from anyshape.protocol.result import ABSENT
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.envelope import SHOWN_ENVELOPE

ConnectAs: TypeAlias = "Callable[[Revision], AbstractAsyncContextManager[Client]]"
"""Connects as clients of a revision do, with envelopes left on."""

ToolChoice: TypeAlias = (
    "Callable[[Client, Sequence[ListedTool]], tuple[ListedTool, Mapping[str, Any] | None]]"
)
"""Picks the tool to look at, and the arguments to call it with; `None` for not calling it."""

_SHOWN_OF_RESULT: Final = ("structuredContent", "content", "isError")
_IN_WORDS: Final[Mapping[Carried, str]] = {
    "natural": "natural",
    "object": "as an object",
    "wrapped": f"wrapped, {SHOWN_ENVELOPE}",
    "absent": "text only",
    "none": "no output schema",
}


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

    def appearance(self) -> tuple[object, ...]:
        """Return everything that is shown, for telling whether two revisions see the same."""
        result = self.result or {}
        shown = tuple(result.get(name, ABSENT) for name in _SHOWN_OF_RESULT)
        return (self.entry, self.result is None, shown, self.error)

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        data: dict[str, Any] = {"revision": str(self.revision)}
        if self.answered not in (None, self.revision):
            data["answered"] = str(self.answered)
        if self.entry:
            data["tool"] = self.entry
        if self.result is not None:
            data["result"] = self.result
        if self.error is not None:
            data["error"] = self.error
        return data


async def look(
    connect_as: ConnectAs, revisions: Sequence[Revision], choose: ToolChoice
) -> list[View]:
    """Return what each revision sees; what `choose` raises, if it is not ours, is raised."""
    views = [_look_at(connect_as, revision, choose) for revision in revisions]
    return list(await asyncio.gather(*views))


async def _look_at(connect_as: ConnectAs, revision: Revision, choose: ToolChoice) -> View:
    try:
        async with connect_as(revision) as client:
            answered = client.revision
            tool, arguments = choose(client, await client.list_tools())
            entry = {name: value for name, value in tool.entry.items() if name != "name"}
            if arguments is None:
                return View(revision, answered, entry)
            try:
                result = await client.call_tool(tool.name, arguments, check_arguments=False)
            except AnyshapeError as error:
                return View(revision, answered, entry, error=str(error))
            return View(revision, answered, entry, result.raw)
    except AnyshapeError as error:
        return View(revision, error=str(error))


async def view_listing(
    connect_as: ConnectAs, revision: Revision
) -> tuple[Revision, ListedEntries] | str:
    """Return the revision that a client of this one is answered with, and the entries by name.

    Or else why it is listed none.
    """
    try:
        async with connect_as(revision) as client:
            entries = {tool.name: tool.entry for tool in await client.list_tools()}
            return client.revision, entries
    except AnyshapeError as error:
        return str(error)


def group(views: Sequence[View]) -> list[list[View]]:
    """Return neighbouring revisions that see the same, together."""
    groups: list[list[View]] = []
    for view in views:
        if groups and groups[-1][0].appearance() == view.appearance():
            groups[-1].append(view)
        else:
            groups.append([view])
    return groups


def describe_output(view: View, newest: View) -> str:
    """Return in a few words what a revision makes of the tool's output."""
    if not view.entry:
        return "not served"
    natural, listed = newest.entry.get("outputSchema"), view.entry.get("outputSchema")
    return _IN_WORDS[carried_output(natural, listed, view.answered or view.revision)]
