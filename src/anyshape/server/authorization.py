"""The resource-server side of authorization: tokens are verified, never issued.

A server that is given an `Authorization` answers unauthenticated requests with 401, a token that
lacks a scope with 403, and publishes where tokens come from (RFC 9728). See the authorization pages
of revision 2026-07-28; RFC 6750 defines the challenge.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable
from urllib.parse import urlsplit

import msgspec

from anyshape.protocol.issuers import RESOURCE_PLACE

_QUOTABLE: Final = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")
"""A scope (RFC 6749, section 3.3), and whatever else a challenge quotes."""
LONGEST_TOKEN: Final = 16 * 1024
"""Characters of a token that anybody looks at."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a verifier learned from a token: whose it is, what it allows, until when and for whom.

    `audience` names the resources the token was issued for; leave it `None` only when the verifier
    has checked that itself. `expires_at` is in seconds since the epoch.
    """

    subject: str
    client_id: str | None = None
    scopes: frozenset[str] = frozenset()
    expires_at: float | None = None
    audience: tuple[str, ...] | None = None
    claims: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)


@runtime_checkable
class TokenVerifier(Protocol):
    """Anything that can tell what a bearer token is worth.

    `JwtVerifier` and `Introspection` are there; both raise `VerifierUnavailable`, as any may, where
    they can say neither yes nor no, and the request is answered with 503.
    Where one scope implies others, the verifier names them all: scopes are compared as they are.
    """

    async def verify(self, token: str) -> AccessToken | None:
        """Return what the token stands for, or `None` when it is not to be trusted."""
        ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer to a request that may not pass: a status and a `WWW-Authenticate` challenge."""

    status: int
    challenge: str
    message: str


@dataclass(frozen=True, slots=True)
class Authorization:
    """How an HTTP server knows its callers.

    `resource` is the canonical URI of the MCP endpoint, the audience tokens must be issued for;
    `required_scopes` every request needs; `tool_scopes` and `prompt_scopes` add what single tools
    and prompts need, by their names, and `resource_scopes` what resources need, by URI or template:
    a URI needs the scopes of every template that it fits. What a caller's scopes do not allow is
    not listed to that caller, unless `list_everything` lets it be seen, and asked for, by all.
    """

    verifier: TokenVerifier
    resource: str
    authorization_servers: tuple[str, ...]
    required_scopes: tuple[str, ...] = ()
    tool_scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    scopes_supported: tuple[str, ...] = ()
    resource_name: str | None = None
    prompt_scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    resource_scopes: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]]
    )
    list_everything: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.resource)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.fragment:
            raise ValueError(
                f"resource has to be an absolute http(s) URI without a fragment, got "
                f"{self.resource!r}; use the URL clients connect to, like https://example.com/mcp"
            )
        if not _QUOTABLE.fullmatch(self.resource):
            raise ValueError(
                f"resource: expected a URI without quotes and spaces, got {self.resource!r}"
            )
        if isinstance(self.authorization_servers, str) or not self.authorization_servers:
            raise ValueError(
                "authorization_servers needs at least one issuer URL, in a tuple, got "
                f"{self.authorization_servers!r}"
            )
        _check_scopes("required_scopes", self.required_scopes)
        _check_scopes("scopes_supported", self.scopes_supported)
        for rule in ("tool_scopes", "prompt_scopes", "resource_scopes"):
            needed: Mapping[str, tuple[str, ...]] = getattr(self, rule)
            for name, scopes in needed.items():
                _check_scopes(f"{rule}[{name!r}]", scopes)

    @property
    def metadata_url(self) -> str:
        """Where clients find the metadata document: the well-known path, then the resource's."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}{RESOURCE_PLACE}{parts.path.rstrip('/')}"

    @property
    def metadata_paths(self) -> frozenset[str]:
        """The paths the metadata document is served at."""
        return frozenset(
            {RESOURCE_PLACE, RESOURCE_PLACE + urlsplit(self.resource).path.rstrip("/")}
        )

    def metadata(self) -> bytes:
        """Return the protected-resource metadata document (RFC 9728)."""
        document: dict[str, object] = {
            "resource": self.resource,
            "authorization_servers": list(self.authorization_servers),
            "bearer_methods_supported": ["header"],
        }
        if scopes := self.scopes_supported or self.required_scopes:
            document["scopes_supported"] = list(scopes)
        if self.resource_name is not None:
            document["resource_name"] = self.resource_name
        return msgspec.json.encode(document)

    async def admit(self, header: bytes | None) -> AccessToken | Refusal:
        """Return what the `Authorization` header proves, or the refusal to answer with."""
        if header is None:
            return self._unauthorized(None, "An access token is required")
        scheme, _, token = header.decode("latin-1").strip().partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer":
            return self._unauthorized(None, "An access token is required")
        if len(token) > LONGEST_TOKEN:
            return self._unauthorized("invalid_token", "The access token is too long")
        if not token:
            return self._unauthorized("invalid_request", "The bearer token is empty")
        if "," in token or " " in token:  # headers of the same name are joined by commas
            return self._unauthorized("invalid_request", "There is more than one bearer token")
        access = await self.verifier.verify(token)
        if access is None:
            return self._unauthorized("invalid_token", "The access token is not valid")
        if access.expires_at is not None and access.expires_at <= time.time():
            return self._unauthorized("invalid_token", "The access token has expired")
        if access.audience is not None and not self._is_meant(access.audience):
            return self._unauthorized("invalid_token", "The access token is for another resource")
        if not access.scopes.issuperset(self.required_scopes):
            return self._insufficient(self.required_scopes)
        return access

    def missing(self, access: AccessToken, needed: Iterable[str]) -> Refusal | None:
        """Return the refusal when the token lacks a scope that is needed beside the usual ones."""
        if access.scopes.issuperset(needed):
            return None
        return self._insufficient(tuple(dict.fromkeys((*self.required_scopes, *needed))))

    def _is_meant(self, audience: tuple[str, ...]) -> bool:
        resource = _canonical(self.resource)
        return any(_canonical(name) == resource for name in audience)

    def _unauthorized(self, error: str | None, message: str) -> Refusal:
        status = 400 if error == "invalid_request" else 401
        return Refusal(status, self._challenge(error, self.required_scopes, message), message)

    def _insufficient(self, scopes: tuple[str, ...]) -> Refusal:
        message = f"The access token lacks a scope: {' '.join(scopes)}"
        return Refusal(403, self._challenge("insufficient_scope", scopes, message), message)

    def _challenge(self, error: str | None, scopes: tuple[str, ...], message: str) -> str:
        parts = [] if error is None else [f'error="{error}"', f'error_description="{message}"']
        if scopes:
            parts.append(f'scope="{" ".join(scopes)}"')
        parts.append(f'resource_metadata="{self.metadata_url}"')
        return "Bearer " + ", ".join(parts)


def _check_scopes(where: str, scopes: Iterable[str]) -> None:
    """Raise `ValueError` unless these are scopes: a text would be taken for one of each letter."""
    if isinstance(scopes, str):
        raise ValueError(f"{where}: expected a tuple, got {scopes!r}; write ({scopes!r},)")
    for scope in scopes:
        if not _QUOTABLE.fullmatch(scope):
            raise ValueError(
                f"{where}: expected printable ASCII without spaces, quotes and backslashes in "
                f"each scope, got {scope!r}"
            )


def _canonical(uri: str) -> str:
    """Return the URI with scheme and host in lower case and no slash at its end."""
    parts = urlsplit(uri)
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}"
