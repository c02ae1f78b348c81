"""What a browser sends to the page of `anyshape inspect`: an endpoint on a line, then JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from mutator import mutate_bytes, mutate_json, write_json
from sample_server import make_server
from turns import run_hastily

from anyshape import Client
from anyshape.page import Inspection, PageApplication
from anyshape.protocol.revision import Revision

from . import Target

SERVER = make_server()
TOKEN = "token"
SEARCH = {"filter": {"name": "x"}, "order": "up"}
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/api/listing", {"anew": True}),
    ("/api/tool", {"name": "search"}),
    ("/api/form", {"subject": {"tool": "search"}, "value": SEARCH, "choices": {}}),
    (
        "/api/form",
        {
            "subject": {"tool": "search"},
            "value": SEARCH,
            "choices": {"/filter": 0},
            "change": {"kind": "add", "path": ["filter", "tags"]},
        },
    ),
    (
        "/api/form",
        {
            "subject": {"tool": "echo"},
            "value": {"value": [1]},
            "choices": {},
            "change": {"kind": "choose", "path": ["value"], "place": "/value", "chosen": 1},
        },
    ),
    (
        "/api/form",
        {
            "subject": {"tool": "search"},
            "value": SEARCH,
            "choices": {},
            "change": {"kind": "remove", "path": ["filter", "tags", "0"]},
        },
    ),
    (
        "/api/complete",
        {"kind": "prompt", "name": "greet", "argument": "mood", "value": "g", "context": {}},
    ),
    ("/api/answer", {"question": "1", "action": "accept", "content": {"sure": True}}),
    ("/api/revisions", {"name": "search", "arguments": SEARCH}),
    ("/api/providers", {"name": "search"}),
    ("/api/findings", {}),
    ("/api/call", {"name": "search", "arguments": SEARCH}),
    ("/api/prompt", {"name": "greet", "arguments": {"name": "Ada"}}),
    ("/api/read", {"uri": "notes://all"}),
    ("/page/../application.py", {}),
)
SEEDS = tuple(path.encode() + b"\n" + write_json(body) for path, body in REQUESTS)


@asynccontextmanager
async def _connect(**watching: Any) -> AsyncGenerator[Client]:
    async with Client(SERVER, **watching) as client:
        yield client


@asynccontextmanager
async def _connect_as(revision: Revision) -> AsyncGenerator[Client]:
    async with Client(SERVER, revision=revision, unwrap=False) as client:
        yield client


def run(data: bytes) -> None:
    """Ask the page, as whoever has its token."""
    path, _, body = data.partition(b"\n")
    run_hastily(_ask(path.decode("utf-8", "replace"), body))


async def _ask(path: str, body: bytes) -> None:
    page = PageApplication(Inspection("sample", _connect, _connect_as), token=TOKEN)
    events = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not events:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}
        return events.pop()

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [
            (b"host", b"127.0.0.1:1"),
            (b"x-anyshape-token", TOKEN.encode()),
            (b"content-type", b"application/json"),
        ],
    }
    try:
        await page(scope, receive, send)
    finally:
        await page._inspection.close()
    assert sent[0]["status"] in (200, 400, 401, 403, 404, 405, 413, 502), sent
    text = b"".join(event.get("body", b"") for event in sent[1:])
    if text.startswith(b"{"):
        json.loads(text)


def mutate(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Change the body, mostly so that it stays JSON, and the endpoint now and then."""
    path, _, body = data.partition(b"\n")
    other, _, donor = random.choice(donors).partition(b"\n")
    match random.randrange(10):
        case 0:
            path = other
        case 1:
            path = mutate_bytes(path, random, donors)
        case 2:
            body = mutate_bytes(body, random, donors)
        case _:
            body = mutate_json(body, random, [donor])
    return path + b"\n" + body


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, mutate, short=60)
