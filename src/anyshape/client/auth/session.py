"""The token of one client for one server: loaded, got, renewed, widened, kept.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization. What a server asks for
is found out anew with every refusal, so a server may move to another authorization server.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from anyshape.client.auth.authorization_server import (
    AuthorizationServer,
    assume_server,
    find_server,
)
from anyshape.client.auth.challenge import AuthChallenge, read_challenge
from anyshape.client.auth.exchange import Exchange
from anyshape.client.auth.reach import Reach
from anyshape.client.auth.registration import Registration
from anyshape.client.auth.resource import ProtectedResource, canonical, find_resource
from anyshape.client.auth.settings import AccessSettings
from anyshape.client.auth.storage import SharedStorage
from anyshape.client.auth.token import HeldToken
from anyshape.client.auth.token_endpoint import AccessRequest, ask_token
from anyshape.client.authorizer import RefusedRequest
from anyshape.client.deadlines import Deadlines
from anyshape.client.options import Http
from anyshape.client.quoting import shorten, without_secrets
from anyshape.errors import AuthorizationError

if TYPE_CHECKING:
    from anyshape.client.auth.authorization_code import AuthorizationCode
    from anyshape.client.auth.dpop import ProofKey
    from anyshape.client.auth.registered_client import ClientGrant

logger = logging.getLogger(__name__)

_PARTING: Final = 5.0
"""Seconds that a request which was given up waits for a token that is being refreshed."""


TokenGrant: TypeAlias = "AuthorizationCode | ClientGrant"
"""A way to get a first token."""


def token_key(url: str) -> str:
    """Return the key under which the token for a server is kept."""
    return f"token {canonical(url)}"


class _Origin(Enum):
    """Where the token comes from that is held."""

    KEPT = "storage"
    REFRESHED = "the one before"
    OBTAINED = "a grant"


class AccessSession:
    """Gives the requests to one server their token."""

    def __init__(
        self,
        url: str,
        http: Http,
        grant: TokenGrant,
        settings: AccessSettings,
        deadlines: Deadlines,
        *trusted: str,
    ) -> None:
        """Prepare for the server at `url`; its caller wrote the URLs `trusted` down."""
        if settings.issuer is not None:
            trusted = (*trusted, settings.issuer)
        self._url = url
        self._deadlines = deadlines
        self._exchange = Exchange(Reach(url, trusted), http)
        self._grant = grant
        self._settings = settings
        self._token: HeldToken | None = None
        self._is_loaded = False
        self._origin = _Origin.KEPT
        self._unrefreshable: HeldToken | None = None
        self._key: ProofKey | None = None
        self._nonce: str | None = None

    # What a transport asks.

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """Return the headers with the token, if there is one yet."""
        if not self._is_loaded:
            async with self._turn(is_shared=False):
                await self._load()
        token = self._token
        if token is not None and token.is_stale and token.refresh is not None:
            token = await self._refresh_early(token)
        if token is None:
            return {}
        carried = {"Authorization": token.authorization}
        if token.key is not None:
            key = self._proof_key(token.key)
            carried["DPoP"] = key.prove(method, url, token=token.value, nonce=self._nonce)
        return carried

    def heed(self, nonce: str | None) -> None:
        """Use the nonce of the last answer for the next proof."""
        self._nonce = nonce or self._nonce

    async def renew(self, refusal: RefusedRequest) -> bool:
        """Get a token that the server may like better; say whether there is one to try."""
        challenge = read_challenge(refusal.challenges)
        refused = refusal.sent.get("Authorization")
        self._exchange.reach.learn(refusal.peers)
        async with self._turn():
            await self._load(other_than=refused)
            token = self._token
            if token is not None and token.authorization != refused:
                return True  # another request was refused before, and got it
            if challenge.error == "use_dpop_nonce" and refusal.nonce is not None:
                self.heed(refusal.nonce)
                return token is not None
            if refusal.status == 403:
                return await self._widen(token, challenge)
            if self._origin is _Origin.OBTAINED and refusal.attempt:
                return False  # the best we can get is not good enough
            was_refreshed = self._origin is _Origin.REFRESHED and bool(refusal.attempt)
            return await self._get(token, challenge, may_refresh=not was_refreshed)

    # Getting tokens.

    @asynccontextmanager
    async def _turn(self, *, is_shared: bool = True) -> AsyncGenerator[None]:
        """Wait until nobody else gets a token for this server: a person may be signing in."""
        key = token_key(self._url)
        storage = self._settings.storage
        async with AsyncExitStack() as held:
            with self._deadlines.paused():
                await held.enter_async_context(self._settings.turns.of(key))
                if is_shared and isinstance(storage, SharedStorage):
                    await held.enter_async_context(storage.turn(key))
            yield

    async def _widen(self, token: HeldToken | None, challenge: AuthChallenge) -> bool:
        """Ask for the scopes that a request lacks, unless they were asked for in vain."""
        if token is None or challenge.error != "insufficient_scope":
            return False
        if challenge.scopes is not None and set(challenge.scopes) <= set(token.requested):
            return False
        return await self._get(token, challenge, may_refresh=False, must_widen=True)

    async def _get(
        self,
        token: HeldToken | None,
        challenge: AuthChallenge,
        *,
        may_refresh: bool,
        must_widen: bool = False,
    ) -> bool:
        """Get a token for what is asked; `False` if it would be asked for as before, in vain."""
        found = await find_resource(self._exchange, self._url, challenge)
        server = await self._choose_server(found, token)
        await self._check_binding(server)
        if token is not None and token.issuer != server.issuer:
            token = None  # what another authorization server gave is of no use here
        request = self._request(server, found, challenge, token)
        if token is not None and token.refresh is not None and may_refresh:
            try:
                await self._exchange_token(request, token)
                return True
            except AuthorizationError as error:
                if error.error is None:
                    raise
                await self._load(other_than=token.authorization)
                if self._token is not token:
                    return True  # somebody was faster, who does not take turns with us
                if error.error == "invalid_client":
                    await self._grant.forget_client(request)
                logger.debug("the token could not be refreshed: %s", error)
        if must_widen and token is not None and set(request.scopes) <= set(token.requested):
            return False
        try:
            got = await self._grant.obtain(request)
        except AuthorizationError as error:
            if error.error == "invalid_client":
                await self._grant.forget_client(request)
            raise
        await self._keep(got, _Origin.OBTAINED)
        return True

    async def _choose_server(
        self, found: ProtectedResource | None, token: HeldToken | None
    ) -> AuthorizationServer:
        wanted = self._settings.issuer
        if found is None:
            if wanted is not None:
                return await find_server(self._exchange, wanted)
            return await assume_server(self._exchange, self._url)
        listed = found.authorization_servers
        if wanted is not None:
            if wanted not in listed:
                shown = shorten(", ".join(listed), 200)
                raise AuthorizationError(
                    f"{without_secrets(self._url)} trusts {shown}, not the issuer that was "
                    f"given, {without_secrets(wanted)}"
                )
            return await find_server(self._exchange, wanted)
        kept = token is not None and token.issuer in listed
        return await find_server(self._exchange, token.issuer if token and kept else listed[0])

    async def _check_binding(self, server: AuthorizationServer) -> None:
        """Show the credentials of a client only to the authorization server that they are for."""
        client = self._grant.bound_client
        if client is None or self._settings.issuer is not None:
            return
        key = f"issuer of {client} for {canonical(self._url)}"
        before = await self._settings.storage.load(key)
        if before is None:
            await self._settings.storage.save(key, server.issuer)
        elif before != server.issuer:
            raise AuthorizationError(
                f"{without_secrets(self._url)} moved to {without_secrets(server.issuer)}, but the "
                f"client was used with {without_secrets(before)}: register it there and pass "
                "issuer=…"
            )

    def _request(
        self,
        server: AuthorizationServer,
        found: ProtectedResource | None,
        challenge: AuthChallenge,
        token: HeldToken | None,
    ) -> AccessRequest:
        listed = (found.scopes if found is not None else None) or ()
        scopes = challenge.scopes or tuple(self._settings.scopes) or listed
        scopes = (*(token.requested if token is not None else ()), *scopes)
        if scopes and self._grant.is_personal and "offline_access" in server.scopes:
            scopes = (*scopes, "offline_access")
        return AccessRequest(
            exchange=self._exchange,
            server=server,
            resource=canonical(self._url) if found is None else found.resource,
            scopes=tuple(dict.fromkeys(scopes)),
            storage=self._settings.storage,
            proof_key=self._new_key(server) if self._settings.dpop else None,
        )

    async def _exchange_token(self, request: AccessRequest, token: HeldToken) -> None:
        """Refresh a token and keep what comes of it, though the request is given up meanwhile.

        A refresh token is good for once: if the answer went unheard, nothing would be left to show.
        """
        exchange = asyncio.ensure_future(self._refresh(request, token))
        try:
            await asyncio.shield(exchange)
        except asyncio.CancelledError:
            await asyncio.wait([exchange], timeout=_PARTING)
            if exchange.done():
                exchange.exception()  # nobody is there to hear of it
            raise
        finally:
            exchange.cancel()

    async def _refresh(self, request: AccessRequest, token: HeldToken) -> None:
        given_to = None if token.client is None else Registration.read(token.client)
        client = given_to or await self._grant.known_client(request)
        if client is None or token.refresh is None:
            raise AuthorizationError("this client is not registered", error="invalid_client")
        same = replace(
            request,
            resource=token.resource,
            scopes=token.requested,
            proof_key=None if token.key is None else self._proof_key(token.key),
        )
        fields = {"grant_type": "refresh_token", "refresh_token": token.refresh}
        new = await ask_token(same, client, fields)
        await self._keep(replace(new, refresh=new.refresh or token.refresh), _Origin.REFRESHED)

    async def _refresh_early(self, token: HeldToken) -> HeldToken | None:
        """Renew a token before a server refuses it; if that fails, the server may decide."""
        async with self._turn():
            await self._load(other_than=token.authorization)
            if self._token is not token or self._unrefreshable is token:
                return self._token
            try:
                server = await find_server(self._exchange, token.issuer)
                request = self._request(server, None, AuthChallenge(), token)
                await self._exchange_token(request, token)
            except AuthorizationError as error:
                logger.debug("the token could not be refreshed early: %s", error)
                self._unrefreshable = token
            return self._token

    # Keeping them.

    async def _load(self, other_than: str | None = None) -> None:
        """Take what is kept; another client may have renewed it."""
        text = await self._settings.storage.load(token_key(self._url))
        saved = None if text is None else HeldToken.read(text)
        if saved is not None and saved.authorization != other_than:
            self._token, self._origin = saved, _Origin.KEPT
        self._is_loaded = True

    async def _keep(self, token: HeldToken, origin: _Origin) -> None:
        self._token, self._origin = token, origin
        await self._settings.storage.save(token_key(self._url), token.write())

    # Proofs of possession.

    def _new_key(self, server: AuthorizationServer) -> ProofKey:
        from anyshape.client.auth.dpop import ALGORITHM, ProofKey

        if ALGORITHM not in server.dpop_algorithms:
            raise AuthorizationError(
                f"{without_secrets(server.issuer)} does not bind tokens to keys (DPoP with "
                f"{ALGORITHM})"
            )
        return ProofKey.generate()

    def _proof_key(self, text: str) -> ProofKey:
        from anyshape.client.auth.dpop import ProofKey

        if self._key is None or self._key.write() != text:
            self._key = ProofKey.read(text)
        return self._key
