"""The seam between a client and whatever carries its messages.

A transport moves frames and knows which answer belongs to which request; what the frames say is
decided above it. Everything a server says on its own goes to the `OnMessage`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Mapping
from typing import Any, Protocol, TypeAlias

from anyshape.client.request import Outgoing
from anyshape.errors import TransportError
from anyshape.protocol.jsonrpc import Notification, Request, Response, encode_notification
from anyshape.protocol.methods import CANCELLED
from anyshape.protocol.shapes.ordinary_result import OrdinaryResult

ServerMessage: TypeAlias = Request | Notification
OnMessage: TypeAlias = Callable[[ServerMessage], bytes | None]
"""Takes a message that is no answer to us, on the loop; returns the frame to send back, if any."""


Received: TypeAlias = Response | OrdinaryResult
"""The answer to a request, or the result in it where that could be read at once."""


class Transport(Protocol):
    """One way to one server; what a way has no need of, it leaves as it is here."""

    place: str
    """What error messages call the server."""
    key: Hashable | None
    """What tells this server from others; `None` if there is nothing to remember it by."""
    is_shared: bool = False
    """Whether others use the server too, and nothing here could start it again."""
    has_handshake: bool = False
    """Whether nothing is said this way without a handshake, whatever the server is."""
    has_headers: bool = False
    """Whether requests have headers that repeat parts of them."""
    attempts: int = 0
    """How often a request that is safe to repeat may be sent again."""

    def tell_end(self, ended: Callable[[], object]) -> None:
        """Have a function called when it shows that the server has gone, if that can show.

        Said before the transport is opened.
        """

    async def open(self, listener: OnMessage) -> None:
        """Get ready to send; start what has to be started."""
        ...

    def set_era(self, *, stateful: bool) -> None:
        """Learn whether there is a handshake, and with it sessions and streams to resume."""

    def request(self, outgoing: Outgoing) -> Received | Coroutine[Any, Any, Received]:
        """Send a request and return its answer, or what waits for it; cancelling that gives up."""
        ...

    async def notify(self, frame: bytes, headers: Mapping[str, str]) -> None:
        """Send a message that has no answer."""
        ...

    async def overhear(self, headers: Mapping[str, str], opened: Callable[[], object]) -> bool:
        """Listen to what a server says outside of any request; say whether it may be asked again.

        `opened` is called once everything is heard. Returns when the server has no more to say, or
        at once if that comes by the way of answers anyway.
        """
        return False

    async def revive(self) -> bool:
        """Get ready to send after the connection was lost; say whether the server starts anew."""
        return False

    def explain_silence(self) -> str:
        """Return what came instead of an answer, as the end of an error message."""
        return ""

    async def close(self) -> None:
        """Stop everything; whatever waits fails."""
        ...


class ConnectionLost(TransportError):
    """The way to the server broke; `sent` says whether the request may have reached it."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class SessionLost(TransportError):
    """The server forgot the session; nothing was done."""


class HttpStatus(TransportError):
    """A server answered with an HTTP status and nothing that is a JSON-RPC message."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


def too_long(place: str, limit: int) -> TransportError:
    """Return the exception for an answer of more bytes than are read."""
    return TransportError(f"{place} sent an answer longer than {limit} bytes")


def cancellation(id: int) -> bytes:
    """Return the notification that gives up on a request."""
    return encode_notification(CANCELLED, b'{"requestId":%d}' % id)
