"""What a server writes to a client's HTTP connection: heads and bodies, one for each request.

Answers are separated by a line of dashes, and the last one is given again and again; `@ID@` in them
stands for the id of the request. The connection is closed after each.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

from mutator import mutate_bytes, mutate_json, read_json, write_json
from trees import members_of
from turns import LOOP, run_hastily

from anyshape import Client
from anyshape.client import Bounds, Http
from anyshape.errors import AnyshapeError

from . import Target, check_message
from .server_answers import CALLED, CAPABILITIES, TOOL

BETWEEN = b"\n----\n"
BLANK = b"\r\n\r\n"
PATIENCE = 1e6
HTTP = Http(connect_timeout=PATIENCE, reconnects=1)
BOUNDS = Bounds(max_answer_bytes=50_000, max_pages=3, max_rounds=2, probe_timeout=PATIENCE)
OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json"
STREAM = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nMcp-Session-Id: s"
COMMON = {"capabilities": CAPABILITIES, "tools": [TOOL], **CALLED}
MODERN = {**COMMON, "supportedVersions": ["2026-07-28"]}
OLD = {**COMMON, "protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"}}
CHALLENGE = 'Bearer error="invalid_token", resource_metadata="http://127.0.0.1:1/x", scope="a"'


def answer(head: str, result: object) -> bytes:
    """Return a whole answer with a result in it, which serves for any request."""
    body = b'{"jsonrpc": "2.0", "id": @ID@, "result": %b}' % write_json(result)
    if "event-stream" in head:
        body = b"id: 1\r\nretry: 1\r\ndata: " + body + b"\r\n\r\n"
    return head.encode() + BLANK + body


SEEDS = tuple(
    BETWEEN.join(answers)
    for answers in (
        *((answer(head, result),) for head in (OK, STREAM) for result in (MODERN, OLD)),
        (answer(OK, MODERN), answer(OK, MODERN), answer(STREAM, MODERN), b"HTTP/1.1 200 OK"),
        (f"HTTP/1.1 401 No\r\nWWW-Authenticate: {CHALLENGE}".encode() + BLANK + b"{}",),
        (b"HTTP/1.1 307 Over there\r\nLocation: /other" + BLANK,),
        (b"HTTP/1.1 404 Not found\r\nContent-Type: text/html" + BLANK + b"<html>",),
        (b"HTTP/1.1 202 Accepted\r\nContent-Length: 0" + BLANK,),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip" + BLANK + b"\x1f\x8b\x08\0",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + BLANK + b"2\r\n{}\r\n0\r\n\r\n",),
    )
)


class Endpoint:
    """Listens on this machine, and answers what comes with what it was given."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.address = ""

    async def start(self) -> None:
        """Listen."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(BLANK)
            length = head.lower().partition(b"content-length:")[2].partition(b"\r")[0]
            asked = members_of(read_json(await reader.readexactly(int(length or 0))))
            given = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            writer.write(given.replace(b"@ID@", write_json(asked.get("id"))))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


ENDPOINT = Endpoint()
LOOP.run_until_complete(ENDPOINT.start())


def run(data: bytes) -> None:
    """Connect, list and call."""
    ENDPOINT.answers = data.split(BETWEEN)
    run_hastily(_visit())


async def _visit() -> None:
    try:
        client = Client(
            ENDPOINT.address, timeout=PATIENCE, bounds=BOUNDS, http=HTTP, auth=lambda: "t"
        )
        async with client:
            await client.list_tools()
            await client.call_tool("ask", {})
    except AnyshapeError as error:
        check_message(error)


def mutate(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Change one answer: its head, or its body so that it mostly stays JSON."""
    answers = data.split(BETWEEN)
    at = random.randrange(len(answers))
    head, blank, body = answers[at].partition(BLANK)
    other = random.choice(random.choice(donors).split(BETWEEN))
    match random.randrange(8):
        case 0:
            answers[at:at] = [other]
        case 1 | 2 | 3:
            answers[at] = mutate_bytes(head, random, donors) + blank + body
        case 4:
            answers[at] = head + blank + mutate_bytes(body, random, donors)
        case _:
            quoted = body.replace(b"@ID@", b'"@ID@"')
            changed = mutate_json(quoted, random, [other.partition(BLANK)[2]])
            answers[at] = head + blank + changed.replace(b'"@ID@"', b"@ID@")
    return BETWEEN.join(answers)


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, mutate, short=60)
