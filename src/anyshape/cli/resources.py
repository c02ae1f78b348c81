"""`anyshape resources` and `anyshape read`: what a server has to read, and the reading of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyshape.cli import json_text, terminal
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.failure import Exit, UsageError
from anyshape.cli.target import NamedTarget, connect
from anyshape.cli.tools import describe_server, show_rejected
from anyshape.errors import AnyshapeError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyshape.client import ListedResource, ListedTemplate, ReadResource

ListedT = TypeVar("ListedT")

EXAMPLES: Final = """\b
Examples:
  anyshape resources http://127.0.0.1:8000/mcp
  anyshape resources -- npx some-server
"""
READ_EXAMPLES: Final = """\b
Examples:
  anyshape read http://127.0.0.1:8000/mcp demo://readme
  anyshape read files.py file:///logo.png > logo.png
  anyshape read demo://readme -- npx some-server
"""

_LISTS: Final = {"resources": "resources", "resourceTemplates": "resource templates"}
"""What is asked for: the member of the result, and what it is called."""


@about_server()
def resources(asked: Asked) -> int:
    """List a server's resources, and templates for the URIs of others."""
    asked.expect_no_more("`anyshape read` reads a resource")
    return asyncio.run(_list(asked, asked.target()))


async def _list(asked: Asked, target: NamedTarget) -> int:
    async with connect(target, asked.revision) as client:
        failed: dict[str, AnyshapeError] = {}
        listed, templates = await asyncio.gather(
            _attempt("resources", client.list_resources(), failed),
            _attempt("resourceTemplates", client.list_resource_templates(), failed),
        )
        if len(failed) == len(_LISTS):
            raise failed["resources"]
        for member, error in failed.items():
            terminal.say(f"cannot list {_LISTS[member]}: {terminal.line(str(error))}")
        rejected = {uri: str(error) for uri, error in client.rejected_resources.items()}
        if asked.json:
            data: dict[str, Any] = {
                **describe_server(client),
                "resources": [resource.entry for resource in listed],
                "resourceTemplates": [template.entry for template in templates],
                "rejected": rejected,
            }
            for member, error in failed.items():
                del data[member]
                data.setdefault("failed", {})[member] = str(error)
            terminal.write(json_text.compact(data))
        else:
            parts: list[RenderableType] = []
            for each in listed:
                parts += _describe(each.uri, each)
            for each in templates:
                parts += _describe(each.uri_template, each)
            parts += show_rejected(rejected)
            if parts or not failed:
                terminal.emit(*parts or ["nothing to read"])
    return Exit.UNKNOWN if failed else Exit.OK


async def _attempt(
    member: str, listing: Awaitable[list[ListedT]], failed: dict[str, AnyshapeError]
) -> list[ListedT]:
    """Return one of the lists; if it cannot be had, note why, so that the other is still shown."""
    try:
        return await listing
    except AnyshapeError as error:
        failed[member] = error
        return []


def _describe(uri: str, entry: ListedResource | ListedTemplate) -> list[RenderableType]:
    from rich.text import Text

    heading = terminal.heading(uri)
    size: int | None = getattr(entry, "size", None)
    said = [entry.title or entry.name, entry.mime_type, None if size is None else f"{size:,} bytes"]
    heading.append(f"  {terminal.line(', '.join(word for word in said if word))}", "dim")
    if not entry.description:
        return [heading]
    text = Text(terminal.prose(entry.description), "dim")
    return [heading, terminal.indented(text)]


@about_server()
def read(asked: Asked) -> int:
    """Read a resource: its contents on stdout, text or bytes."""
    if len(asked.rest) != 1:
        raise UsageError("one URI is needed", hint="`anyshape resources TARGET` lists them")
    return asyncio.run(_read(asked, asked.target()))


async def _read(asked: Asked, target: NamedTarget) -> int:
    async with connect(target, asked.revision, asks=True) as client:
        found = await client.read_resource(asked.rest[0])
        if asked.json:
            data: dict[str, Any] = {"revision": str(client.revision), **found.raw}
            terminal.write(json_text.compact(data))
        else:
            _show(found)
    return Exit.OK


def _show(found: ReadResource) -> None:
    is_seen = terminal.data_stream().isatty()
    for each in found.contents:
        if each.text is not None:
            terminal.write(terminal.safe(each.text) if is_seen else each.text)
        elif is_seen:
            size, kind = len(each.blob or b""), each.mime_type or "bytes"
            terminal.say(f"({size:,} bytes of {terminal.line(kind)}; > FILE keeps them)")
        else:
            terminal.write_bytes(bytes(each.blob or b""))
