"""A server that asks its clients: `asking_server.py stdio`, or `asking_server.py http PORT`."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from anyshape import Accepted, Context, Server

server = Server("asking")


@dataclass
class Guest:
    name: str
    seats: int = 2


@server.tool
async def book(context: Context) -> str:
    """Ask who comes, and then the model for a greeting."""
    answer = await context.elicit("Who comes?", Guest)
    if not isinstance(answer, Accepted):
        return answer.action
    said = await context.sample(f"Greet {answer.data.name}")
    return f"{said.text} {answer.data.seats}"


@server.tool
async def greet(name: str, context: Context) -> str:
    """Ask only the model, and for roots."""
    said = await context.sample(f"Greet {name}")
    return f"{said.text} {len(await context.roots())}"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        server.run("http", port=int(sys.argv[2]))
