"""Which hosts may be asked because a server named them.

A server names where it is described, that names authorization servers, and those name endpoints: a
stranger's words would have this process send requests to wherever it can reach. So addresses are
vetted when they are connected to, whatever a name says at that moment:

- a server on the public internet may name public addresses only;
- one in a private network may name private ones too, one on this machine those of this machine;
- link-local, multicast and other special addresses are never asked;
- the server itself, and what the caller wrote down (`OAuth(issuer=…)`), are trusted.

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from anyshape.addresses import is_literal, is_loopback, read_host, special_use
from anyshape.client.quoting import shorten, without_secrets
from anyshape.client.transports.origins import origin_of
from anyshape.errors import AuthorizationError

_CHARACTERS: Final = re.compile(r"(?:[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
_LONGEST: Final = 2048
_PUBLIC: Final = 0
_RANKS: Final = {"private": 1, "shared by a provider's customers (CGNAT)": 1, "loopback": 2}
_NEVER: Final = 3


class Reach:
    """What one server may have this client ask; `trusted` are URLs that the caller wrote down."""

    def __init__(self, server: str, trusted: Iterable[str] = ()) -> None:
        self._origins = {origin_of(url) for url in (server, *trusted)}
        self._hosts = {host for _, host, _ in self._origins}
        self._server = urlsplit(server).hostname or ""
        self._widest = _PUBLIC
        if is_literal(self._server):
            self._widest = min(_rank(special_use(self._server)), _NEVER - 1)
        elif is_loopback(self._server):
            self._widest = _RANKS["loopback"]

    def learn(self, peers: Iterable[str]) -> None:
        """Learn the addresses at which the server was reached; the most public of them counts.

        Its name is not looked up again for that: the answer could be another one by then.
        """
        ranks = [_rank(special_use(peer)) for peer in peers]
        if ranks and not is_literal(self._server) and not is_loopback(self._server):
            self._widest = min(*ranks, _NEVER - 1)

    def check(self, url: str, what: str) -> SplitResult:
        """Return a URL that may be asked or opened, taken apart; `AuthorizationError` says why not.

        A name is checked again, by its addresses, when it is connected to.
        """
        shown = f"{what} at {without_secrets(url[:_LONGEST])}"
        if len(url) > _LONGEST or not _CHARACTERS.fullmatch(url):
            raise AuthorizationError(f"{shown}: not a URL without fragment, of {_LONGEST} at most")
        try:
            parts = urlsplit(url)
            origin = origin_of(url)
        except ValueError:
            raise AuthorizationError(f"{shown}: its host or port is malformed") from None
        scheme, host, _ = origin
        if scheme not in ("http", "https") or "@" in parts.netloc or read_host(host) != host:
            raise AuthorizationError(f"{shown}: expected an https URL without a user name")
        if origin not in self._origins and scheme != "https" and not is_loopback(host):
            raise AuthorizationError(f"{shown}: expected https, got {scheme}")
        if is_literal(host):
            self.vet(host, host)
        elif is_loopback(host):
            self.vet(host, "127.0.0.1")  # before a browser is sent there
        return parts

    def vet(self, host: str, address: str) -> None:
        """Refuse an address that no server of this kind may name."""
        if host.lower() in self._hosts:
            return
        kind = special_use(address)
        if _rank(kind) > self._widest:
            raise AuthorizationError(
                f"{shorten(self._server, 60)} names {shorten(host, 60)}, whose address "
                f"{shorten(address, 60)} is {kind}; pass issuer=… if it is right"
            )


def _rank(kind: str | None) -> int:
    return _PUBLIC if kind is None else _RANKS.get(kind, _NEVER)


class VettingResolver(AbstractResolver):
    """Resolves names, and lets only those addresses of `host` through that may be asked."""

    def __init__(self, reach: Reach, host: str) -> None:
        self._reach = reach
        self._host = host
        self._resolver = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name; a proxy, which the caller chose, is not vetted."""
        found = await self._resolver.resolve(host, port, family)
        if host.lower() == self._host.lower():
            for entry in found:
                self._reach.vet(host, entry["host"])
        return found

    async def close(self) -> None:
        """Close the resolver."""
        await self._resolver.close()
