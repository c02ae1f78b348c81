"""A client that was registered by hand, and the grants that it gets without anybody signing in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from anyshape.client.auth.registration import Registration, secret_method
from anyshape.client.auth.token import HeldToken
from anyshape.client.auth.token_endpoint import AccessRequest, ask_token
from anyshape.client.quoting import without_secrets
from anyshape.errors import AuthorizationError

if TYPE_CHECKING:
    from anyshape.client.auth.signing import ClientKey


class RegisteredClient:
    """Shows who it is with a key or a secret, or only says it."""

    def __init__(
        self,
        client_id: str,
        client_secret: str | None = None,
        private_key: str | None = None,
        *,
        algorithm: str | None = None,
    ) -> None:
        self.client_id = client_id
        self._secret = client_secret
        self._key: ClientKey | None = None
        if private_key is not None:
            from anyshape.client.auth.signing import ClientKey

            self._key = ClientKey(private_key, algorithm)

    async def known_client(self, request: AccessRequest) -> Registration:
        """Return who this client is at an authorization server."""
        server, key = request.server, self._key
        if key is not None:
            objection = key.objection(server.signing_algorithms)
            if objection is not None:
                raise AuthorizationError(f"{without_secrets(server.issuer)}: {objection}")
            return Registration(client_id=self.client_id, method="private_key_jwt", key=key)
        if self._secret is None:
            return Registration(client_id=self.client_id)
        method = secret_method(server)
        return Registration(client_id=self.client_id, client_secret=self._secret, method=method)

    async def forget_client(self, request: AccessRequest) -> None:
        """Do nothing: the caller knows who this client is."""


class ClientGrant:
    """A token for a client, by what `bring` brings: the fields of the grant.

    One that `is_personal` is for a person, who would not like to be asked often.
    """

    def __init__(
        self,
        client: RegisteredClient,
        bring: Callable[[AccessRequest], Awaitable[dict[str, str]]],
        *,
        is_personal: bool = False,
    ) -> None:
        self.is_personal = is_personal
        self.bound_client = client.client_id
        self.known_client = client.known_client
        self.forget_client = client.forget_client
        self._bring = bring

    async def obtain(self, request: AccessRequest) -> HeldToken:
        """Return a token; a refusal is final."""
        fields = await self._bring(request)
        if request.scopes:
            fields["scope"] = " ".join(request.scopes)
        return await ask_token(request, await self.known_client(request), fields)
