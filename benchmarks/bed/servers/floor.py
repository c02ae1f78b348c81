"""The floor: what any server must do. Parse the request, run the function, encode the answer.

Nothing is validated, negotiated or checked; values are plain dicts. Over HTTP this is a bare ASGI
application on uvicorn; over stdio a loop that reads what is there and writes what it answers.
Whatever is no call, `tools/list` above all, is answered with bytes made beforehand.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec

from bed import shop
from bed.listing import make_entries, shop_entries
from bed.servers import hosting
from bed.wire import HANDSHAKE, MODERN

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_META = {"io.modelcontextprotocol/serverInfo": {"name": "floor", "version": "1.0.0"}}
_COMPLETE = {"resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "public", "_meta": _META}
_JSON_TYPE = (b"content-type", b"application/json")


class Floor:
    """Answers messages; `application` does it over ASGI and `loop` over stdio."""

    def __init__(self, tools: int) -> None:
        entries = [*shop_entries(), *make_entries(tools)]
        discovered = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
        initialized = {
            "protocolVersion": HANDSHAKE,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "floor", "version": "1.0.0"},
        }
        self.canned = {
            "tools/list": msgspec.Raw(_encode({"tools": entries, **_COMPLETE})),
            "server/discover": msgspec.Raw(_encode({**discovered, **_COMPLETE})),
            "initialize": msgspec.Raw(_encode(initialized)),
        }

    def answer(self, body: bytes) -> bytes | None:
        """Return the answer to one message, `None` to a notification."""
        message = _decode(body)
        if "id" not in message:
            return None
        method = message["method"]
        if method == "tools/call":
            result: Any = self.call(message["params"])
        else:
            result = self.canned[method]
        return _encode({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def call(self, params: dict[str, Any]) -> dict[str, Any]:
        """Run a tool and put its value where clients look for it."""
        text = _encode(shop.answer(params["name"], params["arguments"]))
        return {
            "content": [{"type": "text", "text": text.decode()}],
            "structuredContent": msgspec.Raw(text),
            "resultType": "complete",
            "_meta": _META,
        }

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one HTTP request, whatever its path and headers."""
        if scope["type"] != "http":
            return
        body = b""
        while True:
            event = await receive()
            body += event["body"]
            if not event.get("more_body"):
                break
        answer = self.answer(body) or b""
        headers = [_JSON_TYPE, (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def loop(self) -> None:
        """Answer the lines of standard input on standard output until it ends."""
        rest = b""
        while chunk := os.read(0, 1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            answers = [answer for line in lines if (answer := self.answer(line)) is not None]
            pending = memoryview(b"".join(answer + b"\n" for answer in answers))
            while pending:
                pending = pending[os.write(1, pending) :]


if __name__ == "__main__":
    options = hosting.parse()
    floor = Floor(options.tools)
    if options.transport == "http":
        hosting.serve_http(floor.application, options.port)
    else:
        floor.loop()
