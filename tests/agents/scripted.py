"""A server in memory that lists and answers exactly what a test says."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


class Scripted:
    """A server in memory that answers what a test says."""

    def __init__(self, tools: list[Json], call: Any) -> None:
        self.tools = tools
        self.call = call

    def connect(self, send: Any, /) -> Scripted:
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        if "id" not in message:
            return None
        if message["method"] == "server/discover":
            found: Any = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        elif message["method"] == "tools/list":
            found = {"tools": self.tools}
        else:
            found = await self.call(message["params"])
        outcome = {"error": found["error"]} if "error" in found else {"result": found}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()

    async def close(self) -> None:
        pass
