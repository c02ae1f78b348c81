"""Whoever asks a server in the same process, at any revision, and sees the wire as it is."""

from __future__ import annotations

import json
from typing import Any

from anyshape import Server
from anyshape.protocol.revision import Revision

from .visiting import META


class Asker:
    """One peer of a server; it shakes hands when it first asks, where the revision wants that."""

    def __init__(
        self,
        server: Server,
        revision: str = "2026-07-28",
        client: dict[str, Any] | None = None,
    ) -> None:
        self.revision = Revision(revision)
        self._client = client
        self.sent: list[Any] = []
        self.connection = server.connect(lambda message: self.sent.append(json.loads(message)))
        self.greeting: dict[str, Any] | None = None
        self._id = 0

    async def ask(self, method: str, *, id: int | None = None, **params: Any) -> dict[str, Any]:
        """Return the whole answer to a request."""
        if self.revision.is_modern:
            meta = {**META, "io.modelcontextprotocol/protocolVersion": str(self.revision)}
            if self._client is not None:
                meta["io.modelcontextprotocol/clientInfo"] = self._client
            params["_meta"] = {**meta, **params.get("_meta", {})}
        elif self.greeting is None:
            await self.shake_hands()
        self._id += 1
        return await self._send(method, self._id if id is None else id, params)

    async def result(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request that succeeds."""
        answer = await self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the error of a request that fails."""
        answer = await self.ask(method, **params)
        assert "error" in answer, answer
        return answer["error"]

    async def shake_hands(self) -> dict[str, Any]:
        """Return what the server says of itself."""
        params: dict[str, Any] = {"protocolVersion": str(self.revision), "capabilities": {}}
        if self._client is not None:
            params["clientInfo"] = self._client
        self.greeting = (await self._send("initialize", 0, params))["result"]
        await self._send("notifications/initialized", None, {})
        assert self.greeting is not None
        return self.greeting

    async def _send(self, method: str, id: int | None, params: dict[str, Any]) -> Any:
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if id is not None:
            body["id"] = id
        answer = await self.connection.handle(json.dumps(body).encode())
        return None if answer is None else json.loads(answer)
