"""How requests are written in each era of the protocol.

`Stateless` requests stand alone: each says its revision and who sends it
(https://modelcontextprotocol.io/specification/2026-07-28/basic#meta). `Handshake` requests rely on
what `initialize` settled. The rest of the client writes through one of them and never asks which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import msgspec

from anyshape.client.options import Identity
from anyshape.protocol.headers import encode_header_value
from anyshape.protocol.revision import Revision

__all__ = ["Handshake", "Lifecycle", "Stateless"]

_encode: Final = msgspec.json.Encoder().encode
_PREFIX: Final = "io.modelcontextprotocol/"


class Lifecycle(Protocol):
    """The way one connection writes its requests."""

    @property
    def revision(self) -> Revision:
        """What was agreed on."""
        ...

    @property
    def stateful(self) -> bool:
        """Whether a handshake holds the requests together."""
        ...

    def frame(self, id: int, method: str, members: bytes, meta: bytes) -> bytes:
        """Return a request; `members` and `meta` are JSON members without their braces."""
        ...

    def headers(
        self, method: str, name: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return what HTTP mirrors of a message: what it is about, and the arguments in headers."""
        ...


class Stateless:
    """Requests that carry everything a server needs to know."""

    stateful = False

    def __init__(self, revision: Revision, identity: Identity) -> None:
        self.revision = revision
        described: dict[str, object] = {
            f"{_PREFIX}protocolVersion": revision.value,
            f"{_PREFIX}clientInfo": identity.wire(),
            f"{_PREFIX}clientCapabilities": {},
        }
        self._meta = b'"_meta":%b' % _encode(described)[:-1]

    def frame(self, id: int, method: str, members: bytes, meta: bytes) -> bytes:
        """Return a request with the metadata of this revision."""
        head = b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":{' % (id, method.encode())
        comma = b"," if members else b""
        tail = b",%b}}}" % meta if meta else b"}}}"
        # Joined, not formatted: formatting grows its buffer as it goes, slowly for long arguments.
        return b"".join((head, members, comma, self._meta, tail))

    def headers(
        self, method: str, name: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the revision, the method, the name of what it is about, and the arguments."""
        headers = {"MCP-Protocol-Version": self.revision.value, "Mcp-Method": method}
        if name is not None:
            headers["Mcp-Name"] = encode_header_value(name)
        if parameters:
            headers.update(parameters)
        return headers


class Handshake:
    """Requests of a conversation that `initialize` opened."""

    stateful = True

    def __init__(self, revision: Revision) -> None:
        self.revision = revision
        self._headers: Mapping[str, str] = (
            {"MCP-Protocol-Version": revision.value} if revision.has_version_header else {}
        )

    def frame(self, id: int, method: str, members: bytes, meta: bytes) -> bytes:
        """Return a request."""
        if meta:
            members += b'%b"_meta":{%b}' % (b"," if members else b"", meta)
        return b'{"jsonrpc":"2.0","id":%d,"method":"%b","params":{%b}}' % (
            id,
            method.encode(),
            members,
        )

    def headers(
        self, method: str, name: str | None = None, parameters: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the revision, where it has a header for that; nothing else is mirrored."""
        return dict(self._headers)
