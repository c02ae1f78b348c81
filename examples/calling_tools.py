"""Call the same tools whatever the server's age, and get the same typed values."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from anyshape import Client, OutputMismatch, Server, ToolError, ValidationError
from anyshape.client import Progress

server = Server("people")


class User(BaseModel):
    """Someone with a name."""

    id: int
    name: str


@server.tool
def list_users() -> list[User]:
    return [User(id=1, name="Ada"), User(id=2, name="Grace")]


@server.tool
def find_user(id: int) -> User | None:
    return next((user for user in list_users() if user.id == id), None)


@server.tool
def rename(id: int, name: str) -> User:
    raise ToolError(f"user {id} is frozen")


def show(progress: Progress) -> None:
    print(progress.message or progress.progress)


async def main() -> None:
    for revision in ("2026-07-28", "2025-11-25", "2025-03-26"):
        # A URL or a command, such as ["python", "server.py"], works the same.
        async with Client(server, revision=revision) as client:
            users = await client.call("list_users", returns=list[User])
            nobody = await client.call("find_user", {"id": 9}, returns=User | None)
            print(revision, users, nobody)

    async with Client(server) as client:
        result = await client.call_tool("find_user", {"id": 1}, on_progress=show, timeout=5)
        print(result.value, result.has_value, result.text)

        try:
            await client.call("rename", {"id": 1, "name": "Bo"}, returns=User)
        except ToolError as error:
            print("the tool failed:", error)
        try:
            await client.call("find_user", {"id": "one"}, returns=User)
        except ValidationError as error:
            print("not sent:", error)
        try:
            await client.call("list_users", returns=list[int])
        except OutputMismatch as error:
            print("not what was asked for:", error)


if __name__ == "__main__":
    asyncio.run(main())
