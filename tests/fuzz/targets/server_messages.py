"""What a client writes to a server: messages of one connection, one on each line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

from mutator import mutate_bytes, mutate_json
from sample_server import make_server
from trees import items_of
from turns import run as run_coroutine
from turns import turn_until_done

from anyshape.protocol.jsonrpc import INTERNAL_ERROR

from . import Target

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {"form": {}},
        "sampling": {},
        "roots": {},
    },
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
}
SERVER = make_server()


def message(method: str, id: Any = None, **params: Any) -> bytes:
    """Return one line."""
    known = {} if id is None else {"id": id}
    return json.dumps({"jsonrpc": "2.0", **known, "method": method, "params": params}).encode()


def greeting(revision: str) -> bytes:
    """Return the lines of a handshake."""
    asked = message(
        "initialize",
        0,
        protocolVersion=revision,
        capabilities={"elicitation": {}, "sampling": {}, "roots": {}},
        clientInfo={"name": "fuzz", "version": "1"},
    )
    return asked + b"\n" + message("notifications/initialized")


REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("ping", {}),
    ("server/discover", {}),
    ("tools/list", {}),
    ("tools/list", {"cursor": "3"}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2.5}}),
    ("tools/call", {"name": "search", "arguments": {"filter": {"name": "x"}, "order": "up"}}),
    ("tools/call", {"name": "echo", "arguments": {"value": [1, {"a": None}]}}),
    ("tools/call", {"name": "fail", "arguments": {"words": "no"}}),
    ("tools/call", {"name": "raw", "arguments": {"structured": {"a": [1]}}}),
    ("tools/call", {"name": "ask", "arguments": {}}),
    ("tools/call", {"name": "report", "arguments": {"steps": 2}, "_meta": {"progressToken": "p"}}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "greet", "arguments": {"name": "Ada", "mood": "sad"}}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "notes://all"}),
    ("resources/read", {"uri": "notes://a%20b"}),
    ("resources/subscribe", {"uri": "notes://all"}),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    ("logging/setLevel", {"level": "debug"}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "mood", "value": "g"},
        },
    ),
    ("tasks/get", {"taskId": "x"}),
)


def seeds() -> tuple[bytes, ...]:
    """Return every request in both eras, alone and all together."""
    modern = [message(method, 7, **{"_meta": META, **params}) for method, params in REQUESTS]
    plain = [message(method, number, **params) for number, (method, params) in enumerate(REQUESTS)]
    old = [greeting("2025-11-25") + b"\n" + line for line in plain]
    answer = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"sure": True}}}
    ).encode()
    asked = message("tools/call", 9, name="ask", arguments={})
    batch = b"\n[" + b",".join((*plain[:6], message("notifications/cancelled", requestId=1))) + b"]"
    return (
        *modern,
        *old,
        b"\n".join((greeting("2025-06-18"), asked, answer)),
        b"\n".join(
            (greeting("2025-06-18"), asked, message("notifications/cancelled", requestId=9))
        ),
        greeting("2025-03-26") + batch,
    )


def run(data: bytes) -> None:
    """Send every line on one connection, and look at what comes back."""
    run_coroutine(_talk(data.split(b"\n")))


async def _talk(lines: list[bytes]) -> None:
    sent: list[bytes] = []
    connection = SERVER.connect(sent.append)
    tasks: list[asyncio.Task[bytes | None]] = []
    for line in lines:
        task = asyncio.ensure_future(connection.handle(line))
        tasks.append(task)
        await turn_until_done(task)
    await connection.close()
    assert await turn_until_done(*tasks), "a request outlives its connection"
    for line, task in zip(lines, tasks, strict=True):
        answer = task.result()
        if answer is not None:
            _look_at(line, json.loads(answer))
    for frame in sent:
        assert json.loads(frame)["jsonrpc"] == "2.0"
        assert b"\n" not in frame


def _look_at(line: bytes, answer: Any) -> None:
    for one in items_of(answer) or [answer]:
        assert one["jsonrpc"] == "2.0", one
        assert ("result" in one) != ("error" in one), one
        error = one.get("error")
        if error is not None:
            assert error["code"] != INTERNAL_ERROR, (line, one)
            assert isinstance(error["message"], str), one
        known = one.get("id")
        assert isinstance(known, str | int | float | None), one


def mutate(data: bytes, random: Random, donors: list[bytes]) -> bytes:
    """Change one line, mostly so that it stays JSON; or put lines in, out or elsewhere."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    others = random.choice(donors).split(b"\n")
    match random.randrange(10):
        case 0:
            lines[at:at] = [random.choice(others)]
        case 1:
            del lines[at]
        case 2 | 3:
            lines[at] = mutate_bytes(lines[at], random, donors)
        case _:
            lines[at] = mutate_json(lines[at], random, others)
    return b"\n".join(lines)


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, seeds(), mutate)
