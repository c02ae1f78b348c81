"""A server of 2025-11-25 with a tool that asks two things at once, and waits for both answers."""

from __future__ import annotations

import json
import sys
from typing import Any

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
OPENING: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "impatient", "version": "1"},
}
RESULTS: dict[str, Any] = {
    "initialize": OPENING,
    "tools/list": {"tools": [{"name": "both", "inputSchema": {"type": "object"}}]},
}


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main() -> None:
    call: Any = None
    answers: dict[str, str] = {}
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "tools/call":
            call = message["id"]
            for asked in ("first", "second"):
                params = {"message": f"The {asked}?", "requestedSchema": NAME}
                send(id=asked, method="elicitation/create", params=params)
        elif method in RESULTS:
            send(id=message["id"], result=RESULTS[method])
        elif method is not None and "id" in message:
            send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        elif "result" in message:
            answers[message["id"]] = message["result"].get("content", {}).get("name", "nobody")
            if len(answers) == 2:
                text = f"{answers['first']} and {answers['second']}"
                send(id=call, result={"content": [{"type": "text", "text": text}]})


if __name__ == "__main__":
    main()
