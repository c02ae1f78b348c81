"""The clock of the machine jumps: what is timed by it goes on, what waits does not notice."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Client, Context, Server
from anyshape.client import Elicitation
from anyshape.server import ServerOptions

from .browsing import Browser

HOUR = 3600.0
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@pytest.fixture
def server() -> Server:
    server = Server("clock", options=ServerOptions(call_timeout=PATIENCE))

    @server.tool
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    @server.tool
    async def ask(context: Context) -> str:
        return str(await context.elicit("Sure?", bool))

    return server


def jump(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Have the clock on the wall show another time; the one that only ever goes on is left."""
    real, precise = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    monkeypatch.setattr(time, "time_ns", lambda: precise() + int(seconds * 1e9))


@pytest.mark.parametrize("seconds", [HOUR, -HOUR, 24 * HOUR, -24 * HOUR])
async def test_sessions_streams_and_calls_outlive_a_jump_of_the_clock(
    server: Server, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    async with Browser(server.asgi()) as browser:
        stream = await browser.listen()
        waiting = browser.post("tools/call", id=9, name="wait", arguments={"seconds": 0.05})
        jump(monkeypatch, seconds)
        await waiting.over()
        assert waiting.json["result"]["structuredContent"] == {"result": "waited"}
        assert (await browser.ask("ping")).json["result"] == {}
        server.remove_tool("wait")
        assert await stream.heard() == [CHANGED]


@pytest.mark.parametrize("seconds", [0.4 * HOUR, -0.4 * HOUR])
async def test_a_question_can_be_answered_after_a_jump_of_the_clock(
    server: Server, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    def answer(_question: Elicitation) -> Any:
        jump(monkeypatch, seconds)
        return {"value": True}

    async with Client(server, on_elicit=answer) as client:
        assert await client.call("ask") == "Accepted(data=True)"
