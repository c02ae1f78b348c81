"""The token endpoint: who we are, what we bring, and the token that comes of it.

RFC 6749 (sections 2.3 and 5), RFC 8707 (`resource`), RFC 7523 (signed assertions), RFC 9449 (DPoP).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from anyshape.client.auth.authorization_server import AuthorizationServer
from anyshape.client.auth.exchange import AuthReply, Exchange
from anyshape.client.auth.registration import Registration, describe_failure
from anyshape.client.auth.storage import TokenStorage
from anyshape.client.auth.token import HeldToken, read_token
from anyshape.client.quoting import without_secrets
from anyshape.errors import AuthorizationError
from anyshape.protocol.issuers import basic_credentials

if TYPE_CHECKING:
    from anyshape.client.auth.dpop import ProofKey

_WHAT = "the token endpoint"
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_SECRET_FIELDS = ("client_secret", "refresh_token", "code", "code_verifier", "assertion")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """A wish for a token: from whom, for which resource, with which scopes."""

    exchange: Exchange
    server: AuthorizationServer
    resource: str
    scopes: tuple[str, ...]
    storage: TokenStorage
    proof_key: ProofKey | None = None
    """The key that the token is to be bound to."""


async def ask_token(
    request: AccessRequest, client: Registration, fields: Mapping[str, str]
) -> HeldToken:
    """Return the token that the token endpoint gives for a grant."""
    server = request.server
    sent = {**fields, "resource": request.resource}
    reply = await send_form(request, server.token_endpoint, client, sent)
    what = f"{_WHAT} of {without_secrets(server.issuer)}"
    if not reply.is_good:
        secrets = [client.client_secret, *(sent.get(name) for name in _SECRET_FIELDS)]
        raise describe_failure(what, reply, secrets)
    token = read_token(
        reply.members, issuer=server.issuer, resource=request.resource, requested=request.scopes
    )
    if client.is_ours:
        token = replace(token, client=client.write())
    if request.proof_key is None:
        if token.scheme != "Bearer":
            raise AuthorizationError(f"{what} gave a token bound to a key that nobody offered")
        return token
    if token.scheme != "DPoP":
        raise AuthorizationError(f"{what} gave a token that is not bound to our key")
    return replace(token, key=request.proof_key.write())


async def send_form(
    request: AccessRequest, url: str, client: Registration, fields: Mapping[str, str]
) -> AuthReply:
    """Send a form as a client, with a proof if there is a key; once more if it lacks a nonce."""
    key = request.proof_key

    async def send(nonce: str | None) -> AuthReply:
        sent, headers = _identify(request.server, client, fields)
        if key is not None:
            headers["DPoP"] = key.prove("POST", url, nonce=nonce)
        return await request.exchange.post_form(url, _WHAT, sent, headers)

    reply = await send(None)
    wants_nonce = reply.members.get("error") == "use_dpop_nonce" and reply.nonce is not None
    return await send(reply.nonce) if key is not None and wants_nonce else reply


def _identify(
    server: AuthorizationServer, client: Registration, fields: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the form and the headers by which the endpoint knows the client."""
    match client.method:
        case "client_secret_basic":
            shown = basic_credentials(client.client_id, client.client_secret or "")
            # The id is in the form too, where servers of `mcp` look for it.
            return {**fields, "client_id": client.client_id}, {"Authorization": shown}
        case "client_secret_post":
            secret = client.client_secret or ""
            return {**fields, "client_id": client.client_id, "client_secret": secret}, {}
        case "private_key_jwt" if client.key is not None:
            statement = client.key.identify(client.client_id, server.issuer)
            return {
                **fields,
                "client_assertion_type": _ASSERTION,
                "client_assertion": statement,
            }, {}
        case "none":
            return {**fields, "client_id": client.client_id}, {}
        case other:
            raise AuthorizationError(f"{_WHAT} wants {other!r}, which this client cannot do")
