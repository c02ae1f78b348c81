"""What tools start does not end a server over HTTP, nor keep it from ending."""

from __future__ import annotations

import signal

import pytest
from patience import PATIENCE

from .conftest import MODERN, run_web

SCRIPT = """
import asyncio, sys, threading
from anyshape import Server
from anyshape.server import ServerOptions
server = Server("rude", options=ServerOptions(grace=0.2))
async def rude(end: str):
    raise {"exit": SystemExit, "interrupt": KeyboardInterrupt}[end]
@server.tool
async def leave(end: str) -> None:
    await asyncio.gather(rude(end))
@server.tool
async def leave_behind(end: str) -> None:
    await asyncio.wait([asyncio.create_task(rude(end))])
@server.tool
async def block() -> None:
    asyncio.create_task(asyncio.to_thread(threading.Event().wait))
server.run("http", port=int(sys.argv[1]), log_level="critical")
"""


@pytest.mark.parametrize("end", ["exit", "interrupt"])
def test_a_task_that_a_tool_has_started_cannot_end_the_server(end: str) -> None:
    running = run_web("-c", SCRIPT)
    with running as web:
        for _ in range(2):
            assert web.call(MODERN, "leave", {"end": end}).json["result"]["isError"] is True
            answer = web.call(MODERN, "leave_behind", {"end": end})
            assert answer.json["result"].get("isError", False) is False
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(PATIENCE) == 0


def test_a_thread_that_a_tool_has_started_cannot_keep_the_server_from_ending() -> None:
    running = run_web("-c", SCRIPT)
    with running as web:
        assert web.call(MODERN, "block", {}).status == 200
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(PATIENCE) == 0
