"""Every message that passes can be watched."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from anyshape import Client, Context, Server
from anyshape.client import Frame
from anyshape.client.transports.memory import Connectable

server = Server("watched")


@server.tool
async def count(context: Context, to: int) -> list[int]:
    for number in range(1, to + 1):
        context.progress(number, total=to)
    return list(range(1, to + 1))


@server.tool
def fail() -> int:
    raise ValueError("not for clients")


async def frames_of_a_call(
    target: str | list[str] | Connectable, revision: str, tool: str, **arguments: Any
) -> list[tuple[str, Any]]:
    seen: list[Frame] = []
    async with Client(target, revision=revision, on_frame=seen.append) as client:
        await client.list_tools()
        seen.clear()
        await client.call_tool(tool, arguments, on_progress=lambda report: None)
    return [(frame.direction, json.loads(frame.text)) for frame in seen]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("way", ["memory", "process"])
async def test_a_call_is_seen_with_its_progress_and_its_answer(way: str, revision: str) -> None:
    code = f"import runpy; runpy.run_path({__file__!r})['server'].run()"
    target = server if way == "memory" else [sys.executable, "-c", code]
    sent, *reports, received = await frames_of_a_call(target, revision, "count", to=2)
    id = sent[1]["id"]
    assert sent[0] == "sent"
    assert (sent[1]["method"], sent[1]["params"]["arguments"]) == ("tools/call", {"to": 2})
    assert [(way, frame["method"], frame["params"]["progress"]) for way, frame in reports] == [
        ("received", "notifications/progress", 1),
        ("received", "notifications/progress", 2),
    ]
    assert received[0] == "received"
    assert received[1]["id"] == id
    assert received[1]["result"]["content"] == [{"type": "text", "text": "[1,2]"}]


async def test_a_failure_is_seen_as_the_server_told_it() -> None:
    *_, received = await frames_of_a_call(server, "2026-07-28", "fail")
    assert received[1]["result"]["isError"] is True
