"""A server on stdio that misbehaves as its caller says: dies, hangs, floods, lies, changes.

It is written without an SDK, so that it can say what no SDK would.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NUMBER = {"type": "integer"}
INPUT = {"type": "object", "properties": {"how": {"type": "string"}, "n": NUMBER}}
OUTPUT = {"type": "object", "properties": {"n": NUMBER}, "required": ["n"]}
tools = ["work"]


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


def answer(id: Any, result: Any) -> None:
    say({"jsonrpc": "2.0", "id": id, "result": result})


def notify(method: str, params: Any) -> None:
    say({"jsonrpc": "2.0", "method": method, "params": params})


def listing() -> dict[str, Any]:
    return {
        "tools": [{"name": each, "inputSchema": INPUT, "outputSchema": OUTPUT} for each in tools]
    }


def value(n: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"n": n}}


def call(id: Any, how: str, n: int) -> None:
    if how == "die":
        os._exit(3)
    elif how == "hang":
        return
    elif how == "flood":
        for number in range(2_000):
            notify("notifications/message", {"level": "error", "data": "x" * 200})
            notify("notifications/progress", {"progressToken": number, "progress": number})
        answer(id, value(n))
    elif how == "wrong id":
        answer(f"{id}-other", value(-1))
        answer(10**9, value(-1))
        answer(id, value(n))
    elif how == "twice":
        answer(id, value(n))
        answer(id, value(-1))
    elif how == "no result":
        say({"jsonrpc": "2.0", "id": id})
    elif how == "wrong shape":
        answer(id, {"content": "none", "structuredContent": [n]})
    elif how == "array":
        answer(id, [n])
    elif how == "wrong value":
        answer(id, value("n"))
    elif how == "garbage":
        sys.stdout.write("\x00{{{not json\n[]\n42\n")
        answer(id, value(n))
    elif how == "huge":
        sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":"')
        for _ in range(80):
            sys.stdout.write("x" * 1024 * 1024)
        sys.stdout.write('"}}\n')
    elif how == "deep":
        nested = "[" * 100_000 + "]" * 100_000
        result = f'{{"structuredContent":{{"n":{nested}}},"content":[]}}'
        sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}\n')
    elif how == "error":
        say({"jsonrpc": "2.0", "id": id, "error": {"code": "none", "message": 4}})
    elif how == "change":
        tools.append(f"more{len(tools)}")
        if len(tools) > 3:
            del tools[1:]
        notify("notifications/tools/list_changed", {})
        answer(id, value(n))
    elif how == "ask":
        say({"jsonrpc": "2.0", "id": f"q{id}", "method": "elicitation/create", "params": {}})
        answer(id, value(n))
    elif how == "ask and wait":
        asked: Any = {"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}}
        say({"jsonrpc": "2.0", "id": f"q{id}", "method": "elicitation/create", "params": asked})
    else:
        answer(id, value(n))


for line in sys.stdin:
    request: dict[str, Any] = json.loads(line)
    id = request.get("id")
    params: dict[str, Any] = request.get("params") or {}
    match request.get("method"):
        case "initialize":
            answer(
                id,
                {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                    "serverInfo": {"name": "unreliable", "version": "1"},
                },
            )
        case "tools/list":
            answer(id, listing())
        case "logging/setLevel":
            answer(id, {})
        case "tools/call":
            given: dict[str, Any] = params.get("arguments") or {}
            call(id, given.get("how", ""), given.get("n", 0))
        case _ if id is not None and "method" in request:
            say({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}})
        case _:
            pass
    sys.stdout.flush()
