"""Access for a program in its own name: the client credentials grant.

https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/oauth-client-credentials.mdx
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anyshape.client.auth.registered_client import ClientGrant, RegisteredClient
from anyshape.client.auth.session import AccessSession
from anyshape.client.auth.settings import AccessSettings
from anyshape.client.auth.token_endpoint import AccessRequest
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Http


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials(AccessSettings):
    """Access for a program that was registered by hand, without anybody who signs in.

    It shows who it is with a `private_key` in PEM, which never leaves this process (needs
    `anyshape[auth]`; `algorithm` if the usual one of the key will not do), or with a
    `client_secret`. `issuer` is the authorization server it is registered with. Left out, the one
    that the server names first is believed, and stuck to: give it, lest a stranger gets the secret.
    """

    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    algorithm: str | None = None

    def __post_init__(self) -> None:
        AccessSettings.__post_init__(self)
        if (self.client_secret is None) == (self.private_key is None):
            raise ValueError("ClientCredentials: expected client_secret=… or private_key=…")

    def source_for(self, url: str, http: Http, deadlines: Deadlines) -> AccessSession:
        """Return the credentials for the server at `url`."""
        client = RegisteredClient(
            self.client_id, self.client_secret, self.private_key, algorithm=self.algorithm
        )
        return AccessSession(url, http, ClientGrant(client, _bring_nothing), self, deadlines)


async def _bring_nothing(request: AccessRequest) -> dict[str, str]:
    """Return the grant of a client that only shows who it is."""
    return {"grant_type": "client_credentials"}
