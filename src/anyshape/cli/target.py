"""TARGET: a URL, a command after `--`, `module:server`, or the file of a gateway."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anyshape.cli import terminal
from anyshape.cli.failure import UsageError
from anyshape.cli.loading import FLEETS, load_fleet, load_server
from anyshape.cli.login import person
from anyshape.cli.questions import TerminalQuestions, questions

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    import typer

    from anyshape.client import (
        Client,
        Identity,
        OnElicit,
        OnFrame,
        OnLog,
        OnSample,
        Roots,
    )
    from anyshape.client.auth import OAuth
    from anyshape.client.listening import OnListChanged
    from anyshape.protocol.revision import Revision


@dataclass(frozen=True, slots=True)
class NamedTarget:
    """A server to talk to, how it was written, and how to reach it."""

    address: Any
    shown: str
    """As it stands on a command line, less what may be secret."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    timeout: float = 60.0
    auth: OAuth | None = None
    """Who signs in to it, if its user may be asked to."""

    @property
    def is_command(self) -> bool:
        """Whether each connection runs a process."""
        return isinstance(self.address, list)


def split_target(
    context: typer.Context, words: Sequence[str] | None
) -> tuple[str | Sequence[str], list[str]]:
    """Return the target, and the words that follow it: it is the first, or all behind `--`."""
    rest = list(words or ())
    command: list[str] | None = context.obj["command"]
    if command is not None:
        if not command:
            raise UsageError("there is no command after --", hint=_HINT)
        return command, rest
    if not rest:
        raise UsageError("a TARGET is missing", hint=_HINT)
    return rest[0], rest[1:]


_HINT = (
    "TARGET is a URL (http://127.0.0.1:8000/mcp), a module or file (server.py:name), "
    "the file of a gateway (fleet.toml), or a command after -- (-- python server.py)"
)


def take_target(
    written: str | Sequence[str],
    headers: Sequence[str] | None = None,
    timeout: float = 60.0,
    *,
    login: bool = False,
) -> NamedTarget:
    """Return the server that was named; a module is loaded here and now."""
    from anyshape.client.quoting import name_program, without_secrets
    from anyshape.client.target import is_url

    pairs = dict(_header(line) for line in headers or ())
    if login and not (isinstance(written, str) and is_url(written)):
        raise UsageError(
            "--login is for servers with a URL",
            hint="a command gets its credentials from the environment",
        )
    if not isinstance(written, str):
        rest = " …" if len(written) > 1 else ""
        return NamedTarget(list(written), f"-- {name_program(written)}{rest}", pairs, timeout)
    if is_url(written):
        check_url(written)
        return NamedTarget(
            written, without_secrets(written), pairs, timeout, person() if login else None
        )
    if "://" in written:
        raise UsageError(f"{without_secrets(written)} is no http or https URL", hint=_HINT)
    if written.endswith(FLEETS):
        from anyshape.gateway import Gateway

        return NamedTarget(Gateway.configured(load_fleet(written)), written, pairs, timeout)
    return NamedTarget(load_server(written), written, pairs, timeout)


def check_url(written: str) -> None:
    """Refuse a URL that nothing can be sent to."""
    from anyshape.client.quoting import without_secrets
    from anyshape.client.target import check_target

    try:
        check_target(written, without_secrets(written))
    except ValueError as error:
        raise UsageError(str(error), hint=_HINT) from None


def _header(line: str) -> tuple[str, str]:
    from anyshape.client.transports.routes import is_header

    # What came is not quoted: often it is a secret.
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not name:
        mistake = "expected a name, a colon and a value"
    elif not is_header(name, value):
        mistake = "there are characters in it that no header may have"
    else:
        return name, value
    hint = 'write it as on the wire: --header "Authorization: Bearer …"'
    raise UsageError(f"--header: {mistake}", hint=hint)


def parse_revision(text: str) -> Revision | None:
    """Return the revision that `--revision` names; `None` for `auto`."""
    from anyshape.protocol.revision import RELEASED, Revision

    revision = Revision.parse(text)
    if revision is None and text != "auto":
        known = ", ".join(str(each) for each in RELEASED)
        raise UsageError(f"there is no revision {text}", hint=f"one of {known}")
    return revision


@asynccontextmanager
async def connect(
    target: NamedTarget,
    revision: Revision | None = None,
    *,
    or_older: bool = False,
    unwrap: bool = True,
    asks: bool | TerminalQuestions = False,
    identity: Identity | None = None,
    on_elicit: OnElicit | None = None,
    on_sample: OnSample | None = None,
    roots: Roots | None = None,
    on_log: OnLog | None = None,
    on_list_changed: OnListChanged | None = None,
    on_frame: OnFrame | None = None,
) -> AsyncGenerator[Client]:
    """Connect to a target for as long as the block runs; `asks` lets it ask the user here."""
    from anyshape.client import Client, Http, Process

    # What it would log, the commands say; and it quotes strangers.
    logging.getLogger("anyshape.client").addHandler(logging.NullHandler())
    client = Client(
        target.address,
        revision="auto" if revision is None else revision,
        or_older=or_older,
        timeout=target.timeout,
        auth=target.auth,
        unwrap=unwrap,
        listen=on_list_changed is not None,
        on_elicit=on_elicit or (questions() if asks is True else asks) or None,
        on_sample=on_sample,
        roots=roots,
        on_log=on_log,
        on_list_changed=on_list_changed,
        on_frame=on_frame,
        http=Http(headers=target.headers, proxy_from_environment=True),
        # The command runs as if it had been typed here.
        process=Process(inherit_environment=True),
        identity=identity,
    )
    is_here = not isinstance(target.address, str | list)
    with terminal.data_apart() if is_here else nullcontext():
        async with client:
            yield client


def connect_as(target: NamedTarget, revision: Revision) -> AbstractAsyncContextManager[Client]:
    """Connect as clients of a revision do: those with a handshake take an older one as well."""
    return connect(target, revision, or_older=not revision.is_modern, unwrap=False)
