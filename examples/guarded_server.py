"""A server that asks for access tokens, and a tool that knows whose token it was.

python examples/guarded_server.py
"""

import hmac
import os

from anyshape import Context, Server
from anyshape.server import AccessToken, Authorization, HttpOptions

RESOURCE = "https://mcp.example.com/mcp"

server = Server("notes")


@server.tool
async def my_name(context: Context) -> str:
    """Say who is calling."""
    access: AccessToken = context.access
    return access.subject


@server.tool
async def erase_notes() -> int:
    """Erase every note and say how many there were."""
    return 0


class SharedSecret:
    """One token, known beforehand; a real verifier checks a signature or asks the issuer."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def verify(self, token: str) -> AccessToken | None:
        """Return what the token stands for, or `None`."""
        if not hmac.compare_digest(token.encode(), self._secret.encode()):
            return None
        return AccessToken("ada", scopes=frozenset({"notes:read"}), audience=(RESOURCE,))


options = HttpOptions(
    allowed_hosts=("mcp.example.com",),
    authorization=Authorization(
        verifier=SharedSecret(os.environ.get("NOTES_TOKEN", "change me")),
        resource=RESOURCE,
        authorization_servers=("https://auth.example.com",),
        required_scopes=("notes:read",),
        tool_scopes={"erase_notes": ("notes:write",)},
    ),
)

if __name__ == "__main__":
    server.run("http", options=options)
