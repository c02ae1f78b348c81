"""Access tokens that are signed (JWT): believed by the signature of their issuer.

https://www.rfc-editor.org/rfc/rfc9068 and the advice of https://www.rfc-editor.org/rfc/rfc8725.
Signatures are checked by joserfc; needs `anyshape[auth]`.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

try:
    from joserfc import jws
    from joserfc.errors import JoseError
    from joserfc.jwa import JWSAlgModel
except ImportError as error:
    raise ImportError("checking JWTs needs joserfc; pip install 'anyshape[auth]'") from error

from anyshape.server.authorization import AccessToken
from anyshape.server.tokens.claims import TokenClaims, access_by
from anyshape.server.tokens.keys import FixedKeys, PublicKey, PublishedKeys, TokenHeader

_USUAL: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519", "EdDSA"),
)
_POSSIBLE: Final = frozenset({*_USUAL, "Ed448"})
_TYPES: Final = frozenset({None, "jwt", "at+jwt", "application/at+jwt"})
"""What a token may call itself: a proof, a logout or an event is signed by the same keys."""
_LONGEST_HEADER: Final = 4096

_read_header: Final = msgspec.json.Decoder(TokenHeader).decode
_read_claims: Final = msgspec.json.Decoder(TokenClaims).decode
_read_all: Final = msgspec.json.Decoder(dict[str, Any]).decode


class _Registry(jws.JWSRegistry):
    """Algorithms, among them the one that issuers still call EdDSA.

    RFC 9864 wants the curve in the name, and joserfc warns with every token that has none. The
    curve is the key's here, which comes from the issuer.
    """

    def get_alg(self, name: str) -> JWSAlgModel:
        """Return the algorithm of a name that is allowed."""
        if name == "EdDSA" and self.allowed and name in self.allowed:
            return self.algorithms[name]
        return super().get_alg(name)


class JwtVerifier:
    """Believes tokens that `issuer` has signed for `audience`.

    `audience` is what its tokens name this server by: with resource indicators that is the
    `resource` of `Authorization`, otherwise what was entered at the issuer; any one of several
    will do. Keys are found by the issuer's metadata, at `jwks_uri` if that is given, or are `keys`,
    a JSON Web Key Set. `leeway` is by how many seconds clocks may differ.
    """

    def __init__(
        self,
        issuer: str,
        audience: str | tuple[str, ...],
        *,
        jwks_uri: str | None = None,
        keys: Mapping[str, Any] | None = None,
        algorithms: tuple[str, ...] = _USUAL,
        leeway: float = 30.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Fetch nothing yet; `algorithms` may be fewer than the usual ones, all asymmetric."""
        self._issuer = issuer
        self._audience = frozenset((audience,) if isinstance(audience, str) else audience)
        if not self._audience or "" in self._audience:
            raise ValueError("audience: expected what tokens name this server by, got nothing")
        unfit = [name for name in algorithms if name not in _POSSIBLE]
        if unfit or not algorithms:
            raise ValueError(
                f"algorithms: expected some of {', '.join(sorted(_POSSIBLE))}, got {unfit}; "
                "with a shared secret, whoever checks tokens could make them"
            )
        if keys is not None and jwks_uri is not None:
            raise ValueError("expected either keys or jwks_uri, got both")
        self._keys = (
            FixedKeys(keys)
            if keys is not None
            else PublishedKeys(issuer, jwks_uri, clock or time.monotonic)
        )
        self._algorithms = frozenset(algorithms)
        self._registry = _Registry(algorithms=algorithms, strict_check_header=False)
        self._registry.max_header_length = _LONGEST_HEADER
        self._leeway = leeway
        self._clock = clock or time.time

    async def verify(self, token: str) -> AccessToken | None:
        """Return what the token stands for, or `None`; `VerifierUnavailable` without keys."""
        header = _header_of(token)
        if header is None or header.alg not in self._algorithms:
            return None
        if (header.typ.lower() if header.typ else None) not in _TYPES:
            return None
        for key in await self._keys.find(header):
            payload = self._payload(token, key)
            if payload is not None:
                return self._access(payload)
        return None

    def _payload(self, token: str, key: PublicKey) -> bytes | None:
        """Return what is in a token if this key has signed it."""
        with contextlib.suppress(JoseError, ValueError, TypeError, RecursionError):
            return jws.deserialize_compact(token, key, registry=self._registry).payload
        return None

    def _access(self, payload: bytes) -> AccessToken | None:
        try:
            claims, said = _read_claims(payload), _read_all(payload)
        except (ValueError, RecursionError):
            return None
        if claims.iss != self._issuer or claims.exp is None:
            return None
        if not claims.is_good(self._audience, self._clock(), self._leeway):
            return None
        return access_by(claims, self._leeway, said)


def _header_of(token: str) -> TokenHeader | None:
    """Return how a token says that it is signed, `None` if it is no signed token."""
    first, _, rest = token.partition(".")
    if rest.count(".") != 1 or len(first) > _LONGEST_HEADER:
        return None
    try:
        return _read_header(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
