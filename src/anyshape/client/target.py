"""Where a client connects to, and in which revision, from what its caller wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast
from urllib.parse import urlsplit

from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Auth, Bounds, Http, Process
from anyshape.client.quoting import shorten
from anyshape.client.transports.memory import Connectable, MemoryTransport
from anyshape.client.transports.transport import Transport
from anyshape.protocol.revision import Revision

Target: TypeAlias = str | Sequence[str] | Connectable
"""A URL, a command, or a server in memory."""


def is_url(written: str) -> bool:
    """Tell whether somebody wrote the URL of a server."""
    return written.lower().startswith(("http://", "https://"))


def choose_revision(revision: str | Revision) -> Revision | None:
    """Return the only revision to speak, or `None` for whichever is found."""
    if isinstance(revision, Revision):
        return revision
    if revision == "auto":
        return None
    found = Revision.parse(revision)
    if found is None:
        known = ", ".join(repr(each.value) for each in Revision)
        raise ValueError(f"revision={revision!r}: expected 'auto' or one of {known}")
    return found


def check_target(target: object, taker: str = "Client") -> None:
    """Refuse what no client can connect to; `taker` is what it was given to."""
    if isinstance(target, str):
        if not is_url(target):
            raise ValueError(
                f"{taker}({shorten(target, 60)!r}): expected an http or https URL; "
                "pass a command as a list of strings"
            )
        try:
            has_host = bool(urlsplit(target).hostname) and urlsplit(target).port != 0
        except ValueError:
            has_host = False
        if not has_host:
            raise ValueError(
                f"{taker}: expected a URL with a host, and a port from 1 to 65535 if it has one"
            )
    elif isinstance(target, list | tuple):
        command = cast("Sequence[object]", target)
        if not command or not all(isinstance(part, str) for part in command):
            raise ValueError(
                f"{taker}(command): expected a list of strings, such as ['python', 'server.py']"
            )
    elif not isinstance(target, Connectable):
        kind = type(target).__name__
        raise TypeError(f"{taker}({kind}): expected a URL, a list of strings or a Server")


def make_transport(
    target: Target,
    bounds: Bounds,
    http: Http,
    process: Process,
    auth: Auth | None,
    deadlines: Deadlines,
) -> Transport:
    """Return the transport to a target; what it needs is imported only now."""
    check_target(target)
    if isinstance(target, str):
        from anyshape.client.transports.sending import HttpSender
        from anyshape.client.transports.sse import SseTransport
        from anyshape.client.transports.url import UrlTransport

        sender = HttpSender(target, http, auth, bounds, deadlines)
        return SseTransport(sender) if http.transport == "sse" else UrlTransport(sender)
    if isinstance(target, Connectable):
        return MemoryTransport(target, bounds)
    from anyshape.client.transports.process import ProcessTransport

    return ProcessTransport(target, process, bounds)
