"""Authorization servers: where one describes itself, and how it is told who asks.

https://www.rfc-editor.org/rfc/rfc8414#section-3, OpenID Connect Discovery 1.0, and
https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
"""

from __future__ import annotations

import base64
from typing import Final
from urllib.parse import quote_plus, urlsplit, urlunsplit

RESOURCE_PLACE: Final = "/.well-known/oauth-protected-resource"
"""Where a server says which authorization servers it trusts; its own path follows."""
_OAUTH: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"


def description_places(issuer: str) -> tuple[str, ...]:
    """Return the URLs at which the metadata of an issuer may be, in the order to look."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    places = dict.fromkeys((_OAUTH + path, _OPENID + path, path + _OPENID))
    return tuple(urlunsplit((parts.scheme, parts.netloc, place, "", "")) for place in places)


def basic_credentials(client_id: str, client_secret: str) -> str:
    """Return the `Authorization` header by which a client is known (RFC 6749, section 2.3.1)."""
    pair = f"{quote_plus(client_id)}:{quote_plus(client_secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
