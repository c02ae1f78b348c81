"""What a caller can choose about a client, as frozen values.

Every limit here bounds what a server can make this process spend; the limits on schemas themselves
are `anyshape.schema.Limits`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from anyshape._version import __version__
from anyshape.client.authorizer import Authorizer
from anyshape.protocol.nesting import MOST_PARTS

if TYPE_CHECKING:
    import ssl

Credentials: TypeAlias = str | Mapping[str, str]
Auth: TypeAlias = str | Callable[[], Credentials | Awaitable[Credentials]] | Authorizer
"""A bearer token; a callable that gives one or the headers to send, asked again on a 401; or what
gets tokens by itself, such as `anyshape.client.auth.OAuth`."""


_DEEPEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one server may make this client read, hold or wait for."""

    max_answer_bytes: int = 16 * 1024 * 1024
    """Bytes of one answer, notifications on its way included, counted while reading."""
    max_unfinished_bytes: int = 64 * 1024 * 1024
    """Bytes of all answers that are being read over HTTP; of long ones, others wait their turn."""
    max_depth: int = 200
    """Nesting of the JSON in one message."""
    max_parts: int = MOST_PARTS
    """Arrays, objects and members of objects in one message, and on all pages of one listing; four
    times as many texts in one message."""
    max_pages: int = 100
    """Pages of one listing."""
    max_tools: int = 10_000
    """Tools on all pages of one `tools/list`."""
    max_listing_bytes: int = 8 * 1024 * 1024
    """Bytes of all pages of one listing together."""
    max_prompts: int = 10_000
    """Prompts on all pages of one `prompts/list`."""
    max_resources: int = 10_000
    """Resources, or templates of them, on all pages of one listing."""
    max_rounds: int = 10
    """Times a server may answer a request with "ask me again" before the request fails."""
    max_questions: int = 32
    """Questions to the user or a model that a server may ask while it answers one request."""
    answer_timeout: float = 600.0
    """Seconds for answering them, which do not count for the time limit of the request."""
    task_timeout: float = 3600.0
    """Seconds that a call which became a task is waited for, unless the call says otherwise."""
    probe_timeout: float = 10.0
    """Seconds of silence after `server/discover` before the older handshake is tried too."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"Bounds({name}={getattr(self, name)!r}): expected more than 0")
        if self.max_depth > _DEEPEST:
            raise ValueError(f"Bounds(max_depth={self.max_depth}): expected {_DEEPEST} at most")


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """How to reach a server over HTTP."""

    transport: Literal["auto", "sse"] = "auto"
    """Streamable HTTP, or HTTP+SSE of 2024-11-05 if that is what is found; or HTTP+SSE at once."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sent with every request, beside those that the protocol asks for."""
    tls: ssl.SSLContext | bool = True
    """How to verify `https` servers; `False` verifies nothing."""
    proxy: str | None = None
    """The URL of a proxy."""
    proxy_from_environment: bool = False
    """Take the proxy from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`."""
    max_connections: int = 100
    """Connections open at once; further calls wait for one. Listening for changes has its own."""
    connect_timeout: float = 10.0
    """Seconds to wait for one connection; with HTTP+SSE, for the endpoint as well."""
    reconnects: int = 2
    """Times a request that is safe to repeat is sent again after the connection was lost."""

    def __post_init__(self) -> None:
        if self.transport not in ("auto", "sse"):
            raise ValueError(f"Http(transport={self.transport!r}): expected 'auto' or 'sse'")


_INHERITED = (
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROGRAMFILES SYSTEMDRIVE "
    "SYSTEMROOT TEMP TMP USERNAME USERPROFILE"
    if os.name == "nt"
    else "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """How to run a server as a child process."""

    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables to set, beside the few that every child gets (`PATH`, `HOME`, `LANG`, …)."""
    inherit_environment: bool = False
    """Pass on every variable of this process, secrets included."""
    directory: str | Path | None = None
    """Where to run it."""
    stderr: Literal["keep", "inherit", "discard"] = "keep"
    """Keep the last lines for error messages, let them through to ours, or drop them."""
    stop_timeout: float = 2.0
    """Seconds to wait after closing its input, and again after asking it to terminate."""
    restarts: int = 1
    """Times one call may start the process again after it died."""

    def variables(self) -> dict[str, str]:
        """Return the environment that the child sees."""
        names = os.environ.keys() if self.inherit_environment else _INHERITED
        given = {name: os.environ[name] for name in names if name in os.environ}
        return {**given, **self.environment}


@dataclass(frozen=True, slots=True)
class Identity:
    """How this client names itself to servers."""

    name: str = "anyshape"
    version: str = __version__
    title: str | None = None

    def wire(self) -> dict[str, str]:
        """Return the `Implementation` object of the protocol."""
        described = {"name": self.name, "version": self.version}
        return described if self.title is None else {**described, "title": self.title}
