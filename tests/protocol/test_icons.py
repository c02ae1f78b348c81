"""Icons of harmless kinds are passed on by both sides; all others are dropped."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape import UNSTRUCTURED, Client, ResourceLink, Server, ToolResult
from anyshape.protocol.icons import published_icons, received_icons

SAFE = ["https://example.com/i.png", "HTTPS://example.com/i.png", "data:image/png;base64,AAAA"]
UNSAFE = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "https:\n//example.com",
    "https://example.com/\t.png",
    "https:\\\\example.com",
    "https://",
    "file:///etc/passwd",
    "ftp://example.com/i.png",
    "ws://example.com/",
    "vscode://extension/run",
    "data:text/html,<script>alert(1)</script>",
    "data:,",
    "//example.com/i.png",
    "/i.png",
    "i.png",
    "",
]


@pytest.mark.parametrize("source", SAFE)
def test_safe_icons_are_kept_whole(source: str) -> None:
    icon = {"src": source, "theme": "dark", "x": 1}
    assert published_icons([icon]) == received_icons([icon]) == [icon]


@pytest.mark.parametrize("source", UNSAFE)
def test_unsafe_icons_are_dropped(source: str) -> None:
    good = {"src": SAFE[0]}
    assert published_icons([{"src": source}, good]) == received_icons([{"src": source}, good])
    assert received_icons([{"src": source}, good]) == [good]


@pytest.mark.parametrize("icon", [None, 5, "https://example.com/i.png", [], {}, {"src": 5}])
def test_what_is_no_icon_is_dropped(icon: object) -> None:
    assert received_icons([icon]) == []


def test_plain_http_is_published_and_not_shown() -> None:
    icon = {"src": "http://127.0.0.1:8000/i.png"}
    assert (published_icons([icon]), received_icons([icon])) == ([icon], [])


class Recorder:
    """A server in memory whose answers are kept."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sent = b""

    def connect(self, send: Any, /) -> Any:
        self.connection = self.server.connect(send)
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        answer = await self.connection.handle(frame)
        self.sent += answer or b""
        return answer

    async def close(self) -> None:
        await self.connection.close()


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_a_server_does_not_send_an_unsafe_icon_that_a_tool_made(revision: str) -> None:
    icons = [{"src": "javascript:alert(1)"}, {"src": SAFE[0]}]
    server = Server("icons", icons=icons[1:])

    @server.tool(icons=icons[1:], output_schema=UNSTRUCTURED)
    async def link() -> ToolResult[Any]:
        return ToolResult(content=[ResourceLink("a:b", "c", icons=icons)])

    recorder = Recorder(server)
    async with Client(recorder, revision=revision) as client:
        (listed,) = await client.list_tools()
        assert listed.icons == [{"src": SAFE[0]}]
        (block,) = (await client.call_tool("link")).content
        assert isinstance(block, ResourceLink)
        assert block.icons == [{"src": SAFE[0]}]
    assert recorder.sent.count(SAFE[0].encode()) >= 3
    assert b"javascript" not in recorder.sent
