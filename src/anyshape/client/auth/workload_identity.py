"""Access for a workload by the identity that its platform gives it: a signed statement, exchanged.

SEP-1933; https://www.rfc-editor.org/rfc/rfc7523#section-2.1
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from anyshape.client.auth.registered_client import ClientGrant, RegisteredClient
from anyshape.client.auth.session import AccessSession
from anyshape.client.auth.settings import AccessSettings
from anyshape.client.auth.token_endpoint import AccessRequest
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Http

JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"

Assertion: TypeAlias = Callable[[str], str | Awaitable[str]]
"""Gives the platform's statement (a JWT) for an audience, the issuer that will read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadIdentity(AccessSettings):
    """Access for a workload, such as a pod or a CI job, that has no secret of its own.

    `assertion` is asked for a fresh statement each time a token is needed, for the authorization
    server that will read it; a statement for another audience would be refused there, and one that
    is good anywhere could be used by a dishonest server. `issuer` is the only authorization server
    to use, if given.
    """

    client_id: str
    assertion: Assertion = field(repr=False)

    def source_for(self, url: str, http: Http, deadlines: Deadlines) -> AccessSession:
        """Return the credentials for the server at `url`."""
        grant = ClientGrant(RegisteredClient(self.client_id), self._bring)
        return AccessSession(url, http, grant, self, deadlines)

    async def _bring(self, request: AccessRequest) -> dict[str, str]:
        statement = self.assertion(request.server.issuer)
        if inspect.isawaitable(statement):
            statement = await statement
        return {"grant_type": JWT_BEARER, "assertion": statement}
