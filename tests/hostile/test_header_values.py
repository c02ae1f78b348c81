"""Names and arguments that travel in headers too are encoded: they end no header and begin none."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import uvicorn
from patience import turn_until

from anyshape import Client, Server, Tool
from anyshape.errors import AnyshapeError

VALUES = [
    "a\r\nX-Evil: 1",
    "a\nX-Evil: 1",
    "a\r\n\r\nPOST /evil HTTP/1.1\r\nHost: evil\r\n\r\n",
    "\x00\x01\x1b[2J\x7f",
    "caf\u00e9 \u2028 \U0001f600",
    " around ",
    "\ttab\t",
    "",
    "=?base64?WC1FdmlsOiAx?=",
    "a,b;c=d\"e'",
]
EXPECTED = re.compile(rb"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?|")
"""What RFC 9110 lets a value be without obsolete text."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}


def echo(given: dict[str, Any]) -> Any:
    return given["region"]


class Heads:
    """An ASGI application that keeps the heads of all requests, and passes them on."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self.seen: list[dict[bytes, bytes]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            assert scope["path"] == "/mcp"
            self.seen.append(dict(scope["headers"]))
        await self._application(scope, receive, send)


@contextlib.asynccontextmanager
async def listening() -> AsyncGenerator[tuple[str, Heads]]:
    server = Server("s")
    server.add_tool(Tool(name="echo", handler=echo, input_schema=SCHEMA, output_schema=True))

    @server.prompt
    def greet() -> str:
        return "hello"

    @server.resource("note:{+text}")
    def note(text: str) -> str:
        return text

    heads = Heads(server.asgi())
    host = uvicorn.Server(uvicorn.Config(heads, port=0, log_config=None, lifespan="on"))
    task = asyncio.ensure_future(host.serve())
    await turn_until(lambda: host.started or task.done(), pause=0.01)
    try:
        port = host.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp", heads
    finally:
        host.should_exit = True
        await task


@pytest.mark.parametrize("value", VALUES, ids=ascii)
async def test_a_value_that_travels_in_a_header_arrives_as_it_is(value: str) -> None:
    async with listening() as (url, heads), Client(url, revision="2026-07-28") as client:
        result = await client.call_tool("echo", {"region": value})
        # Also where there is nothing of that name, or it is none: the request itself is whole.
        for attempt in (client.get_prompt(value), client.read_resource(f"note:{value}")):
            (outcome,) = await asyncio.gather(attempt, return_exceptions=True)
            assert not isinstance(outcome, BaseException) or isinstance(outcome, AnyshapeError)
        assert (await client.call_tool("echo", {"region": "after"})).value == "after"
    assert result.value == value
    assert any(b"mcp-param-region" in head for head in heads.seen)
    for head in heads.seen:
        assert b"x-evil" not in head
        assert all(EXPECTED.fullmatch(each) for each in head.values()), head
