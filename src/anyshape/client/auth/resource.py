"""The server as a protected resource: which authorization servers it trusts, and for which scopes.

https://www.rfc-editor.org/rfc/rfc9728 and
https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from anyshape.client.answers import as_list
from anyshape.client.auth.challenge import AuthChallenge
from anyshape.client.auth.exchange import AuthReply, Exchange
from anyshape.client.quoting import shorten, without_secrets
from anyshape.client.transports.origins import origin_of
from anyshape.errors import AuthorizationError
from anyshape.protocol.issuers import RESOURCE_PLACE

_WHAT: Final = "the server's resource metadata"
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """What a server says of itself as a protected resource."""

    resource: str
    """The identifier that tokens are asked for."""
    authorization_servers: tuple[str, ...]
    scopes: tuple[str, ...] | None


def canonical(url: str) -> str:
    """Return the identifier of a server by its URL: no query, no fragment, no bare slash."""
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, "", ""))


async def find_resource(
    exchange: Exchange, url: str, challenge: AuthChallenge
) -> ProtectedResource | None:
    """Return what the server at `url` says of itself; `None` if it says nothing anywhere."""
    named = challenge.resource_metadata
    if named is not None:
        reply = await exchange.get(named, _WHAT)
        if not reply.is_good:
            raise AuthorizationError(
                f"{_WHAT} at {without_secrets(named)}: HTTP {reply.status}, expected an object"
            )
        return _read(reply, url)
    parts = urlsplit(url)
    places = [
        urlunsplit((parts.scheme, parts.netloc, RESOURCE_PLACE + suffix, "", ""))
        for suffix in dict.fromkeys((parts.path.rstrip("/"), ""))
    ]
    reply = await exchange.find(places, _WHAT)
    return None if reply is None else _read(reply, url)


def _read(reply: AuthReply, url: str) -> ProtectedResource:
    resource: object = reply.members.get("resource")
    if not isinstance(resource, str) or not _covers(resource, url):
        raise AuthorizationError(
            f"{_WHAT} describe {shorten(str(resource), 100)!r}, not {without_secrets(url)}: "
            "a token for one must not be asked for by the other"
        )
    servers = strings(reply.members.get("authorization_servers"))
    if not servers:
        raise AuthorizationError(f"{_WHAT} name no authorization server")
    listed: object = reply.members.get("scopes_supported")
    scopes = strings(listed) if isinstance(listed, list) else None
    return ProtectedResource(resource, servers, scopes or None)


def _covers(resource: str, url: str) -> bool:
    """Say whether an identifier is that of the server at `url`, or of a part of it above that."""
    try:
        same = origin_of(resource) == origin_of(url)
    except ValueError:
        return False
    above, below = urlsplit(resource), urlsplit(url)
    if not same or "#" in resource or "@" in above.netloc:
        return False
    if above.query and above.query != below.query:
        return False
    return (below.path.rstrip("/") + "/").startswith(above.path.rstrip("/") + "/")


def strings(value: Any) -> tuple[str, ...]:
    """Return the strings of an array, in order and each once, up to a number."""
    return tuple(dict.fromkeys(each for each in as_list(value)[:_MOST] if isinstance(each, str)))
