"""How requests are written in each era of the protocol.

`Stateless` requests stand alone: each says its revision and who sends it
(https://modelcontextprotocol.io/specification/2026-07-28/basic#meta). `Stateful` requests rely on
what `initialize` settled. The rest of the client writes through one of them and never asks which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from anyshape.client.options import Identity
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.headers import (
    METHOD_HEADER,
    NAME_HEADER,
    VERSION_HEADER,
    encode_header_value,
)
from anyshape.protocol.meta import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    PROGRESS_KEY,
    PROTOCOL_VERSION,
    TASKS_EXTENSION,
)
from anyshape.protocol.revision import Revision

_encode_name: Final = lru_cache(maxsize=1024)(encode_header_value)

RESERVED: Final = frozenset(
    {PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_KEY}
)
"""The metadata of a request that is for the client to write, whatever the revision."""


def open_request(method: str, members: bytes = b"") -> bytes:
    """Return what follows the id of a request, up to and with the first of its parameters."""
    return b',"method":"%b","params":{%b' % (method.encode(), members)


@dataclass(frozen=True, slots=True)
class ClientIntroduction:
    """How a client introduces itself: who it is, and what it can be asked for."""

    identity: Identity = field(default_factory=Identity)
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Stateless:
    """Requests that carry everything a server needs to know."""

    stateful = False
    hears_cancellation = True
    """Whether the server may be told that a request was given up."""

    def __init__(self, revision: Revision, introduction: ClientIntroduction) -> None:
        self.revision = revision
        self._version = revision.value
        described: dict[str, object] = {
            PROTOCOL_VERSION: revision.value,
            CLIENT_INFO: introduction.identity.wire(),
            CLIENT_CAPABILITIES: {
                **introduction.capabilities,
                "extensions": {TASKS_EXTENSION: {}},
            },
        }
        self._described = described
        self._write_meta()

    def ask_for_logs(self, level: str) -> bool:
        """Have every request ask for log messages of this level and above; tell that it will."""
        self._described[LOG_LEVEL] = level
        self._write_meta()
        return True

    def _write_meta(self) -> None:
        self._meta = b'"_meta":%b' % encode_data(self._described)[:-1]
        self._end = b",%b}}}" % self._meta

    def frame(self, id: int, opening: bytes, members: bytes, meta: bytes) -> bytes:
        """Return a request with the metadata of this revision.

        `opening` is as `open_request` gives it, `members` and `meta` are JSON members without
        their braces.
        """
        end = self._end
        if meta or not members:
            comma = b"," if members else b""
            end = b"%b%b%b}}}" % (comma, self._meta, b"," + meta if meta else b"")
        # Joined, not formatted: formatting grows its buffer as it goes, slowly for long arguments.
        return b"".join((b'{"jsonrpc":"2.0","id":%d' % id, opening, members, end))

    def headers(
        self, method: str, name: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the revision, the method, the name of what it is about, and the arguments."""
        if name is None:
            headers = {VERSION_HEADER: self._version, METHOD_HEADER: method}
        else:
            headers = {
                VERSION_HEADER: self._version,
                METHOD_HEADER: method,
                NAME_HEADER: _encode_name(name),
            }
        if parameters:
            headers.update(parameters)
        return headers


class Stateful:
    """Requests of a conversation that `initialize` opened.

    Servers of the Python SDK up to 1.9 end as soon as they are told that a request was given up,
    and with them all that others wait for; so they are not told. They speak no revision that has
    structured content, and declare an `experimental` capability with nothing in it.
    """

    stateful = True

    def __init__(
        self, revision: Revision, capabilities: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self.revision = revision
        is_frail = not revision.has_structured_content and capabilities.get("experimental") == {}
        self.hears_cancellation = not is_frail
        self._headers: Mapping[str, str] = (
            {VERSION_HEADER: revision.value} if revision.has_version_header else {}
        )

    def ask_for_logs(self, level: str) -> bool:
        """Do nothing: a request of its own sets the level for all others."""
        return False

    def frame(self, id: int, opening: bytes, members: bytes, meta: bytes) -> bytes:
        """Return a request."""
        end = b"}}"
        if meta:
            end = b'%b"_meta":{%b}}}' % (b"," if members else b"", meta)
        return b"".join((b'{"jsonrpc":"2.0","id":%d' % id, opening, members, end))

    def headers(
        self, method: str, name: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the revision, where it has a header for that; nothing else is mirrored."""
        return dict(self._headers)


Lifecycle: TypeAlias = Stateless | Stateful
"""The way one connection writes its requests."""
