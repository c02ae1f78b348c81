"""Signed statements (JWT), by joserfc; docs/internals/authorization.md says why that library.

Needs `anyshape[auth]`.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Sequence
from typing import Any, Final

try:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OKPKey, RSAKey
except ImportError as error:
    raise ImportError("signing needs joserfc; pip install 'anyshape[auth]'") from error

_LIFETIME: Final = 300
_BY_CURVE: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}


def sign(
    header: dict[str, Any], claims: dict[str, Any], key: ECKey | RSAKey | OKPKey, algorithm: str
) -> str:
    """Return claims as a token, signed."""
    return jwt.encode({**header, "alg": algorithm}, claims, key, algorithms=[algorithm])


class ClientKey:
    """The private key of a client, by which it shows who it is (RFC 7523, section 2.2)."""

    def __init__(self, private_key: str, algorithm: str | None) -> None:
        self._key = _read(private_key)
        self.algorithm = algorithm or _usual(self._key)

    def identify(self, client_id: str, audience: str) -> str:
        """Return the statement that this is the client, to one authorization server, for now."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": client_id,
            "sub": client_id,
            "aud": audience,
            "jti": secrets.token_urlsafe(16),
            "iat": now,
            "exp": now + _LIFETIME,
        }
        header = {} if self._key.kid is None else {"kid": self._key.kid}
        return sign(header, claims, self._key, self.algorithm)

    def objection(self, accepted: Sequence[str]) -> str | None:
        """Say why an authorization server would not read its signature."""
        if accepted and self.algorithm not in accepted:
            return f"it reads {', '.join(accepted[:10])}, and the key signs with {self.algorithm}"
        return None


def _read(pem: str) -> ECKey | RSAKey | OKPKey:
    for kind in (ECKey, RSAKey, OKPKey):
        with contextlib.suppress(JoseError, ValueError, TypeError):
            key = kind.import_key(pem)
            if key.is_private:
                return key
    # What is wrong with it is not said: that might quote it.
    raise ValueError("private_key: expected a private key in PEM, without a password")


def _usual(key: ECKey | RSAKey | OKPKey) -> str:
    if isinstance(key, RSAKey):
        return "RS256"
    if isinstance(key, ECKey):
        return _BY_CURVE.get(key.curve_name, "ES256")
    return key.curve_name  # RFC 9864
