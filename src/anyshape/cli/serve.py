"""`anyshape serve`: run anyone's server."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from anyshape.cli import json_text, options, terminal
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.loading import FLEETS, load_server

if TYPE_CHECKING:
    from anyshape.gateway import Gateway
    from anyshape.server import HttpOptions, Server

EXAMPLES: Final = """\b
Examples:
  anyshape serve weather.py
  anyshape serve weather:server --http --port 8080
  anyshape serve weather.py --http --reload
"""

TARGET_VARIABLE: Final = "ANYSHAPE_SERVE"
WORKERS_VARIABLE: Final = "ANYSHAPE_WORKERS"
"""Tells worker processes which server to load."""

_SETTINGS: Final = {"log_level": "warning"}


def serve(
    context: typer.Context,
    module: Annotated[str, typer.Argument(metavar="MODULE[:NAME]", hidden=True)],
    http: options.HttpOption = False,
    host: options.HostOption = "127.0.0.1",
    port: options.PortOption = 8000,
    workers: Annotated[int, typer.Option(metavar="N", help="How many processes answer.")] = 1,
    reload: Annotated[
        bool, typer.Option("--reload", help="Start again whenever the source changes.")
    ] = False,
    json: options.JsonOption = False,
) -> int:
    """Serve a server on stdio, or over HTTP."""
    from anyshape.client.quoting import without_secrets
    from anyshape.client.target import is_url

    check_no_command(context, "serve")
    if is_url(module):
        raise UsageError(
            "serve runs a module, not what is at a URL",
            hint=f"anyshape gateway {without_secrets(module)} serves it to clients of any age",
        )
    if module.endswith(FLEETS):
        raise UsageError(
            "serve runs a module, not the file of a gateway", hint=f"anyshape gateway {module}"
        )
    check_listening(context, http=http)
    if not http and (workers > 1 or reload):
        raise UsageError("--workers and --reload are for HTTP", hint="add --http")
    if workers < 1 or (workers > 1 and reload):
        raise UsageError(
            f"--workers {workers} makes no sense here", hint="1 or more, and 1 with --reload"
        )
    server = load_server(module)
    if not http:
        if json:
            terminal.say(json_text.compact(_as_data(server, None)))
        server.run()
        return Exit.OK
    if workers > 1 or reload:
        return _serve_with_workers(server, module, host, port, workers, reload=reload, json=json)
    listener = listen(host, port)
    announce(server, url_of(host, listener), json=json)
    serve_http(server, listener)
    return Exit.OK


def check_no_command(context: typer.Context, name: str) -> None:
    """Refuse a command after two dashes where a module is run."""
    if context.obj["command"] is not None:
        raise UsageError(
            f"{name} runs a module, not a command",
            hint=f"anyshape {name} server.py, or anyshape {name} package.module:name",
        )


def check_listening(context: typer.Context, *, http: bool) -> None:
    """Refuse an address for a pipe: whoever gives one waits for somebody to connect."""
    for name in () if http else ("host", "port"):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"--{name} is for HTTP: a pipe has no address", hint="add --http")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port}: expected 0 to 65535", hint="0 takes any")
    if not host.strip():  # a socket takes it for every address there is
        raise UsageError(
            "--host: expected an address, got nothing",
            hint="127.0.0.1 is this machine alone, 0.0.0.0 every address it has",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(
            f"cannot listen on {host}:{port}: {reason}",
            hint="another port may be free: --port 0 takes any",
        ) from None


def announce(
    server: Server,
    url: str,
    *,
    json: bool,
    next_steps: Sequence[str] = (),
    page: str | None = None,
    urls: Mapping[str, str] | None = None,
) -> None:
    """Say where the server is, the page on it if there is one, and what to try.

    `urls` are where it is instead, by name, if it has several addresses.
    """
    if json:
        more = {"page": page, "urls": urls}
        told = {name: each for name, each in more.items() if each is not None}
        terminal.write(json_text.compact({**_as_data(server, url), **told}))
        return
    count = len(server.tools)
    # What is behind a gateway is not known before it runs.
    counted = f": {count} tool{'' if count == 1 else 's'}" if count else ""
    if urls is None:
        terminal.say(f"{terminal.line(server.name)}{counted} on {url}")
    for name, each in (urls or {}).items():
        terminal.say(f"{terminal.line(name)} on {each}")
    if page is not None:
        terminal.say(f"Look at it in a browser: {page}")
    if next_steps:
        program = next_steps[0].split()[0]
        here = " in this directory" if "/" in program[1:] and program[0] != "/" else ""
        terminal.say(f"\nTry, in another terminal{here}:")
        for step in next_steps:
            terminal.say(f"  {step}")
    terminal.say("\nCtrl-C stops it.")


def serve_http(
    server: Server | Gateway, listener: socket.socket, options: HttpOptions | None = None
) -> None:
    """Serve HTTP on a socket until told to stop."""
    from anyshape.server.http_host import run_http

    host, port = listener.getsockname()[:2]
    run_http(server.asgi(options), host=host, port=port, settings=_SETTINGS, listener=listener)


def _serve_with_workers(
    server: Server, module: str, host: str, port: int, workers: int, *, reload: bool, json: bool
) -> int:
    from anyshape.server.http_host import run_workers

    # Taken once to say clearly if that cannot be done, and to learn which port 0 means.
    with listen(host, port) as probe:
        url, port = url_of(host, probe), probe.getsockname()[1]
    announce(server, url, json=json)
    os.environ[TARGET_VARIABLE] = module
    os.environ[WORKERS_VARIABLE] = str(workers)
    settings = {**_SETTINGS, **({"reload": True} if reload else {"workers": workers})}
    run_workers(
        "anyshape.cli.worker:create",
        host=host,
        port=port,
        grace=server.options.grace,
        settings=settings,
    )
    return Exit.OK


def url_of(host: str, listener: socket.socket) -> str:
    """Return the address that a server on a socket is reached by."""
    port: int = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - where to reach it
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/mcp"


def _as_data(server: Server, url: str | None) -> dict[str, Any]:
    where = {"transport": "stdio"} if url is None else {"transport": "http", "url": url}
    return {"name": server.name, "version": server.version, "tools": len(server.tools), **where}
