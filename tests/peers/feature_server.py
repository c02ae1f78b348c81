"""A server of ours with prompts, resources and completion, for clients that we did not write.

    python feature_server.py stdio|http DIRECTORY

Over HTTP it prints its port first. The files of DIRECTORY are resources, too.
"""

from __future__ import annotations

import socket
import sys
from typing import Annotated, Literal

import uvicorn

from anyshape import Complete, Image, Message, ResourceNotFound, Server

server = Server("features", version="1.0.0")
USERS = {1: "Ada", 2: "Grace"}
notes = ["first"]


def cities(typed: str, given: dict[str, str]) -> list[str]:
    known = {"France": ["Paris", "Pau"], "Italy": ["Parma"]}
    return [city for city in known.get(given.get("country", ""), []) if city.startswith(typed)]


@server.prompt(title="Plan a trip")
def trip(
    country: Literal["France", "Italy"],
    city: Annotated[str, "Where to", Complete(cities)],
    days: int = 2,
) -> list[Message | Image]:
    """Ask for a plan."""
    return [
        Message(f"{days + 1} days in {city}, {country}"),
        Image(b"\x89PNG", "image/png"),
        Message("Gladly.", role="assistant"),
    ]


@server.resource("features://notes", mime_type="text/plain")
def all_notes() -> str:
    """Return every note."""
    return "\n".join(notes)


@server.resource("features://bytes")
def some_bytes() -> bytes:
    return b"\x00\x01"


@server.resource("features://users/{id}")
def user(id: int) -> dict[str, object]:
    if id not in USERS:
        raise ResourceNotFound(f"there is no user {id}")
    return {"id": id, "name": USERS[id]}


@server.tool
def take_note(text: str) -> int:
    """Add a note, and tell who watches."""
    notes.append(text)
    server.resource_changed("features://notes")
    return len(notes)


def main() -> None:
    server.directory("features://files/", sys.argv[2])
    if sys.argv[1] != "http":
        server.run()
        return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        configuration = uvicorn.Config(
            server.asgi(), log_level="warning", access_log=False, timeout_graceful_shutdown=1
        )
        uvicorn.Server(configuration).run([listener])


if __name__ == "__main__":
    main()
