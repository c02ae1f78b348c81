"""`anyshape gateway`: servers of any age at one endpoint, for clients of any age."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from anyshape.cli import options, terminal
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.loading import FLEETS, load_fleet, load_upstream
from anyshape.cli.serve import announce, check_listening, listen, serve_http, url_of
from anyshape.cli.target import check_url

if TYPE_CHECKING:
    from anyshape.gateway import Gateway, Upstream
    from anyshape.server import HttpOptions

EXAMPLES: Final = """\b
Examples:
  anyshape gateway fleet.toml --http --port 8080
  anyshape gateway ~/.config/mcp.json
  anyshape gateway github=https://example.com/mcp weather.py --http
  anyshape gateway fleet.toml --http --endpoints both
  anyshape gateway -- npx some-server
"""

_NAMED: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,63})=(.+)")


def gateway(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE | [NAME=]TARGET ...", show_default=False, hidden=True),
    ] = None,
    http: options.HttpOption = False,
    host: options.HostOption = "127.0.0.1",
    port: options.PortOption = 8000,
    endpoints: Annotated[
        str | None,
        typer.Option(
            metavar="one|each|both",
            help="Serve all at /mcp, each at /NAME/mcp with its own names, or both.",
        ),
    ] = None,
    metrics: Annotated[
        bool,
        typer.Option("--metrics", help="Serve counts for Prometheus at /metrics."),
    ] = False,
    json: options.JsonOption = False,
) -> int:
    """Serve other servers: those of a configuration file, or of targets.

    FILE is our TOML (fleet.toml), or the JSON with mcpServers that hosts use; it is read again on
    SIGHUP. TARGET is a URL, a module or file that has a server in it, or a command after two
    dashes. One server keeps its names; of several, each name begins with that of its server.
    """
    from anyshape.gateway import Gateway, GatewayMetrics

    check_listening(context, http=http)
    _check_endpoints(endpoints, http=http)
    if metrics and not http:
        raise _for_http("--metrics", "a pipe has no pages")
    terminal.follow_log("anyshape.gateway")
    words, command = targets or [], context.obj["command"]
    if len(words) == 1 and command is None and words[0].endswith(FLEETS):
        with _configured(words[0], endpoints, metrics=metrics) as (made, options):
            _serve(made, host, port, options, http=http, json=json)
    else:
        made = Gateway(
            _upstreams(words, command),
            endpoints=cast("Any", endpoints or "one"),
            metrics=GatewayMetrics() if metrics else None,
        )
        _serve(made, host, port, None, http=http, json=json)
    return Exit.OK


def _check_endpoints(endpoints: str | None, *, http: bool) -> None:
    if endpoints not in (None, "one", "each", "both"):
        raise UsageError(f"--endpoints {endpoints}: unknown", hint="one of one, each, both")
    if endpoints is not None and not http:
        raise _for_http("--endpoints", "a pipe has one")


def _for_http(option: str, why: str) -> CommandError:
    return UsageError(f"{option} is for HTTP: {why}", hint="add --http")


def _serve(
    made: Gateway, host: str, port: int, options: HttpOptions | None, *, http: bool, json: bool
) -> None:
    if not http:
        made.run()
        return
    listener = listen(host, port)
    url = url_of(host, listener)
    announce(made.server, url, json=json, urls=made.urls(url))
    serve_http(made, listener, options)


@contextmanager
def _configured(
    path: str, endpoints: str | None, *, metrics: bool
) -> Generator[tuple[Gateway, HttpOptions | None]]:
    """Give the gateway that a file describes, and how it is served.

    At the end its audit log is written to the end.
    """
    from anyshape.gateway import AuditLog, Gateway, GatewayMetrics

    config = load_fleet(path)
    settings = config.settings
    file, replicas = settings.audit_file, settings.replicas
    audit = None if file is None else AuditLog(file, settings.audit)
    made = Gateway.configured(
        config,
        endpoints=endpoints or config.endpoints,
        options=None if replicas is None else replicas.server_options(),
        audit=audit,
        metrics=GatewayMetrics() if metrics or settings.metrics else None,
    )
    made.reload_with(lambda: load_fleet(path))
    try:
        yield made, None if replicas is None else replicas.http_options()
    finally:
        if audit is not None:
            audit.close()


def _upstreams(words: Sequence[str], command: list[str] | None) -> Mapping[str, Upstream | Any]:
    from anyshape.client.target import is_url

    found: dict[str, Any] = {}
    for word in words:
        if word.endswith(FLEETS):
            raise UsageError(
                f"{word} says all there is to serve",
                hint="give the file alone, or write the targets into it",
            )
        named = _NAMED.fullmatch(word)
        written = named[2] if named else word
        if is_url(written):
            check_url(written)
        target = written if is_url(written) else load_upstream(written)
        _add(found, named[1] if named else _name_of(written), target)
    if command:
        _add(found, _name_of(command[0]), command)
    if not found:
        raise UsageError(
            "there is nothing to serve",
            hint="give a configuration file, a URL, a module or file, or a command after --",
        )
    return found


def _add(found: dict[str, Any], name: str, target: Any) -> None:
    if name in found:
        raise UsageError(f"two targets are called {name}", hint="name them: NAME=TARGET")
    found[name] = target


def _name_of(written: str) -> str:
    """Return what a target is called if nobody says: its host, module or program."""
    without_scheme = re.sub(r"^https?://", "", written)
    if without_scheme != written:
        return re.sub(r"[^A-Za-z0-9_-]+", "-", re.split(r"[/:?#]", without_scheme)[0]).strip("-")
    stem = Path(written.partition(":")[0]).name.removesuffix(".py").rpartition(".")[2]
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-") or "server"
