"""Access that an enterprise grants: its identity provider vouches for who signed in there.

https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/enterprise-managed-authorization.mdx
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from anyshape.client.auth.registered_client import ClientGrant, RegisteredClient
from anyshape.client.auth.registration import describe_failure
from anyshape.client.auth.session import AccessSession
from anyshape.client.auth.settings import AccessSettings
from anyshape.client.auth.token_endpoint import AccessRequest
from anyshape.client.auth.workload_identity import JWT_BEARER
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Http
from anyshape.client.quoting import shorten, without_secrets
from anyshape.errors import AuthorizationError

_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_TOKEN: Final = "urn:ietf:params:oauth:token-type:id_token"  # noqa: S105
_ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProvider:
    """The enterprise's identity provider, and the client as it is registered there."""

    token_endpoint: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterpriseManaged(AccessSettings):
    """Access for a person who signed in at an enterprise's identity provider.

    `id_token` gives the token of that sign-in; it goes to `provider` and nowhere else, and what the
    provider gives for it is good for one authorization server and one server. `client_id` and
    `client_secret` are of the client as the server's authorization server knows it, which is
    `issuer`, if given.
    """

    provider: IdentityProvider
    id_token: Callable[[], str | Awaitable[str]] = field(repr=False)
    client_id: str
    client_secret: str | None = field(default=None, repr=False)

    def source_for(self, url: str, http: Http, deadlines: Deadlines) -> AccessSession:
        """Return the credentials for the server at `url`."""
        client = RegisteredClient(self.client_id, self.client_secret)
        grant = ClientGrant(client, self._bring, is_personal=True)
        return AccessSession(url, http, grant, self, deadlines, self.provider.token_endpoint)

    async def _bring(self, request: AccessRequest) -> dict[str, str]:
        return {"grant_type": JWT_BEARER, "assertion": await self._vouch(request)}

    async def _vouch(self, request: AccessRequest) -> str:
        """Have the identity provider vouch for the person, to one authorization server."""
        provider = self.provider
        id_token = self.id_token()
        if inspect.isawaitable(id_token):
            id_token = await id_token
        fields = {
            "grant_type": _EXCHANGE,
            "requested_token_type": _ID_JAG,
            "audience": request.server.issuer,
            "resource": request.resource,
            "subject_token": id_token,
            "subject_token_type": _ID_TOKEN,
            "client_id": provider.client_id,
        }
        if request.scopes:
            fields["scope"] = " ".join(request.scopes)
        if provider.client_secret is not None:
            fields["client_secret"] = provider.client_secret
        what = f"the identity provider at {without_secrets(provider.token_endpoint)}"
        reply = await request.exchange.post_form(
            provider.token_endpoint, "the identity provider", fields, {}
        )
        if not reply.is_good:
            raise describe_failure(what, reply, [id_token, provider.client_secret])
        word: object = reply.members.get("access_token")
        kind: object = reply.members.get("issued_token_type")
        if not isinstance(word, str) or kind != _ID_JAG:
            raise AuthorizationError(f"{what} gave {shorten(str(kind), 80)!r}, not an ID-JAG")
        return word
