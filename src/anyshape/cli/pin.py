"""`anyshape pin`: record what a server lists, and show what changed since it was recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from anyshape.cli import json_text, terminal
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.loading import is_fleet, load_fleet
from anyshape.cli.target import NamedTarget, connect
from anyshape.cli.tools import show_rejected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from anyshape.client import Client
    from anyshape.gateway import GatewayConfig
    from anyshape.gateway.pins import Comparison, PinKind, Pins, PinVerdict

EXAMPLES: Final = """\b
The file holds names, descriptions, schemas and annotations with a digest of
each; keep it in version control. A gateway withholds what is not as pinned.

\b
Examples:
  anyshape pin http://127.0.0.1:8000/mcp --name weather
  anyshape pin --name files -- npx some-server
  anyshape pin --check --name files -- npx some-server
  anyshape pin fleet.toml
  anyshape pin --publish fleet.toml
"""
_KINDS: Final[tuple[PinKind, ...]] = ("tools", "prompts", "resources", "templates")
_Found: TypeAlias = "tuple[str, Mapping[PinKind, list[Any]], dict[str, str]]"
"""An upstream, what it lists, and what of that cannot be used."""
_UNUSED: Final = '\nNo gateway goes by these pins unless its TOML has [pins] with file = "…".'
_STYLES: Final = {"-": "red", "+": "green"}


@about_server(without=("revision",))
def pin(
    asked: Asked,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="Where the pins are; by default where FLEET.toml says, or in pins.json.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="UPSTREAM",
            help="What a gateway calls the server; may be left out if the file has one.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; 1 if something is not as pinned.")
    ] = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish", help="Have the replicas of a gateway, FLEET.toml, go by its pins from now."
        ),
    ] = False,
) -> int:
    """Record what a server lists; show what changed since it was recorded."""
    from anyshape.gateway.pins import Pins

    if publish:
        return _publish(asked)
    asked.expect_no_more("one server, or one gateway, is pinned at a time")
    written = asked.first if isinstance(asked.first, str) else ""
    config = load_fleet(written) if is_fleet(written) else None
    place = file or (config and config.settings.pins_file) or Path("pins.json")
    pins = before = Pins.load(place) if place.exists() else Pins()
    if config is not None:
        found = asyncio.run(_list_fleet(config, name))
    else:
        found = [asyncio.run(_list(asked.target(), name, pins))]
    for upstream, listed, _ in found:
        pins = pins.pin(upstream, listed)
    if not check and pins != before:
        pins.save(place)  # before anybody is told that it was
    has_changed = False
    for upstream, listed, rejected in found:
        compared = before.compare(upstream, listed)
        has_changed = has_changed or bool(compared)
        if asked.json:
            data = {"upstream": upstream, **compared.as_data(), "rejected": rejected}
            terminal.write(json_text.compact(data))
        else:
            count = sum(map(len, listed.values()))
            terminal.emit(*_describe(compared, rejected), _total(upstream, compared, count, check))
    if config is not None and not (config.settings.pins_file or config.settings.shares_pins):
        terminal.say(_UNUSED)
    return Exit.NO if check and has_changed else Exit.OK


def _publish(asked: Asked) -> int:
    """Put the pins of a gateway's file where all of its replicas find them."""
    from anyshape.gateway.pins import Pins

    asked.expect_no_more("one gateway has pins to publish")
    config = load_fleet(asked.first) if isinstance(asked.first, str) else None
    shared = None if config is None else config.settings.shared_pins(config.name)
    if config is None or shared is None or config.settings.pins_file is None:
        raise UsageError(
            "there are no pins to publish",
            hint="give the file of a gateway that has [replicas], and [pins] with file and shared",
        )
    pins = Pins.load(config.settings.pins_file)
    asyncio.run(shared.publish(pins))
    known = ", ".join(map(terminal.line, pins.upstreams))
    terminal.say(f"published the pins of {known or 'no upstream'}")
    return Exit.OK


