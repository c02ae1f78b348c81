"""Messages that are refused before anything of them is read."""

import json
from typing import Any

from anyshape import Server
from anyshape.protocol.nesting import MOST_PARTS


async def test_a_message_of_too_many_parts_is_refused_and_the_next_is_answered() -> None:
    server = Server("s")

    @server.tool
    async def count(items: list[float]) -> int:
        return len(items)

    connection = server.connect(lambda _: None)
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    async def call(items: list[object]) -> dict[str, object]:
        params: dict[str, Any] = {"name": "count", "arguments": {"items": items}, "_meta": meta}
        frame: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": params,
        }
        answer: dict[str, object] = json.loads(
            await connection.handle(json.dumps(frame, separators=(",", ":")).encode()) or b""
        )
        return answer

    refused = await call([[]] * MOST_PARTS)
    assert (refused["id"], refused["error"]) == (
        1,
        {
            "code": -32700,
            "message": "Parse error: the message holds more than 500000 arrays, objects and "
            "members",
        },
    )
    answered = await call([0.5] * MOST_PARTS)
    assert "result" in answered
    await connection.close()
