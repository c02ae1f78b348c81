"""One HTTP request to an ASGI application, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from patience import PATIENCE

MODERN = "2026-07-28"
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""The `_meta` that every modern request needs."""


class Reply:
    """What an ASGI application sent back."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.ended = asyncio.Event()
        self.begun = asyncio.Event()

    async def take(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {
                name.decode().lower(): value.decode() for name, value in message["headers"]
            }
            self.begun.set()
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body", False):
                self.ended.set()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The messages of a stream."""
        assert self.headers["content-type"] == "text/event-stream"
        lines = self.body.splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]


class Visit:
    """One HTTP request to an ASGI application, which the client may break off."""

    def __init__(
        self,
        body: Any = None,
        *,
        method: str = "POST",
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
        address: str = "10.1.2.3",
    ) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        sent = {"host": "mcp.example.com", "content-type": "application/json", **(headers or {})}
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "https",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
            "server": (address, 443),
            "client": ("10.9.9.9", 5),
        }
        self.reply = Reply()
        self._data: bytes | None = data
        self._gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if self._data is not None:
            data, self._data = self._data, None
            return {"type": "http.request", "body": data, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    def hang_up(self) -> None:
        self._gone.set()

    async def to(self, application: Any) -> Reply:
        async with asyncio.timeout(PATIENCE):
            await application(self.scope, self.receive, self.reply.take)
        return self.reply


def call(name: str, arguments: Any = None, **options: Any) -> Visit:
    """Return a modern call of a tool."""
    params: dict[str, Any] = {
        "name": name,
        "arguments": arguments or {},
        "_meta": {**META, **options.pop("meta", {})},
        **options.pop("params", {}),
    }
    headers = {
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": name,
        **options.pop("headers", {}),
    }
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": params,
    }
    return Visit(body, headers=headers, **options)
