"""`anyshape inspect`: a page that shows what becomes of a server's tools."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from anyshape.cli import json_text, options, terminal
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.check import read_source
from anyshape.cli.failure import Exit
from anyshape.cli.pin import list_everything
from anyshape.cli.target import NamedTarget, connect, connect_as

if TYPE_CHECKING:
    from anyshape.client import Client
    from anyshape.page import PageApplication
    from anyshape.page.inspection import ComparePins

EXAMPLES: Final = """\b
The address is the first line on stdout; its token is the key to the page,
which is served to this machine alone.

\b
Examples:
  anyshape inspect server.py
  anyshape inspect http://127.0.0.1:8000/mcp --no-open
  anyshape inspect -- npx some-server
"""


@about_server(without=("revision",))
def inspect(
    asked: Asked,
    port: options.PortOption = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open the page in a browser.")
    ] = False,
    pins: Annotated[
        Path | None,
        typer.Option("--pins", metavar="FILE", help="Show what is not as it was pinned there."),
    ] = None,
) -> int:
    """Open a page on a server: its tools, forms, calls, and what each client and model sees."""
    from anyshape.cli.serve import listen
    from anyshape.page import run_page

    asked.expect_no_more("choose the tool on the page")
    page = page_on(asked.target(), compare_pins=None if pins is None else _comparison(pins))
    listener = listen("127.0.0.1", port)
    address = page.address(listener.getsockname()[1])
    terminal.write(json_text.compact({"url": address}) if asked.json else address)
    terminal.say("Ctrl-C stops it.")
    if not no_open:
        _open(page.address(listener.getsockname()[1], once=True))
    run_page(page, listener)
    return Exit.OK


def page_on(
    target: NamedTarget, *, beside: Any = None, compare_pins: ComparePins | None = None
) -> PageApplication:
    """Return the page for a target; `beside` is an ASGI application that it shares a port with."""
    from anyshape.page import Inspection, PageApplication

    inspection = Inspection(
        target.shown,
        partial(connect, target),
        partial(connect_as, target),
        partial(read_source, target),
        compare_pins,
    )
    return PageApplication(inspection, beside=beside)


def _comparison(path: Path) -> ComparePins:
    """Return what compares a server with the pins in a file, which is read here and now."""
    from anyshape.gateway.pins import Pins

    pins = Pins.load(path)

    async def compare(client: Client) -> dict[str, Any]:
        known = pins.upstreams
        upstream = known[0] if len(known) == 1 else client.server.name or ""
        compared = pins.compare(upstream, await list_everything(client))
        return {"upstream": upstream, **compared.as_data()}

    return compare


def _open(address: str) -> None:
    import webbrowser

    # Some browsers are only back when they are closed; the socket listens already.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
