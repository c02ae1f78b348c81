"""A server of the official Python SDK, which puts every value but objects into an envelope."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

server = MCPServer("foreign", log_level="ERROR")


class User(BaseModel):
    id: int
    name: str


@server.tool()
def list_users(limit: int = 10) -> list[User]:
    """List the users."""
    return [User(id=1, name="Ada"), User(id=2, name="Grace")][:limit]


@server.tool()
def count() -> int:
    """Count the users."""
    return 2


@server.tool()
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


if __name__ == "__main__":
    server.run("stdio")
