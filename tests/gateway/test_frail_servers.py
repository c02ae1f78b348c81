"""Servers of the Python SDK up to 1.9, which end when they hear that a call was given up."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Client
from anyshape.gateway import Gateway

SERVER = """
import json, os, sys

capabilities = json.loads(sys.argv[1])
waiting = heard = 0


def answer(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message["method"]
    if method == "initialize":
        info = {"name": "old", "version": "1"}
        answer(id, {
            "protocolVersion": "2025-03-26", "capabilities": capabilities, "serverInfo": info
        })
    elif method == "tools/list":
        names = ("wait", "tell")
        answer(id, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    elif method == "tools/call" and message["params"]["name"] == "wait":
        waiting += 1
    elif method == "tools/call":
        said = json.dumps({"process": os.getpid(), "waiting": waiting, "heard": heard})
        answer(id, {"content": [{"type": "text", "text": said}]})
    elif method == "notifications/cancelled":
        heard += 1
        if "experimental" in capabilities:
            sys.exit("told of a call that was given up")
    elif id is not None:
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}), flush=True)
"""
OTHERS: dict[str, Any] = {"tools": {"listChanged": False}}
PYTHON: dict[str, Any] = {"experimental": {}, **OTHERS}


@pytest.mark.parametrize(("capabilities", "heard"), [(PYTHON, 0), (OTHERS, 1)])
async def test_only_servers_that_survive_it_are_told_that_a_call_was_given_up(
    capabilities: dict[str, Any], heard: int
) -> None:
    command = [sys.executable, "-c", SERVER, json.dumps(capabilities)]

    async def told(client: Client) -> dict[str, int]:
        result = await client.call_tool("tell")
        assert not result.is_error
        return json.loads(result.text)

    async with Client(Gateway({"old": command})) as client, asyncio.timeout(PATIENCE):
        before = await told(client)
        given_up, other = (asyncio.create_task(client.call_tool("wait")) for _ in range(2))
        while (await told(client))["waiting"] < 2:
            pass
        given_up.cancel()
        await asyncio.wait([given_up])
        after = await told(client)
        while after["heard"] < heard:
            after = await told(client)
        assert after == {"process": before["process"], "waiting": 2, "heard": heard}
        assert not other.done()
        other.cancel()
