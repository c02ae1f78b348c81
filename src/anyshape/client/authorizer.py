"""The seam between a transport and what gets it into a server: credentials, given and renewed.

An `Authorizer` is what a caller passes as `Client(auth=…)`; it makes one `CredentialSource` for
each server that is connected to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from anyshape.client.deadlines import Deadlines
    from anyshape.client.options import Http


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A server's answer 401 or 403 to a request."""

    status: int
    sent: Mapping[str, str] = field(repr=False)
    """The credentials that were refused, as the source gave them."""
    attempt: int
    """How often the same request was refused before."""
    challenges: tuple[str, ...] = ()
    """Every `WWW-Authenticate` header."""
    nonce: str | None = None
    """The `DPoP-Nonce` header."""
    peers: tuple[str, ...] = ()
    """The addresses at which the server was reached; none if a proxy reached it."""


class CredentialSource(Protocol):
    """Where one connection to one server gets its credentials."""

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """Return the headers that a request is to carry."""
        ...

    async def renew(self, refusal: RefusedRequest) -> bool:
        """Get other credentials than the refused ones; say whether there is something to try."""
        ...

    def heed(self, nonce: str | None) -> None:
        """Learn the nonce of an answer that was no refusal."""
        ...


@runtime_checkable
class Authorizer(Protocol):
    """A way to get into servers, such as `anyshape.client.auth.OAuth`."""

    def source_for(self, url: str, http: Http, deadlines: Deadlines) -> CredentialSource:
        """Return the credentials for the server at `url`; nothing is asked of anybody yet.

        Time that a person takes is spent in `deadlines.paused()`.
        """
        ...
