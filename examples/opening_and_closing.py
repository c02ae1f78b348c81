"""Notes in a database that is opened once, and what a tool says while it works."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from anyshape import Client, Context, Server


@dataclass
class State:
    """What every call may use."""

    database: sqlite3.Connection


@asynccontextmanager
async def lifespan(server: Server) -> AsyncGenerator[State]:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute("create table notes (text)")
    print(f"{server.name}: open")
    try:
        yield State(database)
    finally:
        database.close()
        print(f"{server.name}: closed")


server = Server("notes", lifespan=lifespan)


@server.tool
def add_notes(texts: list[str], context: Context[State]) -> int:
    """Add notes, and tell how many there are."""
    for done, text in enumerate(texts, start=1):
        context.state.database.execute("insert into notes values (?)", (text,))
        context.info(f"added {text!r}")
        context.progress(done, len(texts))
    return context.state.database.execute("select count(*) from notes").fetchone()[0]


async def main() -> None:
    async with Client(server) as client:
        print(await client.call("add_notes", {"texts": ["milk", "bread"]}, returns=int))
        print(await client.call("add_notes", {"texts": ["tea"]}, returns=int))


if __name__ == "__main__":
    asyncio.run(main())
