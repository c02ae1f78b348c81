"""What a server says of itself: in a handshake, to `server/discover`, and in modern results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from anyshape.protocol.completed import Caching
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.identity import ServerIdentity
from anyshape.protocol.meta import SERVER_INFO
from anyshape.protocol.revision import SUPPORTED, Revision

Capabilities: TypeAlias = Callable[[Revision, bool], dict[str, Any]]
"""From a revision, and whether the peer can be told of changes, to what the server can do."""


class ServerIntroduction:
    """A server's identity and capabilities, as each revision words them."""

    def __init__(
        self, identity: ServerIdentity, caching: Caching, capabilities: Capabilities
    ) -> None:
        self.identity = identity
        self._caching = caching
        self._capabilities = capabilities
        self._infos: dict[Revision, bytes] = {}

    def server_info(self, revision: Revision) -> bytes:
        """Return the `Implementation` of the server as JSON text."""
        info = self._infos.get(revision)
        if info is None:
            info = self._infos[revision] = encode_data(self.identity.implementation(revision))
        return info

    def greeting(self, revision: Revision, *, tells_changes: bool) -> bytes:
        """Return the `result` of `initialize`."""
        return self._instructing(
            {
                "protocolVersion": revision.value,
                "capabilities": self._capabilities(revision, tells_changes),
                "serverInfo": msgspec.Raw(self.server_info(revision)),
            }
        )

    def discovery(self, revision: Revision) -> bytes:
        """Return the `result` of `server/discover`."""
        return self._instructing(
            {
                "resultType": "complete",
                "supportedVersions": list(SUPPORTED),
                "capabilities": self._capabilities(revision, True),
                "ttlMs": self._caching.ttl_ms,
                "cacheScope": self._caching.scope,
                "_meta": {SERVER_INFO: msgspec.Raw(self.server_info(revision))},
            }
        )

    def _instructing(self, wire: dict[str, Any]) -> bytes:
        if self.identity.instructions is not None:
            wire["instructions"] = self.identity.instructions
        return encode_data(wire)
