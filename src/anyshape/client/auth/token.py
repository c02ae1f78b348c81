"""An access token and all that belongs to it: what it is for, who gave it, how to renew it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, cast

from anyshape.client.answers import as_string
from anyshape.client.quoting import shorten
from anyshape.errors import AuthorizationError

_EARLY: Final = 30.0
_LONGEST: Final = 32 * 1024
MOST_SECONDS: Final = 1e11
"""The most seconds that are believed: an integer in JSON may be larger than any float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldToken:
    """A token for one server, from one authorization server."""

    value: str = field(repr=False)
    scheme: str
    """`Bearer` or `DPoP`."""
    issuer: str
    resource: str
    requested: tuple[str, ...] = ()
    """The scopes that were asked for, here and before."""
    granted: tuple[str, ...] | None = None
    """The scopes that were given, if that was said."""
    expires: float | None = None
    """When it ends, in seconds since 1970."""
    refresh: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    """The private key that it is bound to, as a JWK."""
    client: str | None = field(default=None, repr=False)
    """The client that it was given to, unless only the caller can say who that is: another login
    may have registered another one since, which could not renew this token."""

    @property
    def authorization(self) -> str:
        """The `Authorization` header that carries it."""
        return f"{self.scheme} {self.value}"

    @property
    def is_stale(self) -> bool:
        """Whether it has ended, or is about to."""
        return self.expires is not None and time.time() > self.expires - _EARLY

    def write(self) -> str:
        """Return it as a text to keep."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> HeldToken | None:
        """Return what `write` wrote; `None` if it is something else."""
        try:
            saved = cast("dict[str, Any]", json.loads(text))
            for name in ("requested", "granted"):
                if saved[name] is not None:
                    saved[name] = tuple(saved[name])
            return cls(**saved)
        except (ValueError, TypeError, KeyError, RecursionError):
            return None


def read_token(
    members: Mapping[str, Any], *, issuer: str, resource: str, requested: Sequence[str]
) -> HeldToken:
    """Return the token in the answer of a token endpoint (RFC 6749, section 5.1)."""
    value, kind = members.get("access_token"), members.get("token_type")
    if not isinstance(value, str) or not (value and value.isascii() and value.isprintable()):
        raise AuthorizationError("the token endpoint gave no access token that a header can carry")
    if len(value) > _LONGEST or " " in value:
        raise AuthorizationError("the token endpoint gave an access token that no header can carry")
    scheme = {"bearer": "Bearer", "dpop": "DPoP"}.get(str(kind).lower())
    if scheme is None:
        raise AuthorizationError(
            f"the token endpoint gave a token of type {shorten(str(kind), 40)!r}, expected Bearer"
        )
    lifetime: object = members.get("expires_in")
    seconds = lifetime if isinstance(lifetime, int | float) else None
    scope = as_string(members.get("scope"))
    return HeldToken(
        value=value,
        scheme=scheme,
        issuer=issuer,
        resource=resource,
        requested=tuple(requested),
        granted=None if scope is None else tuple(scope.split()),
        expires=None if seconds is None else time.time() + min(max(0.0, seconds), MOST_SECONDS),
        refresh=as_string(members.get("refresh_token")),
    )
