"""A stranger's server: everything it says tries to be more than text. Written by hand, on stdio."""

from __future__ import annotations

import json
import sys
from typing import Any

SCRIPT = "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
TURNED = "safe\u202e\u0007name\u200b"
HUGE = "A megabyte of <b>text</b>. " * 40_000
OBJECT = {"type": "object"}
FORM = {
    "type": "object",
    "title": SCRIPT,
    "description": SCRIPT,
    "properties": {
        SCRIPT: {"type": "string", "title": SCRIPT, "description": SCRIPT, "default": SCRIPT},
        "__proto__": {"type": "string"},
        "constructor": {"type": "string"},
        "pick": {"enum": [SCRIPT, "javascript:alert(1)"]},
        "either": {"oneOf": [{"title": SCRIPT, "type": "string"}, {"type": "integer"}]},
    },
    "required": [SCRIPT],
}
TOOLS: list[dict[str, Any]] = [
    {"name": SCRIPT, "title": SCRIPT, "description": SCRIPT, "inputSchema": FORM},
    {"name": TURNED, "description": f"reads {TURNED} \U000e0041\U000e0042", "inputSchema": OBJECT},
    {"name": "huge", "description": HUGE, "inputSchema": OBJECT},
    {"name": "echo", "inputSchema": OBJECT},
    {
        "name": f"refused {SCRIPT}",
        "inputSchema": {"type": "object", "$ref": "https://example.com/<b>x</b>"},
    },
]
RESULT: dict[str, Any] = {
    "content": [
        {"type": "text", "text": SCRIPT},
        {"type": "text", "text": HUGE},
        {"type": "text", "text": f"turned {TURNED}"},
        {"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"},
        {"type": "image", "data": "PGI+", "mimeType": "text/html"},
        {"type": "resource_link", "uri": "javascript:window.owned=1", "name": SCRIPT},
        {"type": "resource", "resource": {"uri": f"x:{SCRIPT}", "text": SCRIPT}},
        {"type": SCRIPT, "html": SCRIPT},
    ],
    "structuredContent": {
        SCRIPT: [{SCRIPT: SCRIPT, "__proto__": {"owned": True}}],
        "rows": HUGE,
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SCRIPT, "title": SCRIPT, "version": SCRIPT},
            "instructions": SCRIPT,
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        if params["name"] == "echo":
            text = {"type": "text", "text": json.dumps(params["arguments"])}
            return {"content": [text]}
        return RESULT
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        if message["method"] == "tools/call":
            log = {"level": "error", "logger": SCRIPT, "data": SCRIPT}
            told = {"jsonrpc": "2.0", "method": "notifications/message", "params": log}
            print(json.dumps(told), flush=True)
        result = answer(message["method"], message.get("params", {}))
        error = {"code": -32601, "message": f"no {SCRIPT}"}
        body = {"error": error} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
