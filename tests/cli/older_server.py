"""A server of 2025-06-18, which answers clients of anything newer with its own revision."""

from __future__ import annotations

import json
import sys
from typing import Any

KNOWN = ("2024-11-05", "2025-03-26", "2025-06-18")
COUNT = {
    "name": "count",
    "inputSchema": {
        "type": "object",
        "properties": {"ratio": {"type": "number", "x-mcp-header": "Ratio"}},
    },
    "execution": {"taskSupport": "required"},
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
    },
}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            asked = message["params"]["protocolVersion"]
            result: dict[str, Any] = {
                "protocolVersion": asked if asked in KNOWN else KNOWN[-1],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "older", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [COUNT]}
        case "tools/call":
            content = [{"type": "text", "text": "2"}]
            result = {"content": content, "structuredContent": {"result": 2}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}
    return {"result": result}


for line in sys.stdin:
    received = json.loads(line)
    if "id" in received:
        sent = {"jsonrpc": "2.0", "id": received["id"], **answer(received)}
        print(json.dumps(sent), flush=True)
