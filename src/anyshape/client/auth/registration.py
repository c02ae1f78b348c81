"""Who this client is at one authorization server, and how it came to be that.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration:
registered by hand before, by the URL of a metadata document, or on the spot (RFC 7591). What one
authorization server gave out is never shown to another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from anyshape.addresses import is_loopback
from anyshape.client.answers import as_string
from anyshape.client.auth.authorization_server import AuthorizationServer
from anyshape.client.auth.exchange import AuthReply, Exchange
from anyshape.client.auth.token import MOST_SECONDS
from anyshape.client.quoting import conceal, shorten, without_secrets
from anyshape.errors import AuthorizationError

if TYPE_CHECKING:
    from anyshape.client.auth.signing import ClientKey

_WHAT = "the registration endpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A client as an authorization server knows it."""

    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    method: str = "none"
    """How the token endpoint is shown that it is this client."""
    redirect_uri: str | None = None
    """Where answers to it go; `None` if somebody else registered it."""
    scopes: Sequence[str] = ()
    """The scopes that it may ask for; others are refused to it by some authorization servers."""
    expires: float | None = None
    key: ClientKey | None = field(default=None, repr=False)
    """The private key that identifies it, of a client that is never kept."""

    @property
    def is_ours(self) -> bool:
        """Whether it has no secret that is the caller's to keep."""
        return self.key is None and (self.client_secret is None or self.redirect_uri is not None)

    def serves(self, redirect_uri: str, scopes: Sequence[str]) -> bool:
        """Say whether it will do for a login, as far as we know."""
        if self.redirect_uri is None:
            return True
        return self.redirect_uri == redirect_uri and set(scopes) <= set(self.scopes)

    def write(self) -> str:
        """Return it as a text to keep."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Registration | None:
        """Return what `write` wrote; `None` if it is something else, or has ended."""
        try:
            saved = cls(**cast("dict[str, Any]", json.loads(text)))
        except (ValueError, TypeError, RecursionError):
            return None
        return None if saved.expires is not None and saved.expires < time.time() else saved


def secret_method(server: AuthorizationServer) -> str:
    """Return how a client with a secret shows it there."""
    if "client_secret_basic" in server.auth_methods:
        return "client_secret_basic"
    if "client_secret_post" in server.auth_methods:
        return "client_secret_post"
    return "client_secret_basic"


async def register(
    exchange: Exchange,
    server: AuthorizationServer,
    *,
    name: str,
    redirect_uri: str,
    scopes: Sequence[str],
    dpop: bool,
) -> Registration:
    """Register on the spot, as a client without a secret where that will do."""
    endpoint = server.registration_endpoint
    if endpoint is None:
        raise AuthorizationError(
            f"the authorization server {without_secrets(server.issuer)} registers no clients by "
            "itself: register one there and pass OAuth(client_id=…), or set ANYSHAPE_CLIENT_ID for "
            "the command line"
        )
    method = "none" if "none" in server.auth_methods else secret_method(server)
    local = is_loopback(urlsplit(redirect_uri).hostname or "")
    wanted: dict[str, Any] = {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native" if local else "web",
    }
    if scopes:
        wanted["scope"] = " ".join(scopes)
    if dpop:
        wanted["dpop_bound_access_tokens"] = True
    reply = await exchange.post_json(endpoint, _WHAT, wanted)
    client_id: object = reply.members.get("client_id")
    if not reply.is_good or not isinstance(client_id, str):
        raise describe_failure(f"{_WHAT} of {without_secrets(server.issuer)}", reply)
    secret = as_string(reply.members.get("client_secret"))
    given = as_string(reply.members.get("token_endpoint_auth_method")) or method
    ends: object = reply.members.get("client_secret_expires_at")
    return Registration(
        client_id=client_id,
        client_secret=secret,
        method=given,
        redirect_uri=redirect_uri,
        scopes=tuple(scopes),
        expires=float(min(ends, MOST_SECONDS))
        if isinstance(ends, int | float) and ends > 0
        else None,
    )


def describe_failure(
    what: str, reply: AuthReply, secrets: Sequence[str | None] = ()
) -> AuthorizationError:
    """Return the exception for a refusal (RFC 6749, section 5.2), without the secrets we sent."""
    error = as_string(reply.members.get("error"))
    said = as_string(reply.members.get("error_description"))
    reason = f"HTTP {reply.status}"
    if error is not None:
        reason = shorten(error, 60) + (f" ({shorten(said, 200)})" if said else "")
    secrets = tuple(secrets)
    return AuthorizationError(
        f"{what} refused: {conceal(reason, secrets)}",
        error=error and conceal(shorten(error, 60), secrets),
    )
