"""FastMCP: decorated functions, with its own marker on every envelope."""

from __future__ import annotations

import hosting
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

server = FastMCP("peer")


class User(BaseModel):
    id: int
    name: str


@server.tool
def get_count() -> int:
    return 42


@server.tool
def list_users() -> list[User]:
    return [User.model_validate(user) for user in hosting.USERS]


@server.tool
def find_user(id: int) -> User:
    return User.model_validate(hosting.find(id))


@server.tool
def maybe_user(id: int) -> User | None:
    found = hosting.find(id)
    return None if found is None else User.model_validate(found)


@server.tool
def greet(name: str) -> str:
    return f"Hello, {name}"


@server.tool
def is_even(number: int) -> bool:
    return number % 2 == 0


@server.tool
def no_users() -> list[User]:
    return []


@server.tool
def fail(reason: str) -> str:
    raise ToolError(reason)


@server.tool
async def count_to(number: int, context: Context) -> int:
    for done in range(1, number + 1):
        await context.report_progress(done, number)
    return number


if __name__ == "__main__":
    if hosting.is_http():
        hosting.serve(server.http_app())
    elif hosting.is_sse():
        hosting.serve(server.http_app(transport="sse"))
    else:
        server.run("stdio", show_banner=False, log_level="ERROR")
