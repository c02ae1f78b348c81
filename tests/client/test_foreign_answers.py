"""Answers as servers write them that are not ours, read to natural values and types."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from anyshape import Client

if TYPE_CHECKING:
    from .conftest import Scripted

Json = dict[str, Any]


@pytest.fixture
def answering(scripted: type[Scripted]) -> Any:
    """Return what makes a server with one tool, `ask`, that always gives the same result."""

    def answer(result: Json, *, revision: str = "2026-07-28", **entry: Any) -> Scripted:
        tool = {"name": "ask", "inputSchema": {"type": "object"}, **entry}
        server = scripted(
            tools__list=lambda params: {"tools": [tool]}, tools__call=lambda params: result
        )
        if revision != "2026-07-28":
            del server.answers["server/discover"]
            server.answers["initialize"] = lambda params: {
                "protocolVersion": revision,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "other", "version": "1"},
            }
        return server

    return answer


async def test_formats_of_strangers_are_annotations(answering: Any) -> None:
    naive = "2026-07-28T12:00:00"
    server = answering(
        {"content": [], "structuredContent": naive},
        inputSchema={
            "type": "object",
            "properties": {"since": {"type": "string", "format": "date-time"}},
        },
        outputSchema={"type": "string", "format": "date-time"},
    )
    async with Client(server) as client:
        assert await client.call("ask", {"since": naive}, returns=datetime) == datetime(
            2026, 7, 28, 12
        )
