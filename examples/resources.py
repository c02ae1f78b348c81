"""Notes as resources: all of them, one by its number, and a tool that changes them."""

import asyncio
from dataclasses import dataclass

from anyshape import Client, Contents, ProtocolError, ResourceNotFound, Server

server = Server("notes")


@dataclass
class Note:
    """Something to remember."""

    id: int
    text: str


NOTES = {1: Note(1, "buy milk"), 2: Note(2, "call Ada")}


@server.resource("notes://all", mime_type="text/plain")
def everything() -> str:
    """Every note, one on each line."""
    return "\n".join(note.text for note in NOTES.values())


@server.resource("notes://{id}")
def one(id: int) -> Note:
    """One note, as JSON."""
    if id not in NOTES:
        raise ResourceNotFound(f"there is no note {id}")
    return NOTES[id]


@server.resource("notes://{id}/card{?style}")
def card(id: int, style: str = "plain") -> Contents:
    """One note as a web page."""
    return Contents(f"<p class={style}>{one(id).text}</p>", mime_type="text/html")


@server.tool
def write(id: int, text: str) -> int:
    """Write a note, and tell those who watch it."""
    NOTES[id] = Note(id, text)
    server.resource_changed(f"notes://{id}")
    return len(NOTES)


async def main() -> None:
    async with Client(server) as client:
        print((await client.read_resource("notes://1")).text)
        print((await client.read_resource("notes://2/card?style=loud")).text)
        changed = asyncio.Event()
        await client.subscribe("notes://1", lambda uri: changed.set())
        await client.call_tool("write", {"id": 1, "text": "buy oat milk"})
        await changed.wait()
        print((await client.read_resource("notes://1")).text)
        for uri in ("notes://3", "notes://x"):
            try:
                await client.read_resource(uri)
            except ProtocolError as error:
                print(error.code, error)


if __name__ == "__main__":
    asyncio.run(main())
