"""Tokens bound to a key: a proof that the key is ours goes with every request.

https://www.rfc-editor.org/rfc/rfc9449. Needs `anyshape[auth]`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from typing import Any, Final, cast
from urllib.parse import urlsplit, urlunsplit

from anyshape.client.auth.signing import ECKey, sign

ALGORITHM: Final = "ES256"


class ProofKey:
    """A private key that tokens are bound to."""

    def __init__(self, key: ECKey) -> None:
        self._key = key
        self._text = json.dumps(key.as_dict(private=True))
        self._header: dict[str, Any] = {
            "typ": "dpop+jwt",
            "jwk": {
                name: value
                for name, value in key.as_dict(private=False).items()
                if name in ("kty", "crv", "x", "y")
            },
        }

    @classmethod
    def generate(cls) -> ProofKey:
        """Return a new key."""
        return cls(ECKey.generate_key("P-256"))

    @classmethod
    def read(cls, text: str) -> ProofKey:
        """Return what `write` wrote."""
        return cls(ECKey.import_key(cast("dict[str, Any]", json.loads(text))))

    def write(self) -> str:
        """Return the private key as a text to keep."""
        return self._text

    def prove(
        self, method: str, url: str, *, token: str | None = None, nonce: str | None = None
    ) -> str:
        """Return the proof for one request, which holds for no other."""
        parts = urlsplit(url)
        claims: dict[str, Any] = {
            "jti": secrets.token_urlsafe(16),
            "htm": method,
            "htu": urlunsplit((parts.scheme, parts.netloc, parts.path, "", "")),
            "iat": int(time.time()),
        }
        if token is not None:
            digest = hashlib.sha256(token.encode("ascii")).digest()
            claims["ath"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if nonce is not None:
            claims["nonce"] = nonce
        return sign(self._header, claims, self._key, ALGORITHM)
