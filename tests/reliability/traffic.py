"""Raw HTTP/1.1 of both eras, as much of it at once as a test wants, every answer accounted for."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

MODERN: Final = "2026-07-28"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "0"},
}
BUSY: Final = 503
_NONE: Final[Mapping[str, str]] = {}
_LONGEST_LINE: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """One HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def messages(self) -> list[Any]:
        """The messages in it: of an event stream, or the one in a body, or those of a batch."""
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            lines = self.body.splitlines()
            return [json.loads(line[5:]) for line in lines if line.startswith(b"data:")]
        found: Any = json.loads(self.body) if self.body else []
        return cast("list[Any]", found) if isinstance(found, list) else [found]


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *requests: bytes) -> None:
        self.writer.write(b"".join(requests))

    async def head(self) -> tuple[int, dict[str, str]]:
        """Return the status and the headers of the next response."""
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = text.rstrip().split("\r\n")
        return int(first.split()[1]), {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
        }

    async def reply(self) -> Reply:
        """Return the next response, whole."""
        status, headers = await self.head()
        if "content-length" in headers:
            body = await self.reader.readexactly(int(headers["content-length"]))
        elif headers.get("transfer-encoding") == "chunked":
            body = b"".join([piece async for piece in self.chunks()])
        else:
            body = b""
        return Reply(status, headers, body)

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Give the pieces of a response as they come."""
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    async def next_message(self) -> Any:
        """Return the next message of an event stream that goes on."""
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            assert size, "the stream has ended"
            piece = (await self.reader.readexactly(size + 2))[:size]
            for line in piece.splitlines():
                if line.startswith(b"data:") and line[5:].strip():
                    return json.loads(line[5:])

    def pause(self) -> None:
        """Read nothing more."""
        cast("asyncio.Transport", self.writer.transport).pause_reading()

    def has_more(self) -> bool:
        """Tell whether a response, or a message, has come that nobody has read."""
        unread: bytearray = cast("Any", self.reader)._buffer
        return b"data:" in unread or b"HTTP/1.1" in unread

    def cut(self) -> None:
        """Break the connection off at once."""
        self.writer.transport.abort()

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


async def dial(port: int) -> Line:
    """Open a connection."""
    return Line(*await asyncio.open_connection("127.0.0.1", port, limit=_LONGEST_LINE))


def http(method: str, body: bytes, headers: Mapping[str, str] = _NONE) -> bytes:
    """Return a request as it is on the wire."""
    lines = [
        f"{method} /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def modern(method: str, params: dict[str, Any], id: int) -> bytes:
    """Return a request of 2026-07-28."""
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": META, **params}}
    named = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if "name" in params:
        named["Mcp-Name"] = str(params["name"])
    return http("POST", json.dumps(body).encode(), named)


@dataclass(frozen=True)
class Kind:
    """A call, and what has to come of it: a value, a failed result, or an error with its status."""

    tool: str
    arguments: tuple[tuple[str, Any], ...] = ()
    method: str = "tools/call"
    outcome: str = "value"
    """`value`, `failed`, or the code of an error."""
    status: int = 200


KINDS: Final = {
    "at once": Kind("echo"),
    "after a while": Kind("wait", (("seconds", 0.05),)),
    "on a thread": Kind("block"),
    "with progress": Kind("steps"),
    "printing": Kind("shout"),
    "wrong argument": Kind("echo", (("number", "x"),), outcome="failed"),
    "failing": Kind("fail", outcome="failed"),
    "crashing": Kind("crash", outcome="failed"),
    "unknown tool": Kind("nothing", outcome="-32602", status=400),
    "unknown method": Kind("echo", method="tools/none", outcome="-32601", status=404),
}
GOOD: Final = tuple(name for name, kind in KINDS.items() if kind.outcome == "value")


@dataclass(frozen=True)
class Call:
    """One call of a kind, under an id of its own."""

    kind: str
    id: int

    @property
    def params(self) -> dict[str, Any]:
        kind = KINDS[self.kind]
        return {"name": kind.tool, "arguments": {"number": self.id, **dict(kind.arguments)}}

    def request(self) -> bytes:
        """Return it as a POST of its own, at 2026-07-28."""
        return modern(KINDS[self.kind].method, self.params, self.id)

    def line(self) -> bytes:
        """Return it as a line for a pipe, at 2026-07-28."""
        message = self.message()
        message["params"]["_meta"] = META
        return json.dumps(message).encode() + b"\n"

    def message(self) -> dict[str, Any]:
        """Return it for a batch, at 2025-03-26."""
        method = KINDS[self.kind].method
        return {"jsonrpc": "2.0", "id": self.id, "method": method, "params": self.params}


def batch(calls: Sequence[Call]) -> bytes:
    """Return calls as one POST, at 2025-03-26."""
    return http("POST", json.dumps([call.message() for call in calls]).encode())


def judge(call: Call, answer: Any, status: int | None = None) -> str:
    """Tell whether an answer is `right`, a refusal for being `busy`, or `wrong`.

    `status` is that of the response; answers in a batch have none of their own.
    """
    kind = KINDS[call.kind]
    if answer.get("id") != call.id:
        return "wrong"
    code = str(answer.get("error", {}).get("code", ""))
    if code == str(BUSY):
        return "busy" if status in (None, BUSY) else "wrong"
    if status is not None and status != kind.status:
        return "wrong"
    if "result" not in answer:
        return "right" if code == kind.outcome else "wrong"
    result = answer["result"]
    if result.get("isError"):
        is_busy = "busy" in str(result["content"]) or "waiting" in str(result["content"])
        return "right" if kind.outcome == "failed" else "busy" if is_busy else "wrong"
    if kind.outcome != "value":
        return "wrong"
    value = result.get("structuredContent")
    texts = [block.get("text") for block in result["content"]]
    return "right" if value == call.id or texts == [str(call.id)] else "wrong"


def number_of(calls: Iterable[Call], kinds: Iterable[str]) -> int:
    """Return how many calls are of those kinds."""
    wanted = set(kinds)
    return sum(call.kind in wanted for call in calls)
