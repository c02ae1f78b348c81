"""Requests as bytes, and answers back to values, at the two revisions that are measured.

Modern: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
Handshake: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

from __future__ import annotations

import json
from typing import Any

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
REVISIONS = (MODERN, HANDSHAKE)

_CLIENT = {"name": "bed", "version": "1.0.0"}
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def frame(revision: str, method: str, params: dict[str, Any], identifier: int = 1) -> bytes:
    """Return one request as compact JSON, with the `_meta` the modern revision asks for."""
    if revision == MODERN:
        params = {**params, "_meta": _META}
    return _compact({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})


def call_frame(revision: str, tool: str, arguments: dict[str, Any], identifier: int = 1) -> bytes:
    """Return a `tools/call` request."""
    return frame(revision, "tools/call", {"name": tool, "arguments": arguments}, identifier)


def opening(revision: str) -> list[bytes]:
    """Return what a stdio connection says first: the handshake, or nothing."""
    if revision == MODERN:
        return []
    parameters = {"protocolVersion": revision, "capabilities": {}, "clientInfo": _CLIENT}
    initialized = _compact({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return [frame(revision, "initialize", parameters, identifier=0), initialized]


def post(revision: str, body: bytes, *, port: int = 80, path: str = "/mcp") -> bytes:
    """Return the HTTP/1.1 request that carries `body`."""
    message = json.loads(body)
    headers = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {revision}",
    ]
    if revision == MODERN:
        headers.append(f"Mcp-Method: {message['method']}")
        if "name" in message["params"]:
            headers.append(f"Mcp-Name: {message['params']['name']}")
    headers += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(headers).encode() + body


def read_answer(body: bytes) -> dict[str, Any]:
    """Return the JSON-RPC answer in `body`, which may be an event stream."""
    if body.lstrip().startswith(b"{"):
        return json.loads(body)
    events = [
        line[5:] for line in body.splitlines() if line.startswith(b"data:") and line[5:].strip()
    ]
    return json.loads(events[-1])


def natural_value(answer: dict[str, Any]) -> Any:
    """Return the value a `tools/call` answer carries, without the `{"result": …}` envelope."""
    result = answer["result"]
    if result.get("isError"):
        raise ValueError(f"the tool failed: {result['content']}")
    return without_envelope(result["structuredContent"])


def without_envelope(value: Any) -> Any:
    """Return what is inside `{"result": …}`, or the value itself when it is no envelope."""
    if isinstance(value, dict) and list(value) == ["result"]:
        return value["result"]
    return value


def _compact(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
