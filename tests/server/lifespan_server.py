"""A server whose lifespan writes down what happens: `lifespan_server.py HOW JOURNAL [PORT]`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from anyshape import Context, Server

how, journal, port = [*sys.argv[1:], "0"][:3]


def note(word: str) -> None:
    with Path(journal).open("a") as file:
        file.write(f"{word}\n")


@asynccontextmanager
async def lifespan(server: Server) -> AsyncGenerator[str]:
    note("open")
    if how == "failing":
        raise ConnectionError("the database is away")
    yield f"the state of {server.name}"
    note("close")


server = Server(lifespan=lifespan)


@server.tool
def state(context: Context[str]) -> str:
    note("call")
    return context.state


if __name__ == "__main__":
    if how in ("stdio", "failing"):
        server.run()
    elif how == "stdio-async":
        asyncio.run(server.run_async())
    elif how == "http":
        server.run("http", port=int(port))
    elif how == "http-async":
        asyncio.run(server.run_async("http", port=int(port)))
