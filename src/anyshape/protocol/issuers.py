"""Where an authorization server describes itself, found by its issuer identifier.

https://www.rfc-editor.org/rfc/rfc8414#section-3, OpenID Connect Discovery 1.0, and
https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit, urlunsplit

__all__ = ["description_places"]

_OAUTH: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"


def description_places(issuer: str) -> tuple[str, ...]:
    """Return the URLs at which the metadata of an issuer may be, in the order to look."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    places = dict.fromkeys((_OAUTH + path, _OPENID + path, path + _OPENID))
    return tuple(urlunsplit((parts.scheme, parts.netloc, place, "", "")) for place in places)
