"""What a server says with a 401 or 403: the `WWW-Authenticate` header.

https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1 has the grammar, RFC 6750, RFC 9449 and
https://www.rfc-editor.org/rfc/rfc9728#section-5.1 the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from anyshape.protocol.headers import HEADER_WORD

_BETWEEN: Final = re.compile(r"[\s,]+")
_PART: Final = re.compile(
    rf'({HEADER_WORD})(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({HEADER_WORD})))?', re.DOTALL
)
_LONGEST: Final = 8192
_OURS: Final = frozenset({"bearer", "dpop"})


@dataclass(frozen=True, slots=True)
class AuthChallenge:
    """One challenge: `scheme` in lower case, and what it says."""

    scheme: str = "bearer"
    parameters: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def error(self) -> str | None:
        """Why the request was refused, as a code."""
        return self.parameters.get("error")

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """What the request needs; `None` if the server does not say."""
        named = self.parameters.get("scope", "").split()
        return tuple(dict.fromkeys(named)) or None

    @property
    def resource_metadata(self) -> str | None:
        """Where the server describes itself as a protected resource."""
        return self.parameters.get("resource_metadata")


def read_challenge(headers: Iterable[str]) -> AuthChallenge:
    """Return the first challenge that asks for a token; an empty one if there is none."""
    for header in headers:
        for challenge in _challenges(header[:_LONGEST]):
            if challenge.scheme in _OURS:
                return challenge
    return AuthChallenge()


def _challenges(header: str) -> list[AuthChallenge]:
    found: list[AuthChallenge] = []
    at = 0
    while at < len(header):
        between = _BETWEEN.match(header, at)
        if between is not None:
            at = between.end()
            continue
        part = _PART.match(header, at)
        if part is None:
            at += 1
            continue
        at = part.end()
        name, quoted, plain = part.groups()
        if quoted is None and plain is None:
            found.append(AuthChallenge(name.lower()))
        elif found:
            value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
            found[-1].parameters.setdefault(name.lower(), value)
    return found
