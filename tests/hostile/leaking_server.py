"""An upstream that dies in the middle of a call, with everything it knows as its last words."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

OBJECT = {"type": "object"}
ANSWERS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "leaking", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "die", "inputSchema": OBJECT}]},
    "resources/list": {"resources": [{"uri": "x:one", "name": "one"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": [{"name": "one"}]},
}

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in ("tools/call", "resources/read", "prompts/get"):
        print("no message: LEAK", flush=True)
        words = ("LEAK", __file__, os.environ["KEY"], *sys.argv, message["params"])
        print(*words, file=sys.stderr, flush=True)
        os._exit(3)
    if "id" in message:
        found = ANSWERS.get(message["method"])
        error = {"code": -32601, "message": "Method not found"}
        body = {"error": error} if found is None else {"result": found}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
