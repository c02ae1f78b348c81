"""An authorization server: found by its issuer, believed only if it names that issuer itself.

https://www.rfc-editor.org/rfc/rfc8414, OpenID Connect Discovery 1.0, and
https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from anyshape.client.auth.exchange import AuthReply, Exchange
from anyshape.client.auth.resource import strings
from anyshape.client.quoting import shorten, without_secrets
from anyshape.errors import AuthorizationError
from anyshape.protocol.issuers import description_places

_WHAT: Final = "the authorization server's metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationServer:
    """What is known of an authorization server; every URL was checked."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes: tuple[str, ...] = ()
    auth_methods: tuple[str, ...] = ("client_secret_basic",)
    """How clients may say who they are at the token endpoint."""
    signing_algorithms: tuple[str, ...] = ()
    """With which of them, if by a signature; none if it does not say."""
    challenge_methods: tuple[str, ...] = ()
    dpop_algorithms: tuple[str, ...] = ()
    sends_issuer: bool = False
    """Whether an authorization response has to say who it is from."""
    reads_client_documents: bool = False
    """Whether the URL of a client's metadata document is a client id."""


async def find_server(exchange: Exchange, issuer: str) -> AuthorizationServer:
    """Return the authorization server with that issuer identifier."""
    server = await _look_up(exchange, issuer)
    if server is None:
        raise AuthorizationError(f"{_WHAT}: none at {without_secrets(issuer)}")
    return server


async def assume_server(exchange: Exchange, url: str) -> AuthorizationServer:
    """Return the authorization server that a server of 2025-03-26 is itself.

    Without metadata it has endpoints at fixed paths:
    https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization
    """
    parts = urlsplit(url)
    issuer = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
    server = await _look_up(exchange, issuer)
    if server is not None:
        return server
    return AuthorizationServer(
        issuer=issuer,
        authorization_endpoint=f"{issuer}/authorize",
        token_endpoint=f"{issuer}/token",
        registration_endpoint=f"{issuer}/register",
        auth_methods=("none", "client_secret_basic", "client_secret_post"),
        challenge_methods=("S256",),
    )


async def _look_up(exchange: Exchange, issuer: str) -> AuthorizationServer | None:
    parts = exchange.reach.check(issuer, "the authorization server")
    if parts.query:
        raise AuthorizationError(f"the issuer {without_secrets(issuer)} must not have a query")
    reply = await exchange.find(description_places(issuer), _WHAT)
    return None if reply is None else _read(exchange, reply, issuer)


def _read(exchange: Exchange, reply: AuthReply, issuer: str) -> AuthorizationServer:
    members = reply.members
    named: object = members.get("issuer")
    if named != issuer:
        raise AuthorizationError(
            f"{_WHAT} for {without_secrets(issuer)} name another issuer, {shorten(str(named))!r}"
        )

    def endpoint(name: str) -> str | None:
        url: Any = members.get(f"{name}_endpoint")
        if url is None:
            return None
        if not isinstance(url, str):
            raise AuthorizationError(f"{_WHAT}: {name}_endpoint is no string")
        exchange.reach.check(url, f"the {name} endpoint")
        return url

    token = endpoint("token")
    if token is None:
        raise AuthorizationError(f"{_WHAT} for {without_secrets(issuer)} name no token endpoint")
    methods = strings(members.get("token_endpoint_auth_methods_supported"))
    return AuthorizationServer(
        issuer=issuer,
        token_endpoint=token,
        authorization_endpoint=endpoint("authorization"),
        registration_endpoint=endpoint("registration"),
        revocation_endpoint=endpoint("revocation"),
        scopes=strings(members.get("scopes_supported")),
        auth_methods=methods or ("client_secret_basic",),
        signing_algorithms=strings(members.get("token_endpoint_auth_signing_alg_values_supported")),
        challenge_methods=strings(members.get("code_challenge_methods_supported")),
        dpop_algorithms=strings(members.get("dpop_signing_alg_values_supported")),
        sends_issuer=members.get("authorization_response_iss_parameter_supported") is True,
        reads_client_documents=members.get("client_id_metadata_document_supported") is True,
    )
