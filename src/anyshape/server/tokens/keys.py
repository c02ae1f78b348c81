"""The public keys of an issuer: where they are published, how long they are believed, and which of
them could have signed a token.

Keys are fetched when the first token comes, and again, behind the back of requests, once they are
not fresh. A token that names a key nobody knows has them fetched at once, for keys are changed; but
never more often than `_PAUSE` allows, whatever tokens say. https://www.rfc-editor.org/rfc/rfc7517
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from anyshape.errors import VerifierUnavailable
from anyshape.protocol.issuers import description_places
from anyshape.server.tokens.issuer_requests import ask, check_url

PublicKey: TypeAlias = ECKey | RSAKey | OKPKey

_FRESH: Final = 300.0
"""Seconds after which keys are fetched again, while those known still serve."""
_BELIEVED: Final = 3600.0
"""Seconds after which keys that could not be fetched again serve no more."""
_PAUSE: Final = 10.0
"""Seconds between two fetches, at least."""
_MOST_KEYS: Final = 100
_MOST_TRIED: Final = 4
_RSA_BITS: Final = range(2048, 8192 + 1)

_KINDS: Final[Mapping[str, type[PublicKey]]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
_KIND_OF: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}

_log = logging.getLogger("anyshape.server")


class TokenHeader(msgspec.Struct, gc=False, frozen=True):
    """What a token says of its own signature; keys and places that it names are not looked at."""

    alg: str
    kid: str | None = None
    typ: str | None = None


class _IssuerDescription(msgspec.Struct, gc=False, frozen=True):
    issuer: str
    jwks_uri: str


class _PublishedSet(msgspec.Struct, gc=False, frozen=True):
    keys: list[dict[str, Any]]


_read_description: Final = msgspec.json.Decoder(_IssuerDescription).decode
_read_set: Final = msgspec.json.Decoder(_PublishedSet).decode


@dataclass(frozen=True, slots=True)
class _KnownKey:
    key: PublicKey
    kind: str
    kid: str | None
    algorithm: str | None

    def may_have_signed(self, header: TokenHeader) -> bool:
        return (
            self.kind == _KIND_OF.get(header.alg[:2])
            and self.algorithm in (None, header.alg)
            and header.kid in (None, self.kid)
        )


class FixedKeys:
    """Keys that were handed over, and stay."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        try:
            self._keys = _usable(msgspec.convert(document, _PublishedSet).keys)
        except msgspec.ValidationError as error:
            raise ValueError(f"keys: expected a JSON Web Key Set, {error}") from None
        if not self._keys:
            raise ValueError(f"keys: expected public keys ({', '.join(_KINDS)}), found none")

    async def find(self, header: TokenHeader) -> list[PublicKey]:
        """Return the keys that could have signed a token with such a header."""
        return _choose(self._keys, header)


class PublishedKeys:
    """The keys that an issuer publishes, at `jwks_uri` or where its metadata says."""

    def __init__(self, issuer: str, jwks_uri: str | None, clock: Callable[[], float]) -> None:
        check_url(issuer, "issuer")
        if jwks_uri is not None:
            check_url(jwks_uri, "jwks_uri")
        self._issuer = issuer
        self._jwks_uri = jwks_uri
        self._clock = clock
        self._keys: tuple[_KnownKey, ...] = ()
        self._fetched = self._tried = -float("inf")
        self._failure: VerifierUnavailable | None = None
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, header: TokenHeader) -> list[PublicKey]:
        """Return the keys that could have signed a token with such a header."""
        age = self._clock() - self._fetched
        found = _choose(self._keys, header) if age < _BELIEVED else []
        if found:
            if age > _FRESH:
                self._fetch()
            return found
        fetching = self._fetch()
        if fetching is not None:
            await asyncio.shield(fetching)
        if self._failure is not None:
            raise VerifierUnavailable(str(self._failure))
        return _choose(self._keys, header)

    def _fetch(self) -> asyncio.Task[None] | None:
        """Return the fetch that is under way, or a new one if it is time."""
        loop = asyncio.get_running_loop()
        running = self._fetching
        if running is not None and not running.done() and running.get_loop() is loop:
            return running
        now = self._clock()
        if now - self._tried < _PAUSE:
            return None
        self._tried = now
        self._fetching = loop.create_task(self._renew())
        return self._fetching

    async def _renew(self) -> None:
        try:
            self._keys = await self._download()
        except VerifierUnavailable as error:
            self._failure = error
            _log.warning("the keys of an issuer are not to be had: %s", error)
        else:
            self._failure = None
            self._fetched = self._clock()

    async def _download(self) -> tuple[_KnownKey, ...]:
        url = self._jwks_uri or await self._discover()
        status, body = await ask(url, "the issuer's keys")
        if status != 200:
            raise VerifierUnavailable(f"the issuer's keys: HTTP {status}")
        try:
            published = _read_set(body).keys
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise VerifierUnavailable("the issuer's keys: expected a JSON Web Key Set") from None
        if len(published) > _MOST_KEYS:
            raise VerifierUnavailable(f"the issuer's keys: more than {_MOST_KEYS}")
        return _usable(published)

    async def _discover(self) -> str:
        what = "the issuer's metadata"
        for place in description_places(self._issuer):
            status, body = await ask(place, what)
            if status >= 500:
                raise VerifierUnavailable(f"{what}: HTTP {status}")
            if status != 200:
                continue
            try:
                described = _read_description(body)
                check_url(described.jwks_uri, "jwks_uri")
            except (ValueError, RecursionError):
                raise VerifierUnavailable(f"{what}: expected issuer and a safe jwks_uri") from None
            if described.issuer != self._issuer:
                raise VerifierUnavailable(f"{what}: they name another issuer")
            return described.jwks_uri
        raise VerifierUnavailable(f"{what}: there are none")


def _choose(keys: Iterable[_KnownKey], header: TokenHeader) -> list[PublicKey]:
    return [known.key for known in keys if known.may_have_signed(header)][:_MOST_TRIED]


def _usable(published: Iterable[Mapping[str, Any]]) -> tuple[_KnownKey, ...]:
    """Return the keys that are public, for signatures, and strong; others are passed over."""
    known: list[_KnownKey] = []
    for each in published:
        kind = each.get("kty")
        kid, algorithm = each.get("kid"), each.get("alg")
        if kind not in _KINDS or each.get("use", "sig") != "sig" or "d" in each:
            continue
        if not isinstance(kid, str | None) or not isinstance(algorithm, str | None):
            continue
        with contextlib.suppress(JoseError, ValueError, TypeError, KeyError):
            if kind == "RSA" and _bits(each["n"]) not in _RSA_BITS:
                continue
            known.append(_KnownKey(_KINDS[kind].import_key(dict(each)), kind, kid, algorithm))
    return tuple(known)


def _bits(number: str) -> int:
    """Return the length of a number that a key is made of."""
    padded = number + "=" * (-len(number) % 4)
    return int.from_bytes(base64.urlsafe_b64decode(padded), "big").bit_length()
