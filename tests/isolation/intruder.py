"""A client that tries to end and to answer the requests of all others, by guessing their ids."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any, Final

import aiohttp

_MOST: Final = 40
"""Clients of a crowd count from the same number on, and do not get beyond this."""
_HEADERS: Final = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
_HELLO: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "intruder", "version": "1"},
    },
}


def guesses(number: int) -> list[dict[str, Any]]:
    """Return what would end, answer or disturb the request of an id, if it were one's own."""
    answer = {"action": "accept", "content": {"who": "secret-666-666"}}
    return [
        {"method": "notifications/cancelled", "params": {"requestId": number, "reason": "mine"}},
        {"method": "notifications/cancelled", "params": {"requestId": str(number)}},
        {"method": "notifications/progress", "params": {"progressToken": number, "progress": 99}},
        {"id": number, "result": answer},
        {"id": str(number), "result": answer},
        {"id": number, "error": {"code": -1, "message": "secret-666-666"}},
    ]


@contextlib.asynccontextmanager
async def intruding(url: str) -> AsyncGenerator[Counter[int]]:
    """Intrude while the block runs: without a session, with one's own, and with a made-up one."""
    statuses: Counter[int] = Counter()
    async with aiohttp.ClientSession(headers=_HEADERS) as http:
        async with http.post(url, json=_HELLO) as hello:
            own = hello.headers["mcp-session-id"]
        modern = {"mcp-protocol-version": "2026-07-28"}
        older = {"mcp-protocol-version": "2025-11-25"}
        ways = (
            modern,
            {**modern, "mcp-method": "notifications/cancelled"},
            older,
            {**older, "mcp-session-id": own},
            {**older, "mcp-session-id": own[:-4] + "AAAA"},
        )

        async def intrude(headers: dict[str, str]) -> None:
            while True:
                for number in range(_MOST):
                    for guess in guesses(number):
                        body = json.dumps({"jsonrpc": "2.0", **guess})
                        async with http.post(url, data=body, headers=headers) as answer:
                            statuses[answer.status] += 1
                            assert b"secret-" not in (await answer.read()).replace(
                                b"secret-666-666", b""
                            )

        tasks = [asyncio.ensure_future(intrude(headers)) for headers in ways]
        try:
            yield statuses
        finally:
            for task in tasks:
                assert not task.done(), task
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
