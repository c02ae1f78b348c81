"""A server that asks for access tokens, and a tool that knows whose token it was.

python examples/guarded_server.py
"""

from anyshape import Context, Server
from anyshape.server import AccessToken, Authorization, HttpOptions, JwtVerifier

RESOURCE = "https://mcp.example.com/mcp"
ISSUER = "https://auth.example.com"

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


options = HttpOptions(
    allowed_hosts=("mcp.example.com",),
    authorization=Authorization(
        verifier=JwtVerifier(ISSUER, audience=RESOURCE),
        resource=RESOURCE,
        authorization_servers=(ISSUER,),
        required_scopes=("notes:read",),
        tool_scopes={"erase_notes": ("notes:write",)},
        scopes_supported=("notes:read", "notes:write"),
    ),
)

if __name__ == "__main__":
    server.run("http", options=options)
