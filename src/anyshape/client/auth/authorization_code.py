"""A token for a person who signs in: the authorization code grant, always with PKCE (S256).

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from anyshape.client.auth.authorization_server import AuthorizationServer
from anyshape.client.auth.login import Login
from anyshape.client.auth.registered_client import RegisteredClient
from anyshape.client.auth.registration import Registration, register
from anyshape.client.auth.token import HeldToken
from anyshape.client.auth.token_endpoint import AccessRequest, ask_token
from anyshape.client.quoting import shorten, without_secrets
from anyshape.errors import AuthorizationError

_MOST_FIELDS: Final = 50
_ONCE: Final = ("code", "state", "iss", "error", "error_description")


@dataclass(frozen=True, slots=True)
class _Visit:
    """One authorization request, and what its answer is held against."""

    server: AuthorizationServer
    client: Registration
    redirect_uri: str
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(64), repr=False)

    def url(self, request: AccessRequest) -> str:
        """Return where the person is to be sent."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        wanted = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": self.redirect_uri,
            "state": self.state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "resource": request.resource,
        }
        if request.scopes:
            wanted["scope"] = " ".join(request.scopes)
        if "offline_access" in request.scopes:
            wanted["prompt"] = "consent"  # OpenID Connect Core, section 11
        parts = urlsplit(self.server.authorization_endpoint or "")
        query = "&".join(filter(None, (parts.query, urlencode(wanted))))
        return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))

    def read(self, answer: str) -> str:
        """Return the code in an answer that is to this request and from this server."""
        try:
            place, query = _place(answer), urlsplit(answer).query
            given = parse_qs(query, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise AuthorizationError("the answer is no address that anybody is sent to") from None
        if place != _place(self.redirect_uri):
            raise AuthorizationError("the answer did not come to the redirect URI")
        if any(len(given.get(name, ())) > 1 for name in _ONCE):
            raise AuthorizationError("the answer of the authorization server repeats a parameter")
        said = {name: values[0] for name, values in given.items()}
        if not hmac.compare_digest(said.get("state", "").encode(), self.state.encode()):
            raise AuthorizationError("the answer is to another request than ours (wrong state)")
        issuer = self.server.issuer
        if "iss" not in said and self.server.sends_issuer:
            raise AuthorizationError(
                f"the answer does not say that it is from {without_secrets(issuer)} (no iss)"
            )
        # RFC 9207: as strings. What another server says, errors included, is not even shown.
        if said.get("iss", issuer) != issuer:
            raise AuthorizationError(
                f"the answer is from another authorization server than {without_secrets(issuer)}"
            )
        if "error" in said:
            error = shorten(said["error"], 60)
            more = shorten(said.get("error_description", ""), 200)
            reason = f"{error} ({more})" if more else error
            raise AuthorizationError(f"not authorized: {reason}", error=error)
        if not said.get("code"):
            raise AuthorizationError("the answer of the authorization server has no code")
        return said["code"]


def _place(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower(), parts.path


class AuthorizationCode:
    """Has a person sign in; `pause` stops the clock of requests meanwhile.

    The client is `registered`, if somebody did that by hand, or else `described` by a document,
    where such are read, or else registers itself under a `name`.
    """

    def __init__(
        self,
        name: str,
        registered: RegisteredClient | None,
        described: RegisteredClient | None,
        login: Login,
        pause: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._name = name
        self._registered = registered
        self._described = described
        self._login = login
        self._pause = pause

    is_personal = True

    @property
    def bound_client(self) -> str | None:
        """The client that the caller registered, if any: only one server may hear of it."""
        return None if self._registered is None else self._registered.client_id

    async def obtain(self, request: AccessRequest) -> HeldToken:
        """Return a token that a person agreed to."""
        server = request.server
        if server.authorization_endpoint is None:
            raise AuthorizationError(
                f"{without_secrets(server.issuer)} has no authorization endpoint to sign in at"
            )
        if "S256" not in server.challenge_methods:
            raise AuthorizationError(
                f"{without_secrets(server.issuer)} does not say that it supports PKCE with S256, "
                "without which codes can be stolen"
            )
        known = await self.known_client(request)
        with self._pause():
            async with self._login.open(known and known.redirect_uri) as login:
                client = await self._introduce(request, known, login.redirect_uri)
                visit = _Visit(server, client, login.redirect_uri)
                code = visit.read(await login.authorize(visit.url(request), visit.state))
        return await ask_token(
            request,
            client,
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": visit.redirect_uri,
                "code_verifier": visit.verifier,
            },
        )

    async def known_client(self, request: AccessRequest) -> Registration | None:
        """Return who this client is there already, if it is anybody."""
        if self._registered is not None:
            return await self._registered.known_client(request)
        if self._described is not None and request.server.reads_client_documents:
            return await self._described.known_client(request)
        saved = await request.storage.load(client_key(request.server.issuer))
        return None if saved is None else Registration.read(saved)

    async def forget_client(self, request: AccessRequest) -> None:
        """Forget a registration that the authorization server no longer knows."""
        await request.storage.delete(client_key(request.server.issuer))

    async def _introduce(
        self, request: AccessRequest, known: Registration | None, redirect_uri: str
    ) -> Registration:
        if known is not None and known.serves(redirect_uri, request.scopes):
            return known
        client = await register(
            request.exchange,
            request.server,
            name=self._name,
            redirect_uri=redirect_uri,
            scopes=request.scopes,
            dpop=request.proof_key is not None,
        )
        await request.storage.save(client_key(request.server.issuer), client.write())
        return client


def client_key(issuer: str) -> str:
    """Return the key under which a registration with an authorization server is kept."""
    return f"client {issuer}"
