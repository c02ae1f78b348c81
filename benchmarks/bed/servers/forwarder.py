"""The floor of gateways: a bare ASGI application that sends each body on and the answer back.

It stands on the HTTP client library that Anyshape's client uses, and looks at nothing.
"""

from __future__ import annotations

from typing import Any

import aiohttp

from bed.servers import hosting

_FORWARDED = (b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"accept", b"content-type")


class Forwarder:
    """Forwards POSTs to one address."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            return
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=100))
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        headers = {
            name.decode(): value.decode() for name, value in scope["headers"] if name in _FORWARDED
        }
        async with self._session.post(self._upstream, data=body, headers=headers) as answer:
            content = await answer.read()
        kind = answer.headers.get("content-type", "application/json").encode()
        start = [(b"content-type", kind), (b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": answer.status, "headers": start})
        await send({"type": "http.response.body", "body": content})


if __name__ == "__main__":
    options = hosting.parse()
    hosting.serve_http(Forwarder(options.upstream), options.port)
