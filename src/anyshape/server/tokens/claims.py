"""What an issuer says of a token, in its claims or when it is asked: one reading of both.

https://www.rfc-editor.org/rfc/rfc9068#section-2.2 and https://www.rfc-editor.org/rfc/rfc7662
"""

from __future__ import annotations

from typing import Any

import msgspec

from anyshape.server.authorization import AccessToken


class TokenClaims(msgspec.Struct, gc=False, frozen=True):
    """The claims that decide whether a token is let in, and as whose."""

    iss: str | None = None
    sub: str | None = None
    aud: str | list[str] | None = None
    exp: float | None = None
    nbf: float | None = None
    scope: str | list[str] | None = None
    scp: str | list[str] | None = None
    client_id: str | None = None
    azp: str | None = None
    cnf: Any = None

    @property
    def audience(self) -> tuple[str, ...]:
        """Whom the token is for."""
        return (self.aud,) if isinstance(self.aud, str) else tuple(self.aud or ())

    @property
    def scopes(self) -> frozenset[str]:
        """What it allows: `scope` as the standard has it, `scp` as some issuers write it."""
        said = self.scp if self.scope is None else self.scope
        return frozenset(said.split() if isinstance(said, str) else said or ())

    def is_good(self, audience: frozenset[str] | None, now: float, leeway: float) -> bool:
        """Tell whether it is for one of these audiences, valid now, and good for any bearer.

        With `None` for the audience, whom it is for is checked by the caller. A token that is bound
        to a key (`cnf`) is refused: it needs a proof of that key, which nothing here asks for.
        """
        return (
            self.cnf is None
            and (audience is None or not audience.isdisjoint(self.audience))
            and (self.exp is None or now < self.exp + leeway)
            and (self.nbf is None or self.nbf <= now + leeway)
        )


def access_by(claims: TokenClaims, leeway: float, said: dict[str, Any]) -> AccessToken | None:
    """Return what the claims allow; `None` if they name nobody. Audiences have been checked."""
    client = claims.client_id or claims.azp
    subject = claims.sub or client
    if subject is None:
        return None
    return AccessToken(
        subject=subject,
        client_id=client,
        scopes=claims.scopes,
        expires_at=None if claims.exp is None else claims.exp + leeway,
        claims=said,
    )
