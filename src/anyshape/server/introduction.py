"""What a server says of itself: in a handshake, to `server/discover`, and in modern results.

Each message is encoded when it is first asked for and kept until the server has another feature.
"""

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
        self._greetings: dict[tuple[Revision, bool], bytes] = {}
        self._discoveries: dict[Revision, bytes] = {}

    def renew(self) -> None:
        """Forget what was said: the server can do something else."""
        self._greetings, self._discoveries = {}, {}

    def server_info(self, revision: Revision) -> bytes:
        """Return the `Implementation` of the server as JSON text."""
        info = self._infos.get(revision)
        if info is None:
            info = self._infos[revision] = encode_data(self.identity.implementation(revision))
        return info

    def greeting(self, revision: Revision, *, tells_changes: bool) -> bytes:
        """Return the `result` of `initialize`."""
        kept = self._greetings
        known = kept.get((revision, tells_changes))
        if known is None:
            wire: dict[str, Any] = {
                "protocolVersion": revision.value,
                "capabilities": self._capabilities(revision, tells_changes),
                "serverInfo": msgspec.Raw(self.server_info(revision)),
            }
            known = kept[revision, tells_changes] = self._instructing(wire)
        return known

    def discovery(self, revision: Revision) -> bytes:
        """Return the `result` of `server/discover`."""
        kept = self._discoveries
        known = kept.get(revision)
        if known is None:
            wire: dict[str, Any] = {
                "resultType": "complete",
                "supportedVersions": list(SUPPORTED),
                "capabilities": self._capabilities(revision, True),
                "ttlMs": self._caching.ttl_ms,
                "cacheScope": self._caching.scope,
                "_meta": {SERVER_INFO: msgspec.Raw(self.server_info(revision))},
            }
            known = kept[revision] = self._instructing(wire)
        return known

    def _instructing(self, wire: dict[str, Any]) -> bytes:
        if self.identity.instructions is not None:
            wire["instructions"] = self.identity.instructions
        return encode_data(wire)