async def _list_fleet(config: GatewayConfig, name: str | None) -> list[_Found]:
    """Return what each upstream of a gateway lists to it, or the one that was named."""
    from anyshape.client import Client
    from anyshape.gateway import Gateway

    wanted = {each: up for each, up in config.upstreams.items() if name in (None, each)}
    if not wanted:
        known = ", ".join(config.upstreams)
        raise UsageError(f"there is no upstream {name}", hint=f"known: {known}")
    gateway, found = Gateway(wanted), list[_Found]()
    async with Client(gateway):
        for upstream, link in gateway.upstreams.items():
            if not link.is_up:
                raise CommandError(
                    f"upstream {upstream} was not reached: {link.reason}",
                    hint="nothing was pinned; --name pins one of the others",
                )
            offer = link.offer
            kinds = (offer.tools, offer.prompts, offer.resources, offer.templates)
            entries = [[each.entry for each in things] for things in kinds]
            found.append((upstream, dict(zip(_KINDS, entries, strict=True)), {}))
    return found


async def _list(target: NamedTarget, name: str | None, pins: Pins) -> _Found:
    """Return what the server is called, what it lists, and what of that cannot be used."""
    from anyshape.gateway.upstream import IDENTITY

    # A server may list other things to other clients; what counts is what it lists to a gateway.
    async with connect(target, identity=IDENTITY) as client:
        listed = await list_everything(client)
        rejected = {
            key: str(error)
            for all in (client.rejected, client.rejected_prompts, client.rejected_resources)
            for key, error in all.items()
        }
        return name or _usual_name(pins, client.server.name), listed, rejected


async def list_everything(client: Client) -> dict[PinKind, list[Any]]:
    """Return all entries that can be pinned."""
    return {
        "tools": [tool.entry for tool in await client.list_tools()],
        "prompts": [prompt.entry for prompt in await client.list_prompts()],
        "resources": [each.entry for each in await client.list_resources()],
        "templates": [each.entry for each in await client.list_resource_templates()],
    }


def _usual_name(pins: Pins, said: str | None) -> str:
    """Return the name of the only upstream in the file; in a new file, what the server says."""
    if len(pins.upstreams) == 1:
        return pins.upstreams[0]
    if pins.upstreams or not said:
        known = ", ".join(pins.upstreams)
        raise UsageError(
            "whose pins are these?",
            hint=f"--name says it; the file has {known}" if known else "--name says it",
        )
    return said


def _describe(compared: Comparison, rejected: Mapping[str, str]) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = []
    for verdict in compared.changed:
        parts += [_title(verdict.kind, verdict.name, "changed", "yellow"), *_diff(verdict), Text()]
    others = [_title(each.kind, each.name, "new", "green") for each in compared.unknown]
    others += [_title(kind, name, "gone", "red") for kind, name in compared.missing]
    others += show_rejected(rejected)
    return [*parts, *others, *([Text()] if others else [])]


def _title(kind: str, name: str, state: str, style: str) -> RenderableType:
    title = terminal.heading(name)
    title.append(f"  {kind[:-1]} {state}" if kind != "tools" else f"  {state}", style)
    return title


def _diff(verdict: PinVerdict) -> list[RenderableType]:
    from rich.text import Text

    return [
        terminal.indented(Text(terminal.line(line), _STYLES.get(line.lstrip()[:1], "")))
        for line in verdict.diff.splitlines()
    ]


def _total(upstream: str, compared: Comparison, count: int, check: bool) -> str:
    counts = (
        (len(compared.changed), "changed"),
        (len(compared.unknown), "new"),
        (len(compared.missing), "gone"),
    )
    said = ", ".join(f"{number} {what}" for number, what in counts if number) or "nothing changed"
    done = "" if check or not compared else ", pinned"
    return f"{terminal.line(upstream)}: {count} listed, {said}{done}"
