"""A server with functions around every request: one keeps a record, one lets few people in."""

from __future__ import annotations

import asyncio

from anyshape import Client, Server, ToolError
from anyshape.server import MiddlewareAnswer, MiddlewareRequest, Proceed

server = Server("vault")
record: list[str] = []


@server.middleware
async def audit(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
    answer = await proceed(request)
    if request.method == "tools/call":
        record.append(f"{request.name}: {'failed' if answer.is_error else 'done'}")
    return answer


@server.middleware
async def admit(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
    if request.name == "open_door" and request.params["arguments"].get("code") != "1234":
        raise ToolError("this code opens nothing; ask for the right one")
    return await proceed(request)


@server.tool
def open_door(code: str) -> str:
    """Open the door."""
    return "It is open."


async def main() -> None:
    async with Client(server) as client:
        for code in ("0000", "1234"):
            print((await client.call_tool("open_door", {"code": code})).text)
    print(record)


if __name__ == "__main__":
    asyncio.run(main())
