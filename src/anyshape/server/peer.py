"""Who asks: a peer, as the transport that carries its messages knows it.

Dispatch and the features know a peer only by what is here. A connection is one peer with many
requests; over HTTP, where nothing outlives a request, each POST comes from a peer of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from anyshape.protocol.clients import NOTHING, Needs

if TYPE_CHECKING:
    from anyshape.protocol.log_levels import LogLevel
    from anyshape.protocol.revision import Revision
    from anyshape.server.asking.exchange import ExpectedAnswer
    from anyshape.server.authorization import AccessToken
    from anyshape.server.features.announcements import Topic
    from anyshape.server.headers import RequestHeaders
    from anyshape.server.parameters import InitializeParameters, Meta
    from anyshape.server.request import OpenRequest
    from anyshape.server.scopes import ScopeRules
    from anyshape.server.service import Service


class Peer(ABC):
    """What is known of whoever asks, and how to reach them."""

    tells_changes: bool = False
    """Whether a peer of a handshake is told of changes to what is listed."""

    transport = "pipe"
    """The `network.transport` of telemetry."""

    takes_stream = True
    """Whether anything can be said before an answer."""

    announces_closing = False
    """Whether the end of a subscription is announced by a cancellation, too."""

    shares_task = False
    """Whether requests are answered one after another in the same task, so that each needs context
    variables of its own."""

    headers: RequestHeaders | None = None
    """What its transport says of a modern request, which has to agree with what that says."""

    access: AccessToken | None = None
    """What its access token proved."""

    scope_rules: ScopeRules | None = None
    """Which scopes decide what is listed to it; none where everybody sees everything."""

    client: Mapping[str, Any] | None = None
    """What it said of itself in a handshake, if there was one."""

    needs: Needs = NOTHING
    """What the client of that handshake is known to need."""

    capabilities: Mapping[str, Any] = MappingProxyType({})
    """What it said in a handshake that it can be asked for."""

    is_single_use = False
    """Whether it is known for as long as one message takes, and then forgotten."""

    address: str | None = None
    """Where it is, if its transport has addresses and somebody may ask."""

    session_id: bytes | None = None
    """What the handshake of its earlier requests is known by, where each comes on its own."""

    log_level: LogLevel = "info"
    """Which log messages it wants after a handshake; over HTTP its session has the last word."""

    flights: Mapping[bytes, OpenRequest] = MappingProxyType({})
    """The requests that wait, by their keys, where ids have to differ: not over HTTP."""

    service: Service

    @property
    def subject(self) -> str | None:
        """Whose access token it has, `None` without one."""
        return None if self.access is None else self.access.subject

    @property
    def is_congested(self) -> bool:
        """Whether it is too far behind in reading for anything that will be overtaken."""
        return False

    def needs_in(self, meta: Meta) -> Needs:
        """Return what the client is known to need that sent this metadata."""
        info = meta.client_info
        return self.needs if info is UNSET else self.service.clients.needs_of(bytes(info))

    @abstractmethod
    def assumed_revision(self, method: str) -> Revision:
        """Return the revision of a request that does not name its own, or raise."""

    @abstractmethod
    def greet(self, revision: Revision, parameters: InitializeParameters) -> None:
        """Remember what a handshake has settled, or have the client remember it."""

    @abstractmethod
    def send(self, message: bytes) -> None:
        """Send a message that is no answer."""

    def hang_up(self) -> None:
        """Close the connection, where a client can come back for the rest of an answer."""
        return

    @abstractmethod
    def expect_answer(self, request: OpenRequest) -> ExpectedAnswer:
        """Return under which id a peer of a handshake is asked, and what to await its answer in."""

    @abstractmethod
    def hold(self, request: OpenRequest) -> None:
        """Know a request that has to wait, so that it can be stopped."""

    @abstractmethod
    def release(self, request: OpenRequest) -> None:
        """Forget a request that no longer waits."""

    @abstractmethod
    async def subscribe(self, topic: Topic) -> None:
        """Have the peer of a handshake told of a topic, or raise if it cannot be told."""

    @abstractmethod
    async def unsubscribe(self, topic: Topic) -> None:
        """Tell it no more of that topic."""
