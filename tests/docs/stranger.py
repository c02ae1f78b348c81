"""A server on stdio with one good tool and one bad one: `elsewhere` or `doubling`."""

from __future__ import annotations

import json
import sys
from typing import Any

OBJECT: dict[str, Any] = {"type": "object"}
DOUBLING = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 2} for n in range(1, 61)}
BAD: dict[str, dict[str, Any]] = {
    "elsewhere": {"type": "object", "$ref": "https://example.com/other.json"},
    "doubling": {
        "type": "object",
        "$ref": "#/$defs/d60",
        "$defs": {"d0": {"required": ["x"]}, **DOUBLING},
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    bad = sys.argv[1]
    cache = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "server/discover":
        info = {"io.modelcontextprotocol/serverInfo": {"name": "stranger", "version": "1"}}
        versions: dict[str, Any] = {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
        }
        return {**cache, **versions, "_meta": info}
    if method == "tools/list":
        good = {"name": "good", "inputSchema": OBJECT, "outputSchema": OBJECT}
        return {
            **cache,
            "tools": [good, {"name": bad, "inputSchema": OBJECT, "outputSchema": BAD[bad]}],
        }
    return {"resultType": "complete", "content": [], "structuredContent": {}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
