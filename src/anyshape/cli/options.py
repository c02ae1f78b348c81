"""The options that several commands have, described once."""

from __future__ import annotations

import math
from typing import Annotated, TypeAlias

import typer

from anyshape.cli.failure import UsageError

HttpOption: TypeAlias = Annotated[
    bool, typer.Option("--http", help="Serve Streamable HTTP at /mcp instead of stdio.")
]
HostOption: TypeAlias = Annotated[
    str, typer.Option(metavar="HOST", help="The address to listen on.")
]
PortOption: TypeAlias = Annotated[int, typer.Option(metavar="PORT", help="0 takes a free one.")]


def _check_seconds(seconds: float) -> float:
    """Refuse a time that is none, which would mean never or at once."""
    if not 0 < seconds < math.inf:
        raise UsageError(
            f"--timeout {seconds:g}: expected seconds, more than 0",
            hint="leave it out for a minute",
        )
    return seconds


JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Write one line of JSON to stdout, for programs.")
]
HeadersOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        "-H",
        metavar="'NAME: VALUE'",
        help="Send this header with every HTTP request; may be repeated.",
    ),
]
LoginOption: TypeAlias = Annotated[
    bool,
    typer.Option("--login", help="Sign in with a browser, unless that was done before."),
]
RevisionOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--revision",
        "-r",
        metavar="REVISION",
        help="Be a client of this protocol revision, such as 2025-11-25.",
    ),
]
TimeoutOption: TypeAlias = Annotated[
    float,
    typer.Option(
        "--timeout", metavar="SECONDS", help="Give up after so long.", callback=_check_seconds
    ),
]
