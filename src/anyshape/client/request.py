"""A request of the client, before and after it is written for one era of the protocol."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from anyshape.client.lifecycle import Lifecycle
from anyshape.client.progress import OnProgress


class ClientRequest(msgspec.Struct, frozen=True, gc=False):
    """What a client asks for, whichever way its request will be written.

    `members` and `meta` are the JSON members of its parameters and of their `_meta`, without
    braces; `name` and `parameters` are what HTTP repeats in headers.
    """

    method: str
    members: bytes = b""
    name: str | None = None
    parameters: Mapping[str, str] | None = None
    meta: bytes = b""
    on_progress: OnProgress | None = None
    repeatable: bool = False
    """Whether asking twice does no more than asking once."""
    opening: bytes = b""
    """What stands before `members`, if that was written beforehand; see `open_request`."""
    calls_tool: bool = False
    """Whether its answer is the result of a call, to be read as one at once where that works."""


class Outgoing(msgspec.Struct, frozen=True, gc=False):
    """A request as it is written for one server, with an id of its own."""

    id: int
    frame: bytes
    request: ClientRequest
    lifecycle: Lifecycle
    cancellable: bool = True
    """Whether giving up on it may be told to the server."""
    endless: bool = False
    """Whether its answer is a stream that stays open, so that only each message is bounded."""

    @property
    def method(self) -> str:
        """What is asked."""
        return self.request.method

    def headers(self) -> dict[str, str]:
        """Return the headers in which HTTP repeats parts of it."""
        request = self.request
        return self.lifecycle.headers(request.method, request.name, request.parameters)
